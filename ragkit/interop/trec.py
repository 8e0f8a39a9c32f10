"""TREC qrels and run files, as trec_eval, ir_measures and ranx read them.

A qrels line is `question 0 document grade`, a run line `question Q0 document rank score tag`; fields are
separated by white space, of ASCII only. Written files are sorted by question id and rank, so that equal runs have
equal bytes. Scores are integers that fall with the rank: readers that keep scores as float32, or sort
equal ones their own way, then see the order that was meant.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import numpy as np

from ragkit.errors import DataError, Problem
from ragkit.files import read_text
from ragkit.interop.fields import padded, split

TAG: Final = "ragkit"
SHOWN: Final = 100
"""Bad lines that are told one by one; of the others only how many there are."""
_NUMBER: Final = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_GRADE_DIGITS: Final = 9
_GRADE: Final = re.compile(rb"[+-]?[0-9]{1,%d}" % _GRADE_DIGITS)

Qrels = dict[str, dict[str, int]]
"""question -> document -> grade"""


def escape(identifier: str) -> str:
    """An id as one TREC field: NFC, with white space, control characters and `%` percent-encoded.

    >>> escape("guides/set up 100%.md")
    'guides/set%20up%20100%25.md'
    """
    normal = unicodedata.normalize("NFC", identifier)
    if normal.isprintable() and " " not in normal and "%" not in normal:  # a space is the one that is printable
        return normal
    return "".join(map(_escaped, normal))


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

    Raises `DataError` with the bad lines (columns, a grade that is not a whole number, a document judged
    twice), `FileError` when the file can't be read. A grade of 0 or less says "not relevant".
    """
    qrels = _sound_qrels(read_text(path).encode())
    return _told_qrels(path) if qrels is None else qrels


def _sound_qrels(data: bytes) -> Qrels | None:
    """The judgments of a file without a bad line, all at once; `None` for any other."""
    columns = split(padded(data), 4, (0, 2, 3))
    if columns is None:
        return None
    questions, documents, grades = columns
    values = grades.numbers(whole=True)
    if np.isnan(values).any() or (grades.lengths > _GRADE_DIGITS).any():
        return None
    firsts = questions.firsts()
    counts = np.diff(firsts, append=len(questions)).tolist()
    judged = zip(documents.texts(), values.astype(np.int64).tolist(), strict=True)
    qrels: Qrels = {}
    for question, count in zip(questions[firsts].texts(), counts, strict=True):
        qrels.setdefault(question, {}).update(islice(judged, count))
    return qrels if sum(map(len, qrels.values())) == len(values) else None  # else one is judged twice


def _told_qrels(path: Path) -> Qrels:
    """The same line by line, which can say what is wrong with each."""
    qrels: Qrels = {}
    lines = _Lines(path, "question iteration document grade")
    for number, (question, _, name, grade) in lines:
        document = name.decode()
        known = qrels.setdefault(question.decode(), {})
        if not _GRADE.fullmatch(grade):
            lines.wrong(number, "grade", f"{grade.decode()!r} is not a whole number")
        elif document in known:
            lines.wrong(number, "duplicate", f"question {question.decode()} judges {document} again")
        else:
            known[document] = int(grade)
    lines.check()
    return qrels


def read_run(path: Path) -> dict[str, list[tuple[str, float]]]:
    """Read a run file: per question its (document, score), best first. `run_file` reads large ones.

    Order is by score, as trec_eval has it: the rank column is not believed. Equal scores are put in
    order of document id, descending, which is trec_eval's rule too; ids stay as written. Raises `DataError` with the bad
    lines (columns, a score that is no finite number, a document ranked twice), `FileError` when the file
    can't be read.
    """
    rankings: dict[str, dict[str, float]] = {}
    lines = _Lines(path, "question Q0 document rank score tag")
    for number, (question, _, name, _, text, _) in lines:
        document = name.decode()
        known = rankings.setdefault(question.decode(), {})
        score = finite_number(text)
        if score is None:
            lines.wrong(number, "score", f"{text.decode()!r} is not a finite number")
        elif document in known:
            lines.wrong(number, "duplicate", f"question {question.decode()} ranks {document} again")
        else:
            known[document] = score
    lines.check()
    return {
        question: sorted(scores.items(), key=lambda item: (item[1], item[0]), reverse=True)
        for question, scores in rankings.items()
    }


def finite_number(field: bytes) -> float | None:
    """The number that is written here in decimal digits, maybe with an exponent; `None` for anything else."""
    return value if _NUMBER.fullmatch(field) and math.isfinite(value := float(field)) else None


class _Lines:
    """The lines of a file with the right number of fields, and what is wrong with the others, or found to be."""

    def __init__(self, path: Path, columns: str) -> None:
        self._path = path
        self._columns = columns
        self._problems: list[Problem] = []
        self._untold: list[int] = []

    def __iter__(self) -> Iterator[tuple[int, list[bytes]]]:
        count = len(self._columns.split())
        for number, line in enumerate(read_text(self._path).encode().split(b"\n"), start=1):
            fields = line.split()
            if len(fields) == count:
                yield number, fields
            elif fields:
                self.wrong(number, "columns", f"{len(fields)} fields")

    def wrong(self, line: int, rule: str, found: str) -> None:
        if len(self._problems) < SHOWN:
            self._problems.append(Problem(str(self._path), line, rule, found, f"a line is: {self._columns}"))
        else:
            self._untold.append(line)

    def check(self) -> None:
        """Raise `DataError` if anything was wrong."""
        if self._untold:
            found = f"{len(self._untold)} more lines are wrong, from this one to line {self._untold[-1]}"
            self._problems.append(Problem(str(self._path), self._untold[0], "more", found))
        if self._problems:
            raise DataError(self._problems)
