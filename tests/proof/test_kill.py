"""kill -9: at random moments, and right before each step that changes a file.

Whatever was at the destination is there as it was, or the new is there whole; the next run ends well, gives what
an undisturbed run gives, and leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragkit.cli import run
from ragkit.embedding.registry import SOURCES, model_folder
from ragkit.files import tidy
from tests.proof.processes import FOUR, STABLE, begin, contents, git, leftovers, ragkit, told

SEED = 20240501
KILLS = 30
RECORDED = ["eval/golden/fixtures/recorded.json"]
REPORT = ["docs/eval/experiments/sizes.json"]
GRID = 'name = "sizes"\nnotebook = "notebooks/quick.ipynb"\n[grid]\n"chunking.chunk_size" = {sizes}\n'


@dataclass(frozen=True)
class Victim:
    """A command whose destination has something older. `results` are the files that are the same after every
    undisturbed run, `below` the folder whose every change is a step.
    """

    command: str
    results: list[str]
    below: str
    torn: Callable[[], bool] = lambda: False


def _freeze_was_stopped() -> bool:
    """Some of the four files are of the new freeze: then everybody who would use them says so."""
    if [path for path in FOUR if Path(path).read_bytes() != git_bytes(path)] in ([], FOUR):
        return False
    for command in ("check", "compare v1.4 eval/runs/small", "sweep eval/sweeps/sizes.toml"):
        told(ragkit(*command.split()), 4, "a freeze was stopped", "run it again", "git restore")
    return True


VICTIMS = {
    "eval": Victim("eval --set name=small --set chunking.chunk_size=90", STABLE, "eval/runs"),
    "freeze": Victim(
        "freeze --allow saturated --set chunking.chunk_size=30", FOUR[:1], "docs/eval", _freeze_was_stopped
    ),
    "record": Victim("record --config eval/configs/v1.4.toml --k 2", RECORDED, "eval/golden"),
    "sweep": Victim("sweep eval/sweeps/sizes.toml", REPORT, "docs/eval"),
    "prepare": Victim("prepare --force", [], "cache/models"),
}


def git_bytes(path: str) -> bytes:
    return subprocess.run(["git", "show", f"HEAD:{path}"], check=True, capture_output=True).stdout


def start(victim: Victim, **environment: str) -> subprocess.Popen[str]:
    toy = {"PROOF_WHEEL": os.environ["PROOF_TOY"]} if victim.command.startswith("prepare") else {}
    return begin(victim.command, **toy, **environment)


_templates: dict[str, tuple[Path, float, dict[str, bytes | None]]] = {}


@pytest.fixture
def undisturbed(
    request: pytest.FixtureRequest, scene: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Victim, float, dict[str, bytes | None]]:
    """The victim, how many seconds it lives undisturbed, and what its results then are; measured once."""
    name = request.param
    victim = VICTIMS[name]
    if name not in _templates:
        if name == "sweep":
            Path("eval/sweeps/sizes.toml").write_text(GRID.format(sizes="[30]"))
            assert run(["sweep", "eval/sweeps/sizes.toml"]) == 0
            Path("eval/sweeps/sizes.toml").write_text(GRID.format(sizes="[30, 90]"))
            git("add", "-A")
            git("commit", "-qm", "sweep")
        if name == "prepare":
            assert run(["prepare"]) == 0
        before = tmp_path_factory.mktemp(name) / "project"
        shutil.copytree(scene, before)
        started = time.perf_counter()
        done = start(victim)
        said = done.communicate()
        assert done.returncode == 0, said
        _templates[name] = before, time.perf_counter() - started, contents(victim.results)
    before, seconds, new = _templates[name]
    shutil.rmtree(scene)
    shutil.copytree(before, scene)
    os.chdir(scene)  # the folder of that name is another one now
    return victim, seconds, new


def descendants(pid: int) -> Iterator[int]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            yield int(path.parent.name)
            yield from descendants(int(path.parent.name))


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def check_outcome(
    name: str, victim: Victim, code: int, old: dict[str, bytes | None], new: dict[str, bytes | None]
) -> bool:
    """`code` is that of the killed run; the asserts are this file's promise. Whether the files were torn, and told so."""
    if name == "prepare":
        check_prepare()
        return False
    if name == "eval":
        tidy(Path("eval/runs/small"))  # what the next run does first
    found = contents(victim.results)
    torn = victim.torn()
    assert found in (old, new), "a mixture"
    assert code in (-signal.SIGKILL, 0)
    if code == 0:
        assert found == new
        assert not torn
    for path in Path("docs").rglob("[!.]*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    assert run(victim.command.split()) == 0
    assert contents(victim.results) == new
    assert run(["eval", "--out", "eval/runs/other"]) == 0  # a sweep whose results are all there opens nothing
    assert leftovers() == []
    if name == "freeze":
        history = json.loads(Path(FOUR[1]).read_text())["history"]
        was = json.loads(git_bytes(FOUR[0]))["config_id"]
        assert [entry["config_id"] for entry in history][:1] == [was]
        assert len(history) == (1 if found == old else 2)
        assert run(["check", "--set", "chunking.chunk_size=30"]) == 0
        assert {line[3:] for line in git("status", "--porcelain").splitlines()} == set(FOUR)
    if name == "sweep":
        pairs = [json.loads(line)["candidate_system"] for line in Path("eval/ledger.jsonl").read_text().splitlines()]
        assert len(pairs) == len(set(pairs)), "a pair was tested twice"
    return torn


def check_prepare() -> None:
    from ragkit.config import ModelConfig
    from ragkit.embedding import load_encoder

    cache = Path(os.environ["RAGKIT_CACHE"])
    target = model_folder(SOURCES["pypi"], cache)
    tidy(target)  # what the next prepare does first
    load_encoder(ModelConfig(), cache)  # every byte is checked
    assert run(["prepare", "--force"]) == 0
    load_encoder(ModelConfig(), cache)
    assert {path.name for path in target.parent.iterdir()} == {target.name, f".{target.name}.lock"}


@pytest.mark.parametrize("number", range(KILLS))
@pytest.mark.parametrize("undisturbed", VICTIMS, indirect=True)
def test_at_a_random_moment(
    undisturbed: tuple[Victim, float, dict[str, bytes | None]], number: int, request: pytest.FixtureRequest
) -> None:
    victim, seconds, new = undisturbed
    name = request.node.callspec.params["undisturbed"]
    moment = seconds * (number + random.Random(f"{SEED} {name} {number}").random()) / KILLS  # noqa: S311
    print(f"kill {number} of {name}, seed {SEED}: after {moment:.3f} of {seconds:.3f} s")  # noqa: T201  on failure
    old = contents(victim.results)
    process = start(victim)
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        family = list(descendants(process.pid))
        process.kill()
        wait_for(lambda: all(map(gone, family)), f"{family} outlive their parent")
    process.communicate()
    check_outcome(name, victim, process.returncode, old, new)


def wait_for(condition: Callable[[], bool], otherwise: str) -> None:
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail(otherwise)


@pytest.mark.parametrize("undisturbed", VICTIMS, indirect=True)
def test_before_each_change_of_a_file(
    undisturbed: tuple[Victim, float, dict[str, bytes | None]], scene: Path, request: pytest.FixtureRequest
) -> None:
    victim, _, new = undisturbed
    name = request.node.callspec.params["undisturbed"]
    before, below = _templates[name][0], str(scene / victim.below)
    old = contents(victim.results)
    steps = scene / "tmp/count"
    counted = start(victim, PROOF_KILL_AT="0", PROOF_BELOW=below, PROOF_COUNT=str(steps))
    said = counted.communicate()
    assert counted.returncode == 0, said
    total = int(steps.read_text())
    assert total >= 3
    torn = 0
    for number in range(1, total + 1):
        print(f"step {number} of {total}")  # noqa: T201  on failure
        os.chdir("/")
        shutil.rmtree(scene)
        shutil.copytree(before, scene)
        os.chdir(scene)
        process = start(victim, PROOF_KILL_AT=str(number), PROOF_BELOW=below)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        torn += check_outcome(name, victim, process.returncode, old, new)
    assert torn == (len(FOUR) - 1 if name == "freeze" else 0)
