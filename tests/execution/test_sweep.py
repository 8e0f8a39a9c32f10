"""Whole sweeps, with notebooks and kernels, on a corpus where the right verdicts are known."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from ragkit.cli import run

EVALUATE = Path(__file__).parents[2] / "notebooks/evaluate.ipynb"
REPORTS = Path("docs/eval/experiments")
BETTER, WORSE, EQUAL = "retrieval.threshold = 0.0", "retrieval.threshold = 0.9", "retrieval.candidate_k = 101"
Sweeping = Callable[..., str]


def report(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((REPORTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def verdicts(name: str) -> dict[str, str]:
    return {row["label"]: row["verdict"] for row in report(name)["configurations"]}


def committed(name: str) -> list[bytes]:
    return [(REPORTS / f"{name}{ending}").read_bytes() for ending in (".json", ".qmd")]


class Here(Executor):
    """Does at once what it is given, in this process: the kernels are the same, and it is faster."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - an executor hands on whatever was raised
            future.set_exception(error)
        return future


@pytest.fixture
def executed_here(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, no worker processes."""
    return lambda: monkeypatch.setattr("ragkit.execution.executors.processes", Here)


def until(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("waited for a minute")


def started() -> list[tuple[int, int]]:
    """The kernels that wait, and the workers that they belong to."""
    texts = [path.read_text() for path in Path("started").glob("*")]
    return [(int(text.split()[0]), int(text.split()[1])) for text in texts if " " in text]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_better_is_adopted_worse_rejected_equal_undecided(
    sweep_file: Sweeping, executed_here: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    path = sweep_file("better", notebook=EVALUATE, good=BETTER, bad=WORSE, same=EQUAL)
    assert run(["sweep", path, "--workers", "2"]) == 0
    assert verdicts("better") == {
        "good": "adopt",
        "bad": "cannot decide: not promoted",
        "same": "cannot decide: not promoted",
    }
    found = report("better")
    assert found["promoted"]["label"] == "good"
    assert "better on dev (Holm)" in found["promoted"]["rule"]
    good, bad, same = found["configurations"]
    assert good["p_holm"] == pytest.approx(3 * 2**-8, abs=1e-6)  # 9 dev questions gained, 3 configurations
    assert bad["p_holm"] == pytest.approx(3 * 2**-8, abs=1e-6)
    assert same["p_holm"] == 1
    assert len(bad["worse"]) == 9
    assert found["test"]["n"] == 36
    assert found["test"]["confirmation"]["decision"] == "adopt"
    notebooks = sorted(path.name for path in Path("eval/runs/better").glob("*.ipynb"))
    assert notebooks == sorted(f"{row['config_id']}.ipynb" for row in found["configurations"])

    executed_here()
    for name, entry, verdict in (("worse", WORSE, "reject"), ("equal", EQUAL, "cannot decide: not significant")):
        assert run(["sweep", sweep_file(name, one=entry)]) == 0
        assert verdicts(name) == {"one": verdict}

    # Again: nothing is executed and nothing is tested; with the results gone, the same bytes.
    ledger, before = Path("eval/ledger.jsonl").read_bytes(), committed("worse")
    times = (REPORTS / "worse.timing.json").read_bytes()
    shutil.rmtree("started")
    assert run(["sweep", "eval/sweeps/worse.toml"]) == 0
    assert (REPORTS / "worse.timing.json").read_bytes() == times
    assert not Path("started").exists()
    shutil.rmtree("eval/runs")
    shutil.rmtree(REPORTS)
    assert run(["sweep", "eval/sweeps/worse.toml"]) == 0
    assert committed("worse") == before
    assert Path("eval/ledger.jsonl").read_bytes() == ledger
    assert "[1/1] one: done" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_killed_worker_and_ctrl_c_end_in_the_same_bytes(
    sweep_file: Sweeping, executed_here: Callable[[], None]
) -> None:
    path = sweep_file("better", good=BETTER, bad=WORSE)
    command = ["sweep", path, "--workers", "2"]
    hold = Path("hold")

    # Ctrl-C: nothing is half there, nobody goes on.
    hold.touch()
    process = subprocess.Popen([sys.executable, "-m", "ragkit", *command], stderr=subprocess.PIPE, text=True)
    until(lambda: len(started()) == 2)
    kernels = [pid for pair in started() for pid in pair]
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "Traceback" not in told
    until(lambda: not any(map(alive, kernels)))
    assert [p for p in Path("eval/runs/better").iterdir() if p.suffix != ".ipynb" and p.name != ".lock"] == []
    assert not REPORTS.exists()

    # A worker is killed: the sweep completes.
    shutil.rmtree("started")

    def kill_one() -> None:
        until(lambda: len(started()) == 2)
        os.kill(started()[0][1], signal.SIGKILL)
        hold.unlink()

    killer = threading.Thread(target=kill_one)
    killer.start()
    assert run(command) == 0
    killer.join()
    disturbed = committed("better")
    assert verdicts("better")["good"] == "adopt"

    executed_here()
    shutil.rmtree("eval/runs")
    shutil.rmtree(REPORTS)
    Path("eval/ledger.jsonl").unlink()
    assert run(command) == 0
    assert committed("better") == disturbed


STUBBORN = """
import os, sys, time
from ragkit.execution import executors

def execute(task):
    while True:  # the first interruption is lost, as in a __del__
        try:
            print("waiting", flush=True)
            time.sleep(600)
        except KeyboardInterrupt:
            if sys.argv.pop() == "last":
                raise

executors.PATIENCE = 1
executors.execute = execute
executors._begin(os.environ.get("TMPDIR", "/tmp"), os.environ.copy(), False)
executors.work(None)
"""


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="signals of POSIX")
def test_a_worker_whose_interruption_was_lost_is_interrupted_again() -> None:
    command = [sys.executable, "-c", STUBBORN, "last", "first"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
            process.terminate()
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert said == "waiting\n"
    assert process.returncode == -signal.SIGINT


def test_a_failed_configuration_keeps_its_traceback_and_the_others_go_on(
    sweep_file: Sweeping, executed_here: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    executed_here()
    Path("eval/corpus/long.txt").write_text("word " * 700, encoding="utf-8")  # beyond what the model reads
    assert run(["freeze", "--allow", "dirty"]) == 0
    path = sweep_file("better", good=BETTER, huge="chunking.chunk_size = 4000")
    Path(path).write_text("allow_two = true\n" + Path(path).read_text(), encoding="utf-8")
    assert run(["sweep", path]) == 1
    told = capsys.readouterr().err
    assert "1 of 2 configurations failed" in told
    assert "huge: EncodingError: long.txt, chunk 0" in told
    found = report("better")
    assert [row["verdict"] for row in found["configurations"]] == ["cannot decide: not tested", "failed"]
    assert found["untested"] == "no results of huge: the choice would be among some only"
    assert not Path("eval/ledger.jsonl").exists()
    folder = Path("eval/runs/better")
    good, huge = (row["config_id"] for row in found["configurations"])
    assert "EncodingError" in (folder / f"{huge}.ipynb").read_text(encoding="utf-8")
    assert not (folder / huge).exists()
    # Again: only the failed one is tried.
    shutil.rmtree("started")
    assert run(["sweep", path]) == 1
    assert [path.name for path in Path("started").iterdir()] == [huge]
    assert (folder / good / "metrics.json").exists()


def test_what_would_waste_the_run_is_refused_before_it(
    sweep_file: Sweeping, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sweep_file("better", good=BETTER)
    assert run(["sweep", path, "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler there" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run(["sweep", path, "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert capsys.readouterr().err == "--scheduler takes an extra: pip install 'ragkit[cluster]'\n"
    questions = Path("eval/questions.jsonl")
    questions.write_text(questions.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert run(["sweep", path]) == 4
    assert "was frozen with another questions" in capsys.readouterr().err
    Path("docs/eval/baseline-v1.4.json").unlink()
    assert run(["sweep", path]) == 4
    assert "no baseline 'v1.4' to compare with" in capsys.readouterr().err
    assert not Path("started").exists()
