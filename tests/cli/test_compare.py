"""`ragkit compare`: what it takes, what it prints, how it exits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragkit.cli import run
from tests.comparison.evaluations import evaluation

COMMITTED = Path(__file__).parents[2] / "eval/policy.toml"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the policy, a committed baseline without hits, and three runs."""
    monkeypatch.chdir(tmp_path)
    save("docs/eval/baseline-v1.4.json", [0.0] * 30)
    save("eval/runs/better/metrics.json", [1.0] * 30, name="better")
    save("eval/runs/same/metrics.json", [0.0] * 30, name="same")
    save("eval/runs/guarded/metrics.json", [1.0] * 30, [0.1, 0.2, 0.3] * 10, name="guarded")
    Path("eval/policy.toml").write_bytes(COMMITTED.read_bytes())
    return tmp_path


def save(path: str, *values: Sequence[float], **more: Any) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(evaluation(*values, **more)), encoding="utf-8")


def compare(*arguments: str) -> int:
    return run(["compare", *arguments])


@pytest.mark.parametrize(
    ("candidate", "more", "code", "verdict"),
    [
        ("better", [], 0, "adopt"),
        ("better", ["--require", "adopt"], 0, "adopt"),
        ("same", [], 0, "cannot decide: not significant"),
        ("same", ["--require", "adopt"], 1, "cannot decide: not significant"),
        ("guarded", [], 1, "reject"),
        ("better", ["--split", "dev"], 0, "cannot decide: not promoted"),
    ],
)
def test_the_exit_code_tells_the_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str], candidate: str, more: list[str], code: int, verdict: str
) -> None:
    assert compare("v1.4", f"eval/runs/{candidate}", *more) == code
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0].endswith(f": {verdict}")
    assert bool(captured.err) == bool(code)


@pytest.mark.parametrize("baseline", ["v1.4", "docs/eval/baseline-v1.4.json"])
@pytest.mark.parametrize("candidate", ["eval/runs/better", "eval/runs/better/metrics.json"])
def test_files_folders_and_names_are_understood(folder: Path, baseline: str, candidate: str) -> None:
    assert compare(baseline, candidate) == 0


def test_json_goes_out_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("v1.4", "eval/runs/guarded", "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"]["reason"] == "guard"


def test_markdown_is_written_also_when_rejected(folder: Path) -> None:
    assert compare("v1.4", "eval/runs/guarded", "--markdown", "out/comment.md") == 1
    assert Path("out/comment.md").read_text().startswith("## guarded against v1.4 on all questions: reject")


def test_a_confirmatory_test_is_recorded_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("v1.4", "eval/runs/better", "--confirm") == 0
    assert "Confirmatory test, recorded in the ledger." in capsys.readouterr().out
    entry = json.loads(Path("eval/ledger.jsonl").read_text())
    assert (entry["candidate"], entry["split"], entry["decision"]) == ("better", "test", "adopt")
    assert compare("v1.4", "eval/runs/better", "--confirm") == 2
    assert "--again" in capsys.readouterr().err
    assert compare("v1.4", "eval/runs/better", "--confirm", "--again") == 0
    assert "It repeats an earlier test" in capsys.readouterr().out
    assert len(Path("eval/ledger.jsonl").read_text().splitlines()) == 2


def test_a_look_writes_no_ledger(folder: Path) -> None:
    assert compare("v1.4", "eval/runs/better", "--split", "test") == 0
    assert not Path("eval/ledger.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["v1.5", "eval/runs/better"],
            4,
            "v1.5: no metrics.json, run folder or baseline of that name; baselines: v1.4",
        ),
        (["v1.4", "eval/runs/none"], 2, "eval/runs/none: no metrics.json"),
        (["v1.4"], 2, "CANDIDATE"),
        (["v1.4", "eval/runs/better", "--again"], 2, "--again goes with --confirm"),
        (["v1.4", "eval/runs/better", "--confirm", "--split", "dev"], 2, "on the test questions"),
        (["v1.4", "eval/runs/better", "--policy", "none.toml"], 2, "none.toml"),
        (["v1.4", "eval/runs/better", "--require", "reject"], 2, "require"),
    ],
)
def test_wrong_usage(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, words: str
) -> None:
    assert compare(*arguments) == code
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda text: text.replace('"' + "c" * 64, '"' + "d" * 64), 4, "the corpus (its hash) differs"),
        (lambda text: text.replace('"' + "s" * 64, '"' + "d" * 64), 4, "splits.json (its hash) differs"),
        (lambda text: text.replace("ragkit-metrics-1", "ragkit-metrics-9"), 4, "ragkit-metrics-9"),
        (lambda text: text.replace('"builtin"', '"pypi"'), 4, "the model's source differs"),
        (lambda text: text.replace('"contract"', '"contrast"'), 2, "contract: is missing"),
        (lambda text: text[: len(text) // 2], 2, "not JSON"),
        (lambda _: "", 2, "not JSON"),
    ],
)
def test_a_baseline_that_does_not_compare(
    folder: Path, capsys: pytest.CaptureFixture[str], change: Any, code: int, words: str
) -> None:
    path = Path("docs/eval/baseline-v1.4.json")
    path.write_text(change(path.read_text()))
    assert compare("v1.4", "eval/runs/better") == code
    assert words in capsys.readouterr().err


def test_without_a_policy_the_protocols_own_is_used_and_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("eval/policy.toml").unlink()
    assert compare("v1.4", "eval/runs/better") == 0
    assert "eval/policy.toml: not there" in capsys.readouterr().err


def test_two_real_runs_compare_and_their_hits_can_be_judged(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", "--out", "a"]) == 0
    changed = ["--set", "name=strict", "--set", "retrieval.strategy=dense", "--set", "retrieval.threshold=0.9"]
    assert run(["eval", "--out", "b", *changed]) == 0
    capsys.readouterr()
    assert compare("a", "b", "--json", "--adjudicate", "judge.jsonl") == 1  # everything was lost
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == [["retrieval.threshold", 0.0, 0.9]]
    assert found["baseline"]["p50"] > 0
    assert {stage for question in found["changed"] for stage in question["lost_at"]} == {"threshold (rank 1 to none)"}
    lines = [json.loads(line) for line in Path("judge.jsonl").read_text().splitlines()]
    assert lines
    assert all(line["text"] for line in lines)
    assert compare("a", "a") == 0  # with itself
