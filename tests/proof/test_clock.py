"""A clock that was set back, by years and in the middle: results are the same, and nothing waits for the time to pass.

The system's clock can't be moved for one process: a time namespace shifts only the monotonic clocks, and setting the
real one would move it for everybody. So every Python process of the command, workers and kernels included, has a
`sitecustomize` that shifts what `time` tells; files keep the real times, and so are from the future.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragkit.cli import run
from tests.proof.processes import FOUR, ROOT, STABLE, Finished, begin, contents, ragkit, told

SHIFT = """
import time
_time, _time_ns, _began = time.time, time.time_ns, time.monotonic()
def _back():
    return 20 * 365 * 86400 + (0 if time.monotonic() - _began < 0.5 else 86400)  # and a day more, half a second later
time.time = lambda: _time() - _back()
time.time_ns = lambda: _time_ns() - _back() * 10**9
"""


@pytest.fixture
def behind(scene: Path) -> dict[str, str]:
    """The environment of a process that lives twenty years ago."""
    folder = scene / "tmp/site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(SHIFT)
    return {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


def test_the_shim_works(behind: dict[str, str]) -> None:
    program = "import time; print(time.gmtime(time.time()).tm_year)"
    said = subprocess.run([sys.executable, "-c", program], env=behind, capture_output=True, text=True, check=True)
    assert 2000 < int(said.stdout) < 2020


def test_eval_gives_the_same_and_its_vectors_stay(scene: Path, behind: dict[str, str]) -> None:
    evaluate = "eval --set name=small --set chunking.chunk_size=90"
    assert run(evaluate.split()) == 0
    wanted = contents(STABLE)
    kept = {path: path.read_bytes() for path in Path("cache/vectors").rglob("*.vec")}
    told(ragkit(*evaluate.split(), **behind), 0)
    assert contents(STABLE) == wanted
    assert {path: path.read_bytes() for path in Path("cache/vectors").rglob("*.vec")} == kept


def test_the_baseline_and_the_ledger(scene: Path, behind: dict[str, str]) -> None:
    before = contents(FOUR[:1])
    told(ragkit("check", **behind), 0, "0 questions moved")
    told(ragkit("freeze", "--allow", "saturated", **behind), 0)
    assert contents(FOUR[:1]) == before
    told(ragkit("compare", "v1.4", "eval/runs/small", "--confirm", **behind), 0)
    told(ragkit("compare", "v1.4", "eval/runs/small", "--confirm"), 2, "was tested against v1.4 already")


def test_a_sweep_keeps_results_from_the_future(scene: Path, behind: dict[str, str]) -> None:
    sweep = "sweep eval/sweeps/sizes.toml"
    told(ragkit(*sweep.split(), **behind), 0, ": done")
    report = Path("docs/eval/experiments/sizes.json").read_bytes()
    os.utime(next(Path("eval/runs/sizes").glob("*/metrics.json")), (4e9, 4e9))
    for environment in ({}, behind):
        done = ragkit(*sweep.split(), **environment)
        told(done, 0, ": kept")
        assert ": done" not in done.stderr
    assert Path("docs/eval/experiments/sizes.json").read_bytes() == report


def test_record_and_golden(scene: Path, behind: dict[str, str]) -> None:
    recorded = Path("eval/golden/fixtures/recorded.json")
    before = recorded.read_bytes()
    told(ragkit("record", "--config", "eval/configs/v1.4.toml", **behind), 0)
    assert recorded.read_bytes() == before
    told(ragkit("golden", **behind), 0)


def test_a_prepared_model_from_the_future_is_ready(scene: Path, behind: dict[str, str]) -> None:
    for said in ("Prepared", "Already prepared"):
        process = begin("prepare", PROOF_WHEEL=os.environ["PROOF_TOY"], **behind)
        out, errors = process.communicate()
        told(Finished(process.args, process.returncode, out, errors), 0, said)
