"""Answers of other systems: what a file may say, what is refused, and where its citations lead."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ragkit.answers import read_answers, recorded_answers
from ragkit.errors import DataError, FileError
from ragkit.records import Document, Question
from ragkit.store import Store
from tests.answers.toys import store_of

QUESTIONS = [Question(name, f"{name}?", (), None, None, True, line) for line, name in enumerate(("q1", "q2", "q3"), 1)]


def write(tmp_path: Path, *lines: Any) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def test_good_lines_are_read_whatever_the_bom_blank_lines_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "q1", "answer": "Yes."}\r\n\r\n{"id": "q2", "answer": null}\r\n{"id": "q3"}')
    entries = read_answers(path, QUESTIONS)
    assert [(name, entry.answer) for name, entry in entries.items()] == [("q1", "Yes."), ("q2", None), ("q3", None)]


@pytest.mark.parametrize(
    ("line", "rule", "found"),
    [
        ({"id": "q9", "answer": "a"}, "unknown-id", 'no question has id "q9"'),
        ({"answer": "a"}, "missing-field", "`id` is missing"),
        ({"id": 1, "answer": "a"}, "wrong-type", 'found 1 -> write "1"'),
        ({"id": "q1", "answer": 5}, "wrong-type", "`answer` must be a string"),
        ({"id": "q1", "answer": " \n"}, "empty", "is blank; write null"),
        ({"id": "q1", "answer": "a", "citation": []}, "unknown-field", "did you mean `citations`?"),
        ({"id": "q1", "answer": "a", "citations": None}, "wrong-type", "`citations` must be a list"),
        ({"id": "q1", "answer": "a", "citations": ["a.md"]}, "wrong-type", "`citations[0]` must be an object"),
        ({"id": "q1", "answer": "a", "citations": [{"document": "a.md"}]}, "no-place", "neither a `block` nor a `quote`"),
        ({"id": "q1", "answer": "a", "citations": [{"block": 0}]}, "missing-field", "`citations[0].document`"),
        ({"id": "q1", "answer": "a", "citations": [{"document": "a", "block": "0"}]}, "wrong-type", "a whole number"),
        ({"id": "q1", "answer": "a", "citations": [{"document": "a", "block": -1}]}, "out-of-range", "at least 0"),
        ({"id": "q1", "answer": "a", "citations": [{"document": "a", "block": 1, "page": 0}]}, "out-of-range", "at least 1"),
        ({"id": "q1", "answer": "a", "citations": [{"document": "a", "quote": ""}]}, "empty", "quote` is empty"),
        ({"id": "q1", "answer": None, "citations": [{"document": "a", "block": 1}]}, "declined-cites", "there is no"),
        ('{"id": "q1", "answer": "a",}', "not-json", "trailing comma"),
        ('{"id": "q1", "id": "q1"}', "duplicate-key", "stands twice"),
        ("[]", "not-an-object", "found []"),
    ],
)  # fmt: skip
def test_bad_lines_are_refused_with_their_number(tmp_path: Path, line: Any, rule: str, found: str) -> None:
    path = write(tmp_path, {"id": "q2", "answer": "fine"}, "", line)
    with pytest.raises(DataError) as caught:
        read_answers(path, QUESTIONS)
    (problem,) = caught.value.problems
    assert (problem.path, problem.line, problem.rule) == (str(path), 3, rule)
    assert found in str(problem)


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, {"id": "q1", "answer": 1}, "{", {"id": "q1", "answer": "b"}, {"id": "x", "citations": [{}]})
    with pytest.raises(DataError) as caught:
        read_answers(path, QUESTIONS)
    assert [(problem.line, problem.rule) for problem in caught.value.problems] == [
        (1, "wrong-type"), (2, "not-json"), (3, "duplicate-answer"), (4, "missing-field"), (4, "unknown-id"),
    ]  # fmt: skip
    assert "answered on line 1 and again here" in str(caught.value)


def test_a_file_without_answers_or_none_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no-answers"):
        read_answers(write(tmp_path, ""), QUESTIONS)
    with pytest.raises(FileError, match=r"absent\.jsonl: cannot be read"):
        read_answers(tmp_path / "absent.jsonl", QUESTIONS)


@pytest.fixture
def documents(make_document: Callable[..., Document]) -> list[Document]:
    return [
        make_document("a.md", ["Six years.", "Both: six years. Six years.", "The “ﬁne” one."]),
        make_document("b.pdf", ["On one.", "On two."], pages=[1, 2]),
    ]


@pytest.fixture
def store(documents: list[Document]) -> Iterator[Store]:
    with store_of(documents) as store:
        yield store


@pytest.mark.parametrize(
    ("citation", "place"),
    [
        ({"document": "a.md", "block": 1}, ("a.md", 1)),
        ({"document": "a.md", "block": 1, "quote": "ix years"}, ("a.md", 1)),  # twice in its block: still that block
        ({"document": "a.md", "page": None, "block": 2, "quote": '"fine"'}, ("a.md", 2)),  # presentation is folded
        ({"document": "a.md", "quote": "Both: six"}, ("a.md", 1)),
        ({"document": "b.pdf", "page": 2, "block": 1}, ("b.pdf", 1)),
        ({"document": "a.md", "block": 3}, "a.md#3"),
        ({"document": "c.md", "block": 0}, "c.md#0"),
        ({"document": "a.md", "quote": "ix years"}, 'a.md: "ix years"'),  # in two blocks
        ({"document": "a.md", "block": 0, "quote": "ten years"}, 'a.md#0: "ten years"'),
        ({"document": "a.md", "block": 0, "quote": "\u200b"}, 'a.md#0: "\\u200b"'),
        ({"document": "b.pdf", "page": 1, "block": 1}, "b.pdf#1, page 1"),
        ({"document": "a.md", "page": 1, "block": 1}, "a.md#1, page 1"),  # it has no pages
    ],
)
def test_a_citation_leads_to_the_one_block_that_fits_or_nowhere(
    tmp_path: Path, documents: list[Document], store: Store, citation: Any, place: tuple[str, int] | str
) -> None:
    entries = read_answers(write(tmp_path, {"id": "q1", "answer": "a", "citations": [citation]}), QUESTIONS)
    (cited,) = recorded_answers(entries, QUESTIONS, documents, store)[0].citations
    if isinstance(place, tuple):
        assert store.locate_block(cited.block_id) == place
    else:
        assert cited.told == place
        with pytest.raises(KeyError):
            store.locate_block(cited.block_id)


def test_a_question_without_a_line_is_declined(tmp_path: Path, documents: list[Document], store: Store) -> None:
    entries = read_answers(write(tmp_path, {"id": "q2", "answer": "Yes."}), QUESTIONS)
    found = recorded_answers(entries, QUESTIONS, documents, store)
    assert [answer.text for answer in found] == [None, "Yes.", None]
