"""validate: problems of the file, the splits and the corpus together, doubts as warnings, counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragkit.dataset import validate
from ragkit.errors import DataError, FileError
from ragkit.records import Document

MakeDocument = Callable[..., Document]


@pytest.fixture
def corpus(make_document: MakeDocument) -> list[Document]:
    return [
        make_document("a.pdf", ["Rated to 10 m.", "Two years."], pages=[1, 2]),
        make_document("b.md", ["Two years.", "Nobody knows."]),
        make_document("c.md", ["Never asked about."]),
    ]


def entry(identifier: str, question: str, *relevant: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": identifier, "question": question, "relevant": list(relevant)} | more


def write(folder: Path, entries: list[dict[str, Any] | str], **splits: list[str]) -> tuple[Path, Path]:
    questions, splits_path = folder / "questions.jsonl", folder / "splits.json"
    lines = [each if isinstance(each, str) else json.dumps(each) for each in entries]
    questions.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    splits_path.write_text(json.dumps(splits), encoding="utf-8")
    return questions, splits_path


RANGE = entry("q1", "How deep?", {"document": "a.pdf", "page": 1, "block": 0, "quote": "10 m"}, type="exact")
WHO = entry("q2", "Who knows?", {"document": "b.md", "block": 1}, type="exact")
NEVER = entry("q3", "What is the price?", answerable=False, type="unanswerable")


def test_a_clean_dataset_has_counts_and_a_warning_for_the_document_nobody_asks_about(
    tmp_path: Path, corpus: list[Document]
) -> None:
    report = validate(*write(tmp_path, [RANGE, WHO, NEVER], dev=["q1"], test=["q2", "q3"]), corpus)
    report.raise_problems()
    assert report.problems == ()
    assert [(each.rule, each.found) for each in report.warnings] == [
        ("unused-document", 'no question points to "c.md"')
    ]
    assert (report.questions, report.judgments, report.unanswerable) == (3, 2, 1)
    assert report.by_type == {"exact": 2, "unanswerable": 1}
    assert report.by_document == {"a.pdf": 1, "b.md": 1, "c.md": 0}
    assert report.by_split == {"dev": {"exact": 1}, "test": {"exact": 1, "unanswerable": 1}}


def test_problems_of_file_splits_and_corpus_come_together_in_order(tmp_path: Path, corpus: list[Document]) -> None:
    moved = entry("q5", "How long?", {"document": "a.pdf", "page": 1, "block": 0, "quote": "Two years"})
    broken = entry("q4", "How broken?", {"document": "a.pdf", "grade": 7})
    report = validate(*write(tmp_path, [RANGE, broken, "", moved], dev=["q1"], test=["q4", "zz"]), corpus)
    assert [(Path(each.path).name, each.line, each.rule) for each in report.problems] == [
        ("questions.jsonl", 2, "out-of-range"),
        ("questions.jsonl", 4, "drifted"),
        ("splits.json", 0, "missing-id"),  # q5; q4 has a faulty line but is known, so it isn't an unknown id
        ("splits.json", 1, "unknown-id"),
    ]
    with pytest.raises(DataError) as caught:
        report.raise_problems()
    assert caught.value.problems == report.problems


def test_doubts_are_warnings(tmp_path: Path, corpus: list[Document]) -> None:
    years = entry(
        "q1", "How long is the warranty of the logger?", {"document": "a.pdf", "block": 1, "quote": "Two years"}
    )
    again = entry("q2", "How long is the warranty of the loggers?", {"document": "c.md", "group": "fcat"})
    paths = write(tmp_path, [years, again], dev=["q1"], test=["q2"])
    report = validate(*paths, corpus)
    assert report.problems == ()
    assert [(each.line, each.rule) for each in report.warnings] == [
        (0, "unused-document"),
        (1, "also-elsewhere"),
        (2, "lonely-group"),
        (2, "torn-twins"),
    ]
    assert "nearly the same question as q1 (line 1)" in str(report.warnings[-1])
    together = validate(*write(tmp_path, [years, again], dev=["q1", "q2"], test=[]), corpus)
    assert "torn-twins" not in {each.rule for each in together.warnings}


def test_an_unreadable_splits_file_is_one_problem_among_others(tmp_path: Path, corpus: list[Document]) -> None:
    questions, splits = write(tmp_path, [RANGE, entry("q2", "", {"document": "b.md"})])
    splits.unlink()
    assert [each.rule for each in validate(questions, splits, corpus).problems] == ["empty", "unreadable"]
    splits.write_bytes(b"\xff")
    assert [each.rule for each in validate(questions, splits, corpus).problems] == ["empty", "unreadable"]


def test_without_splits_and_without_a_corpus_the_rest_is_checked(tmp_path: Path) -> None:
    questions, _ = write(tmp_path, [RANGE, entry("q1", "Else?", {"document": "gone.md"})])
    report = validate(questions, None, None)
    assert [each.rule for each in report.problems] == ["duplicate-id"]
    assert (report.by_document, report.by_split) == ({}, {})


def test_without_questions_there_is_nothing_to_say(tmp_path: Path, corpus: list[Document]) -> None:
    with pytest.raises(FileError):
        validate(tmp_path / "questions.jsonl", None, corpus)
