"""Reading questions.jsonl: all that is wrong, each problem once, with its true line number."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ragkit.dataset import read_questions
from ragkit.dataset.questions import MAX_LINE
from ragkit.errors import DataError, FileError, Problem
from ragkit.records import Judgment, Question


def line(**changes: Any) -> str:
    """A good line, changed; `None` values are left in, the key `drop` names a field to leave out."""
    entry: dict[str, Any] = {
        "id": "q1",
        "question": "How deep may it go?",
        "relevant": [{"document": "a.md", "block": 0}],
    }
    drop = changes.pop("drop", None)
    entry |= changes
    entry.pop(drop, None)
    return json.dumps(entry, ensure_ascii=False)


def read(tmp_path: Path, content: str | bytes) -> list[Question]:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_questions(path)


def problems(tmp_path: Path, content: str | bytes) -> list[Problem]:
    with pytest.raises(DataError) as caught:
        read(tmp_path, content)
    return list(caught.value.problems)


def rules(tmp_path: Path, content: str | bytes) -> list[tuple[int, str]]:
    return [(problem.line, problem.rule) for problem in problems(tmp_path, content)]


def test_a_full_line_becomes_a_question(tmp_path: Path) -> None:
    relevant = [
        {"document": "b/c d.pdf", "page": 2, "block": 7, "quote": "at most 40 m", "grade": 3, "group": "depth"},
        {"document": "a.md", "page": None},
    ]
    [question] = read(tmp_path, line(relevant=relevant, goldAnswer="40 m", type="exact"))
    judgments = (Judgment("b/c d.pdf", 2, 7, "at most 40 m", 3, "depth"), Judgment("a.md"))
    assert question == Question("q1", "How deep may it go?", judgments, "40 m", "exact", True, 1)


def test_an_unanswerable_question_has_no_judgment(tmp_path: Path) -> None:
    [question] = read(tmp_path, line(answerable=False, drop="relevant"))
    assert (question.relevant, question.answerable) == ((), False)


def test_bom_crlf_blank_lines_and_no_final_newline_are_harmless_and_lines_stay_true(tmp_path: Path) -> None:
    content = "\ufeff" + line() + "\r\n\r\n  \t\r\n" + line(id="q2", question="Why?")
    assert [(q.id, q.line) for q in read(tmp_path, content)] == [("q1", 1), ("q2", 4)]


def test_a_line_separator_inside_a_string_is_no_new_line(tmp_path: Path) -> None:
    content = line(question="one\u2028two\u0085three") + "\n" + line(id="q2")
    assert [q.line for q in read(tmp_path, content)] == [1, 2]


@pytest.mark.parametrize(
    ("bad", "rule", "says"),
    [
        (line(id=92001), "wrong-type", 'must be a string, found 92001 -> write "92001"'),
        (line(id=None), "wrong-type", "found null"),
        (line(id=""), "empty", "`id` is empty"),
        (line(id="  "), "bad-id", "empty"),
        (line(id="q 1"), "bad-id", "letters, digits"),
        (line(id="-q"), "bad-id", "letter or digit first"),
        (line(id="q/1"), "bad-id", "letters, digits"),
        (line(id="fra\u0308ge"), "bad-id", "normal form C"),
        (line(id="x" * 101), "too-long", "101 characters"),
        (line(drop="id"), "missing-field", "`id` is missing"),
        (line(question=" \u00ad"), "empty", "nothing to read"),
        (line(question=["a"]), "wrong-type", "a string"),
        (line(goldAnswer=""), "empty", "goldAnswer"),
        (line(gold_answer="x"), "unknown-field", "did you mean `goldAnswer`?"),
        (line(zebra=1), "unknown-field", "known: id, question, relevant"),
        (line(relevant=[{"document": "a.md", "Quote": "x"}]), "unknown-field", "did you mean `quote`?"),
        (line(answerable="no"), "wrong-type", "true or false"),
        (line(answerable=0), "wrong-type", "true or false"),
        (line(relevant={}), "wrong-type", "a list"),
        (line(relevant=["a.md"]), "wrong-type", "`relevant[0]` must be an object"),
        (line(relevant=[]), "no-judgment", "answerable: false"),
        (line(drop="relevant"), "no-judgment", "empty"),
        (line(answerable=False), "unanswerable-judged", "has 1"),
        (line(relevant=[{"block": 1}]), "missing-field", "`relevant[0].document`"),
        (line(relevant=[{"document": "a.md", "page": 0}]), "out-of-range", "at least 1, found 0"),
        (line(relevant=[{"document": "a.md", "page": True}]), "wrong-type", "whole number, found true"),
        (line(relevant=[{"document": "a.md", "page": 1.0}]), "wrong-type", "found 1.0"),
        (line(relevant=[{"document": "a.md", "block": -1}]), "out-of-range", "at least 0"),
        (line(relevant=[{"document": "a.md", "block": "3"}]), "wrong-type", "whole number"),
        (line(relevant=[{"document": "a.md", "grade": 4}]), "out-of-range", "at most 3, found 4"),
        (line(relevant=[{"document": "a.md", "grade": 0}]), "out-of-range", "at least 1"),
        (line(relevant=[{"document": "a.md", "grade": None}]), "wrong-type", "found null"),
        (line(relevant=[{"document": "a.md", "quote": "x" * 201}]), "too-long", "201 characters, at most 200"),
        (line(relevant=[{"document": "a.md", "quote": "\u200b "}]), "empty", "quote"),
        (line(relevant=[{"document": "a.md", "group": ""}]), "empty", "group"),
        (line(relevant=[{"document": ""}]), "empty", "document"),
        (line(relevant=[{"document": "a\\b.md"}]), "bad-slug", "backslash"),
        (line(relevant=[{"document": "/a.md"}]), "bad-slug", "absolute"),
        (line(relevant=[{"document": "C:/a.md"}]), "bad-slug", "absolute"),
        (line(relevant=[{"document": "b/../a.md"}]), "bad-slug", "`..`"),
        (line(relevant=[{"document": "./a.md"}]), "bad-slug", "`.`"),
        (line(relevant=[{"document": "b//a.md"}]), "bad-slug", "empty"),
        (line(relevant=[{"document": "u\u0308.md"}]), "bad-slug", "normal form C"),
        (line(relevant=[{"document": "a\n.md"}]), "bad-slug", "control character"),
        (line(relevant=[{"document": "a.md"}, {"document": "a.md", "grade": 2}]), "duplicate-judgment", "relevant[0]"),
        (
            '{"id": "q1", "question": "a", "question": "b", "relevant": [{"document": "a"}]}',
            "duplicate-key",
            '"question"',
        ),
        (line(question="half \ud83d").encode("ascii", "backslashreplace").decode(), "lone-surrogate", "\\ud83d"),
        (line()[:-1] + ",}", "not-json", "trailing comma"),
        (line(relevant=[]).replace("[]", '[{"document": "a"},]'), "not-json", "trailing comma"),
        (line().replace('"block": 0', '"block": NaN'), "not-json", "NaN is not a JSON value"),
        (line().replace('"block": 0', '"block": -Infinity'), "not-json", "-Infinity"),
        (line().replace('"block": 0', '"block": ' + "9" * 5000), "not-json", "digits"),
        (line().replace('"block": 0', '"block": 1e999'), "wrong-type", "whole number"),
        (line()[:-1], "not-json", "column"),
        (line() + line(id="q2"), "not-json", "extra data"),
        ("[1, 2]", "not-an-object", "found [1, 2]"),
        ("null", "not-an-object", "found null"),
        ("'single'", "not-json", "column 1"),
        ("[" * 100_000, "too-deep", "nested"),
        ('{"id": ' + "[" * 100_000 + "]" * 100_000 + "}", "too-deep", "nested"),
        ("\ufeff", "not-json", "column 1"),
    ],
)
def test_each_fault_is_one_message_on_its_line(tmp_path: Path, bad: str, rule: str, says: str) -> None:
    content = line(id="good-1", question="First?") + "\n\n" + bad + "\n" + line(id="good-2", question="Last?") + "\n"
    [problem] = problems(tmp_path, content)
    assert (problem.line, problem.rule) == (3, rule)
    assert says in str(problem)
    str(problem).encode()  # can always be printed


def test_duplicates_name_both_lines(tmp_path: Path) -> None:
    content = "\n".join([line(), "", line(question="Something else?"), line(id="q2", question="how deep  may it go")])
    first, second = problems(tmp_path, content)
    assert str(first).endswith('questions.jsonl:3: duplicate-id: id "q1" stands on line 1 and again here -> '
                               "give one of them another id")  # fmt: skip
    assert (second.line, second.rule) == (4, "duplicate-question")
    assert "line 1" in second.found


def test_duplicates_are_told_even_of_a_line_with_another_fault(tmp_path: Path) -> None:
    assert rules(tmp_path, line(answerable=3) + "\n" + line(question="Else?", relevant=[])) == [
        (1, "wrong-type"),
        (2, "duplicate-id"),
        (2, "no-judgment"),
    ]


def test_questions_that_differ_in_one_sign_are_different(tmp_path: Path) -> None:
    assert len(read(tmp_path, line(question="What is C?") + "\n" + line(id="q2", question="What is C++?"))) == 2


def test_broken_in_ten_ways_at_once(tmp_path: Path) -> None:
    bad = [
        line(),
        "",
        line(id=7),  # 3 wrong type
        line(id="q1", question="Q4?"),  # 4 duplicate id
        line(id="q5", question="Q5?", gold="x"),  # 5 unknown field
        line(id="q6", question="Q6?")[:-1] + ",}",  # 6 trailing comma
        "\r",
        line(id="q8", question="Q8?", relevant=[{"document": "../x", "grade": 9}]),  # 8 slug and grade
        line(id="q9", question="Q9?", relevant=[]),  # 9 no judgment
        line(id="q10", question=""),  # 10 empty
        '{"id": "q11", "id": "q11", "question": "Q11?", "answerable": false}',  # 11 duplicate key
        "x" * (MAX_LINE + 1),  # 12 too long
    ]
    content = "\n".join(bad).encode() + b'\n{"id": "\xff"}\n' + line(id="q14", question="Q14?").encode()
    assert rules(tmp_path, content) == [
        (3, "duplicate-question"),
        (3, "wrong-type"),
        (4, "duplicate-id"),
        (5, "unknown-field"),
        (6, "not-json"),
        (8, "bad-slug"),
        (8, "out-of-range"),
        (9, "no-judgment"),
        (10, "empty"),
        (11, "duplicate-key"),
        (12, "too-long"),
        (13, "not-utf-8"),
    ]


def test_a_huge_line_is_refused_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(line() + "\n" + "[" * 30_000_000 + "\n" + line(id="q3", question="Three?", relevant=[]) + "\n")
    tracemalloc.start()
    try:
        with pytest.raises(DataError) as caught:
            read_questions(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    long, empty = caught.value.problems
    assert (long.line, long.rule, empty.line) == (2, "too-long", 3)
    assert "30000001 bytes" in long.found
    assert peak < 8 * MAX_LINE


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff", " \r\n"])
def test_no_question_is_a_problem(tmp_path: Path, content: str) -> None:
    assert rules(tmp_path, content) == [(0, "no-questions")]


def test_utf_16_is_one_message(tmp_path: Path) -> None:
    [problem] = problems(tmp_path, (line() + "\n" + line()).encode("utf-16"))
    assert (problem.rule, problem.remedy) == ("not-utf-8", "save it as UTF-8")


def test_a_missing_file_and_a_folder_are_file_errors(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(FileError, match="cannot be read"):
            read_questions(path)
