"""Freezing and checking, in a git work tree of its own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ragkit import environment
from ragkit.baseline import Paths
from ragkit.cli import run

FOLDER = Path("docs/eval")
POLICY = 'family = ["chunking"]\n[check]\nscore_tolerance = 0.005\n'


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false"]
    return subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, text=True).stdout


def commit(message: str) -> str:
    git("add", "-A")
    git("commit", "-qm", message)
    return git("rev-parse", "HEAD").strip()


def freeze(*arguments: str) -> int:
    return run(["freeze", "--allow", "saturated", *arguments])  # three questions are never enough


@pytest.fixture
def repository(workspace: Path) -> Path:
    (workspace / ".gitignore").write_text("cache/\neval/runs/\n")
    (workspace / "eval/policy.toml").write_text(POLICY)
    git("init", "-q")
    commit("data")
    return workspace


@pytest.fixture
def frozen(repository: Path) -> Path:
    assert freeze() == 0
    commit("baseline")
    return repository


def test_what_was_frozen_and_committed_is_reproduced(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check"]) == 0
    assert "baseline v1.4 reproduced: 0 questions moved" in capsys.readouterr().out
    assert git("status", "--porcelain") == ""


def test_the_baseline_is_the_run_byte_for_byte_and_names_where_it_comes_from(repository: Path) -> None:
    head = git("rev-parse", "HEAD").strip()
    (repository / "unrelated.txt").write_text("x")
    commit("does not touch eval/")
    assert freeze() == 0
    assert run(["eval", "--out", "again"]) == 0
    assert (FOLDER / "baseline-v1.4.json").read_bytes() == Path("again/metrics.json").read_bytes()
    meta = json.loads((FOLDER / "baseline-v1.4.meta.json").read_text())
    assert meta["commit"] == head
    assert meta["configuration"] == "eval/configs/v1.4.toml"
    assert meta["environment"]["libraries"]["numpy"]
    assert head in (FOLDER / "baseline-v1.4.md").read_text()


def test_eval_never_writes_the_baseline(frozen: Path) -> None:
    before = {path: path.read_bytes() for path in FOLDER.iterdir()}
    assert run(["eval", "--set", "chunking.chunk_size=30"]) == 0
    assert {path: path.read_bytes() for path in FOLDER.iterdir()} == before


def test_a_dirty_work_tree_is_refused_unless_told(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "eval/corpus/notes.txt").write_text("Changed: the battery life: six years for both models.")
    assert freeze() == 2
    assert "eval/corpus/notes.txt" in capsys.readouterr().err
    assert not FOLDER.exists()
    assert freeze("--allow", "dirty") == 0


def test_a_folder_without_git_is_refused_unless_told(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "eval/policy.toml").write_text(POLICY)
    assert freeze() == 2
    assert "no git work tree" in capsys.readouterr().err


def test_failing_validation_is_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    splits = repository / "eval/splits.json"
    splits.write_text('{"dev": ["q1"], "test": ["q2", "q3", "q4", "q9"]}')
    commit("broken")
    assert freeze() == 2
    assert "unknown-id" in capsys.readouterr().err


def test_a_saturated_measure_is_refused_and_the_headroom_told(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["freeze"]) == 2
    error = capsys.readouterr().err
    assert "Recall@5 is saturated" in error
    assert "of 2 test questions are below 1" in error


def test_freezing_again_keeps_what_was_there_in_the_history(frozen: Path) -> None:
    old = json.loads((FOLDER / "baseline-v1.4.json").read_text())
    assert freeze("--set", "chunking.chunk_size=30") == 0
    meta = json.loads((FOLDER / "baseline-v1.4.meta.json").read_text())
    assert [entry["config_id"] for entry in meta["history"]] == [old["config_id"]]
    assert meta["history"][0]["measures"]["MRR"] == old["measures"]["MRR"]["mean"]
    assert "Earlier baselines" in (FOLDER / "baseline-v1.4.md").read_text()


@pytest.mark.parametrize("name", ["baseline-v1.4.md", "baseline-v1.4.json"])
def test_a_digit_changed_by_hand_is_caught(frozen: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    path = FOLDER / name
    text = path.read_text(encoding="utf-8")
    at = text.index("1.000") if name.endswith(".md") else text.index("0.")
    path.write_text(
        text[:at] + "0.999" + text[at + 5 :] if name.endswith(".md") else text[:at] + "0.1" + text[at + 2 :]
    )
    assert run(["check"]) == 1
    assert name in capsys.readouterr().err


def test_without_a_baseline_it_exits_with_4(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check"]) == 4
    assert "ragkit freeze makes one" in capsys.readouterr().err


def test_another_corpus_exits_with_4(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (frozen / "eval/corpus/more.txt").write_text("One more document.")
    assert run(["check"]) == 4
    assert "the corpus (its hash) differs" in capsys.readouterr().err


def test_another_configuration_exits_with_1_and_names_the_questions(
    frozen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "--set", "chunking.chunk_size=30"]) == 1
    error = capsys.readouterr().err
    assert "the configuration is another" in error
    assert "  q1: rank " in error


def test_a_truncated_baseline_is_unreadable_not_wrong(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / "baseline-v1.4.json"
    path.write_bytes(path.read_bytes()[:500])
    assert run(["check"]) == 2
    assert "not JSON" in capsys.readouterr().err


def test_a_newer_form_is_not_comparable(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / "baseline-v1.4.json"
    path.write_text(path.read_text().replace("ragkit-metrics-1", "ragkit-metrics-9"))
    assert run(["check"]) == 4
    assert "ragkit-metrics-9" in capsys.readouterr().err


def refreeze_scores(change: float, *, reverse: bool = False) -> None:
    """Pretend that the baseline was frozen on another processor, where every score differed by `change`.

    `reverse` also turns the order of the hits round, their scores staying in place.
    """
    from ragkit.baseline import Paths, baseline_markdown
    from ragkit.files import canonical_json, sha256_bytes

    paths = Paths.of("v1.4")
    metrics = json.loads(paths.metrics.read_text())
    for question in metrics["questions"]:
        places = [hit["at"] for hit in question["hits"]]
        for hit, place in zip(question["hits"], reversed(places) if reverse else places, strict=True):
            hit["score"] += change
            hit["at"] = place
    paths.metrics.write_text(canonical_json(metrics))
    meta = json.loads(paths.meta.read_text())
    meta |= {"fingerprint": "0" * 16, "metrics_sha256": sha256_bytes(paths.metrics.read_bytes())}
    paths.meta.write_text(canonical_json(meta))
    timing = json.loads(paths.timing.read_text())
    paths.markdown.write_text(baseline_markdown(metrics, meta, timing))


def test_another_machine_may_move_scores_within_the_tolerance(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refreeze_scores(0.0001)
    assert run(["check"]) == 0
    assert "another kind of machine" in capsys.readouterr().err


def test_another_machine_may_not_rank_differently_where_scores_are_far_apart(
    frozen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refreeze_scores(0.0001, reverse=True)
    assert run(["check"]) == 1
    error = capsys.readouterr().err
    assert "questions moved by more than 0.005" in error
    assert "q1: rank 1 was" in error


def test_the_same_machine_may_not(
    frozen: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refreeze_scores(0.0001)
    monkeypatch.setattr(environment, "fingerprint", lambda _: "0" * 16)
    assert run(["check"]) == 1
    assert "same kind of machine, other numbers" in capsys.readouterr().err


@pytest.mark.parametrize("written", [1, 2, 3])
def test_a_freeze_that_was_stopped_between_its_files_is_told_and_made_good(
    frozen: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    old = json.loads((FOLDER / "baseline-v1.4.json").read_text())["config_id"]
    assert run(["eval", "--out", "eval/runs/run"]) == 0
    replace, done = Path.replace, []

    def stop(self: Path, target: Path) -> Path:
        if target.parent == FOLDER:
            if len(done) == written:
                raise KeyboardInterrupt
            done.append(target)
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", stop)
        assert freeze("--set", "chunking.chunk_size=30") == 130
    for command in (["check"], ["compare", "v1.4", "eval/runs/run"]):
        capsys.readouterr()
        assert run(command) == 4
        error = capsys.readouterr().err
        assert "a freeze was stopped before it wrote this file: run it again" in error
        assert "git restore docs/eval/baseline-v1.4.*" in error
    assert freeze("--set", "chunking.chunk_size=30") == 0
    assert [entry["config_id"] for entry in json.loads(Paths.of("v1.4").meta.read_text())["history"]] == [old]
    assert run(["check", "--set", "chunking.chunk_size=30"]) == 0


def test_a_baseline_changed_by_hand_is_no_history(frozen: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / "baseline-v1.4.json"
    path.write_text(path.read_text().replace('"mean": 1.0', '"mean": 0.9', 1))
    assert freeze() == 4
    assert "restore it from git" in capsys.readouterr().err


def test_what_a_killed_write_left_does_not_make_a_work_tree_dirty(repository: Path) -> None:
    (repository / "eval/golden").mkdir()
    (repository / "eval/golden/.recorded.json.tmp").write_text("{")
    assert freeze() == 0
