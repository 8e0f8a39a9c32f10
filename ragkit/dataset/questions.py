"""Reading `questions.jsonl`: everything that is wrong with it, with the true line numbers, at once.

One JSON object a line. Tolerated, because they change no meaning: a byte-order mark at the start, CRLF,
blank lines (they are counted), a missing final newline. Everything else is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import ValidationError

from ragkit.dataset.model import JudgmentEntry, QuestionEntry
from ragkit.dataset.similar import normalised
from ragkit.errors import DataError, FileError, Problem
from ragkit.names import id_fault
from ragkit.records import Judgment, Question
from ragkit.strict import Fault, explain, parse, show
from ragkit.text import fold

MAX_LINE = 1_000_000
"""Bytes of one line; a longer one is refused without being held in memory."""


@dataclass(slots=True)
class Reading:
    """What a questions file says. `lines`: every readable id, also of faulty lines, and where it is first."""

    questions: list[Question] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_questions(path: Path) -> list[Question]:
    """The questions, in file order; at least one.

    Raises `DataError` with every problem, in line order; `FileError` when the file can't be read.
    """
    reading = scan_questions(path)
    if reading.problems:
        raise DataError(reading.problems)
    return reading.questions


def scan_questions(path: Path) -> Reading:
    """As `read_questions`, but the problems are returned beside the lines without any."""
    reading = Reading()
    texts: dict[str, int] = {}
    seen_any = False
    for number, line in _lines(path):
        if isinstance(line, Fault):
            faults, raw = [line], None
        elif line.isspace() or not line:
            continue
        else:
            raw, faults = _parse(line)
        seen_any = True
        if isinstance(raw, dict):
            question, more = _question(raw, number)
            faults += more + _repeated(raw, number, reading.lines, texts)
            if question is not None and not faults:
                reading.questions.append(question)
        reading.problems += [Problem(str(path), number, fault.rule, fault.found, fault.remedy) for fault in faults]
    if not seen_any:
        reading.problems.append(Problem(str(path), 0, "no-questions", "the file has no question", "write one a line"))
    return reading


def _lines(path: Path) -> Iterator[tuple[int, str | Fault]]:
    try:
        with path.open("rb") as stream:
            number = 0
            while piece := stream.readline(MAX_LINE + 1):
                number += 1
                if number == 1 and piece.startswith((b"\xff\xfe", b"\xfe\xff")):
                    yield 1, Fault("not-utf-8", "the file is UTF-16", "save it as UTF-8")
                    return
                if len(piece) > MAX_LINE and not piece.endswith(b"\n"):
                    length = len(piece) + _skip_line(stream)
                    yield number, Fault("too-long", f"the line has {length} bytes, at most {MAX_LINE} are allowed")
                else:
                    yield number, _decode(piece.removeprefix(b"\xef\xbb\xbf") if number == 1 else piece)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from error


def _skip_line(stream: BinaryIO) -> int:
    skipped = 0
    while piece := stream.readline(MAX_LINE):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _decode(line: bytes) -> str | Fault:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        return Fault("not-utf-8", f"byte {error.start + 1} of the line is not UTF-8", "save the file as UTF-8")


def _parse(line: str) -> tuple[Any, list[Fault]]:
    value, faults = parse(line.strip())
    if not faults and not isinstance(value, dict):
        faults = [Fault("not-an-object", f"a line must be one question object, found {show(value)}")]
    return value, faults


def _question(raw: dict[str, Any], number: int) -> tuple[Question | None, list[Fault]]:
    faults: list[Fault] = []
    answerable, relevant = raw.get("answerable", True), raw.get("relevant", [])
    if answerable is True and relevant == []:
        faults.append(Fault("no-judgment", "`relevant` is empty", "add a location, or say `answerable: false`"))
    if answerable is False and isinstance(relevant, list) and relevant:
        found = f"`answerable` is false, but `relevant` has {len(relevant)}"
        faults.append(Fault("unanswerable-judged", found, "empty `relevant`, or leave `answerable` out"))
    try:
        entry = QuestionEntry.model_validate(raw)
    except ValidationError as error:
        return None, faults + explain(QuestionEntry, error)
    faults += _same_judgments(entry.relevant)
    judgments = tuple(Judgment(**judgment.model_dump()) for judgment in entry.relevant)
    return Question(entry.id, entry.question, judgments, entry.goldAnswer, entry.type, entry.answerable, number), faults


def _same_judgments(entries: list[JudgmentEntry]) -> list[Fault]:
    faults = []
    first: dict[tuple[Any, ...], int] = {}
    for index, entry in enumerate(entries):
        place = (entry.document, entry.page, entry.block, fold(entry.quote or ""))
        if place in first:
            found = f"`relevant[{index}]` is the same place as `relevant[{first[place]}]`"
            faults.append(Fault("duplicate-judgment", found, "keep one of them"))
        first.setdefault(place, index)
    return faults


def _repeated(raw: dict[str, Any], number: int, ids: dict[str, int], texts: dict[str, int]) -> list[Fault]:
    """Ids and question texts that an earlier line has already, whatever else is wrong with either."""
    faults = []
    identifier, text = raw.get("id"), raw.get("question")
    if isinstance(identifier, str) and not id_fault(identifier):
        if identifier in ids:
            found = f"id {show(identifier)} stands on line {ids[identifier]} and again here"
            faults.append(Fault("duplicate-id", found, "give one of them another id"))
        ids.setdefault(identifier, number)
    if isinstance(text, str) and (key := normalised(text)):
        if key in texts:
            found = f"the question of line {texts[key]} stands here again: {show(text)}"
            faults.append(Fault("duplicate-question", found, "keep one, or ask something else"))
        texts.setdefault(key, number)
    return faults
