"""TREC qrels and run files, as trec_eval, ir_measures and ranx read them.

A qrels line is `question 0 document grade`, a run line `question Q0 document rank score tag`; fields are
separated by white space. Written files are sorted by question id and rank, so that equal runs have
equal bytes. Scores are integers that fall with the rank: readers that keep scores as float32, or sort
equal ones their own way, then see the order that was meant.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from ragkit.errors import DataError, Problem
from ragkit.files import read_text

TAG: Final = "ragkit"
_NUMBER: Final = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"

Qrels = dict[str, dict[str, int]]
"""question -> document -> grade"""


def escape(identifier: str) -> str:
    """An id as one TREC field: NFC, with white space, control characters and `%` percent-encoded.

    >>> escape("guides/set up 100%.md")
    'guides/set%20up%20100%25.md'
    """
    return "".join(map(_escaped, unicodedata.normalize("NFC", identifier)))


def unescape(field: str) -> str:
    """The id, in NFC, of which `escape` made this field."""
    return unquote(field)


def _escaped(character: str) -> str:
    if character == "%" or character.isspace() or not character.isprintable():
        return "".join(f"%{byte:02X}" for byte in character.encode())
    return character


def judgment_id(judgment: int) -> str:
    """The document id that stands for judgment `judgment` (0-based) of a question in the passage unit."""
    return f"judgment-{judgment + 1}"


def passage_judgments(grades: Sequence[int]) -> dict[str, int]:
    """The qrels of one question in the passage unit: one id per judgment, in label order."""
    return {judgment_id(judgment): grade for judgment, grade in enumerate(grades)}


def passage_ranking(slots: Sequence[int | None], hits: int) -> list[str]:
    """The ranking of one question in the passage unit: judgments at their slots, fillers elsewhere.

    It is as long as there are hits, or longer when one hit covers several judgments, whose slots then
    follow it.

    >>> passage_ranking([1, 0, None, None], hits=1)
    ['judgment-2', 'judgment-1']
    """
    length = max([hits] + [slot for slot, judgment in enumerate(slots, start=1) if judgment is not None])
    places = [*slots, *[None] * (length - len(slots))][:length]
    return [
        f"filler-{slot}" if judgment is None else judgment_id(judgment) for slot, judgment in enumerate(places, start=1)
    ]


def format_qrels(judgments: Mapping[str, Mapping[str, int]]) -> str:
    """A qrels file. Questions without judgments leave no line."""
    return "".join(
        f"{escape(question)} 0 {escape(document)} {grade}\n"
        for question, grades in sorted(judgments.items())
        for document, grade in grades.items()
    )


def format_run(rankings: Mapping[str, Sequence[str]], tag: str = TAG) -> str:
    """A run file from each question's document ids, best first. Empty rankings leave no line."""
    return "".join(
        f"{escape(question)} Q0 {escape(document)} {rank} {len(ranking) - rank + 1} {escape(tag)}\n"
        for question, ranking in sorted(rankings.items())
        for rank, document in enumerate(ranking, start=1)
    )


def read_qrels(path: Path) -> Qrels:
    """Read a qrels file; ids stay as they are written there.

    Raises `DataError` with every bad line (columns, a grade that is not a whole number of 0 or more, a
    document judged twice), `FileError` when the file can't be read. A grade of 0 says "not relevant".
    """
    qrels: Qrels = {}

    def take(fields: list[str]) -> tuple[str, str] | None:
        question, _, document, grade = fields
        if not re.fullmatch(r"[0-9]{1,9}", grade):
            return "grade", f"{grade!r} is not a whole number of 0 or more"
        known = qrels.setdefault(question, {})
        if document in known:
            return "duplicate", f"question {question} judges {document} again"
        known[document] = int(grade)
        return None

    _read(path, "question iteration document grade", take)
    return qrels


def read_run(path: Path) -> dict[str, list[tuple[str, float]]]:
    """Read a run file: per question its (document, score), best first.

    Order is by score, as trec_eval has it: the rank column is not believed. Equal scores are put in
    order of document id, descending, which is trec_eval's rule too; ids stay as written. Raises `DataError` with every bad
    line (columns, a score that is no finite number, a document ranked twice), `FileError` when the file
    can't be read.
    """
    rankings: dict[str, dict[str, float]] = {}

    def take(fields: list[str]) -> tuple[str, str] | None:
        question, _, document, _, text, _ = fields
        if not re.fullmatch(_NUMBER, text) or not math.isfinite(score := float(text)):
            return "score", f"{text!r} is not a finite number"
        known = rankings.setdefault(question, {})
        if document in known:
            return "duplicate", f"question {question} ranks {document} again"
        known[document] = score
        return None

    _read(path, "question Q0 document rank score tag", take)
    return {
        question: sorted(scores.items(), key=lambda item: (item[1], item[0]), reverse=True)
        for question, scores in rankings.items()
    }


def _read(path: Path, columns: str, take: Callable[[list[str]], tuple[str, str] | None]) -> None:
    """Give each line's fields to `take`, which says what is wrong with them, if anything."""
    problems = []
    count = len(columns.split())
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        wrong = take(fields) if len(fields) == count else ("columns", f"{len(fields)} fields")
        if wrong is not None:
            problems.append(Problem(str(path), number, *wrong, f"a line is: {columns}"))
    if problems:
        raise DataError(problems)
