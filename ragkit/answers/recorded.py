"""Answers of any system, read from JSON Lines: `{id, answer, citations: [{document, page, block, quote}]}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from ragkit.answers.model import Answer, Citation
from ragkit.errors import DataError, Problem
from ragkit.files import read_text
from ragkit.records import Document, Question
from ragkit.store import Store
from ragkit.strict import Fault, explain, parse, show
from ragkit.text import fold


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CitationEntry(_Entry):
    """A place in the corpus, named as in a judgment: by block, or by a quote that only one block holds."""

    document: str = Field(min_length=1)
    page: int | None = Field(None, ge=1)
    block: int | None = Field(None, ge=0)
    quote: str | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _placed(self) -> CitationEntry:
        if self.block is None and self.quote is None:
            raise PydanticCustomError("no_place", "names neither a `block` nor a `quote`")
        return self


class AnswerEntry(_Entry):
    """One line; `answer` is null or left out when the system declined."""

    id: str
    answer: str | None = None
    citations: list[CitationEntry] = []

    @field_validator("answer")
    @classmethod
    def _not_blank(cls, answer: str | None) -> str | None:
        if answer is not None and not answer.strip():
            raise PydanticCustomError("empty", "is blank; write null for a declined question")
        return answer


def read_answers(path: Path, known: Sequence[Question]) -> dict[str, AnswerEntry]:
    """The lines of an answers file by question id; `known` is the whole question set.

    Not every question needs a line. Raises `DataError` with every problem and its line: not JSON, wrong
    types, unknown fields, ids of no question, a second answer to a question, citations without an
    answer. `FileError` when the file can't be read.
    """
    ids = {question.id for question in known}
    entries: dict[str, AnswerEntry] = {}
    lines: dict[str, int] = {}
    problems: list[Problem] = []
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        raw, faults = parse(line.strip())
        if isinstance(raw, dict):
            entry, more = _entry(raw)
            faults += more + _id_faults(raw.get("id"), number, ids, lines)
            if entry is not None:
                entries[entry.id] = entry
        elif not faults:
            faults = [Fault("not-an-object", f"a line must be one answer object, found {show(raw)}")]
        problems += [Problem(str(path), number, fault.rule, fault.found, fault.remedy) for fault in faults]
    if not entries and not problems:
        problems.append(Problem(str(path), 0, "no-answers", "the file has no answer", "write one a line"))
    if problems:
        raise DataError(problems)
    return entries


def _entry(raw: dict[str, Any]) -> tuple[AnswerEntry | None, list[Fault]]:
    try:
        entry = AnswerEntry.model_validate(raw)
    except ValidationError as error:
        return None, explain(AnswerEntry, error)
    if entry.answer is None and entry.citations:
        found = f"there is no `answer`, but `citations` has {len(entry.citations)}"
        return entry, [Fault("declined-cites", found, "empty `citations`, or give the answer")]
    return entry, []


def _id_faults(identifier: Any, number: int, ids: set[str], lines: dict[str, int]) -> list[Fault]:
    """An id of no question, or one that an earlier line has, whatever else is wrong with either."""
    if not isinstance(identifier, str):
        return []
    if identifier not in ids:
        return [Fault("unknown-id", f"no question has id {show(identifier)}", "answer questions of the question set")]
    if lines.setdefault(identifier, number) != number:
        found = f"question {show(identifier)} is answered on line {lines[identifier]} and again here"
        return [Fault("duplicate-answer", found, "keep one of them")]
    return []


def recorded_answers(
    entries: Mapping[str, AnswerEntry], questions: Sequence[Question], documents: Sequence[Document], store: Store
) -> list[Answer]:
    """The questions' answers, in their order; a question without a line is declined.

    A citation gets the runtime id of the one block that fits all it says (block, page, quote, the quote
    compared as labels are); if none or several do, it has no id and stays unresolved.
    """
    blocks = {document.slug: document.blocks for document in documents}
    block_ids = {slug: store.block_ids(identifier) for slug, identifier in store.document_ids().items()}
    folded = cache(fold)

    def citation(entry: CitationEntry) -> Citation:
        quote = None if entry.quote is None else folded(entry.quote)
        fitting = [
            block.order
            for block in blocks.get(entry.document, ())
            if entry.block in (None, block.order)
            and entry.page in (None, block.page)
            and (quote is None or (quote and quote in folded(block.text)))
        ]
        block_id = block_ids[entry.document][fitting[0]] if len(fitting) == 1 else ""
        return Citation(block_id, _told(entry))

    declined = AnswerEntry(id="")
    found = [entries.get(question.id, declined) for question in questions]
    return [Answer(entry.answer, tuple(map(citation, entry.citations))) for entry in found]


def _told(entry: CitationEntry) -> str:
    block = "" if entry.block is None else f"#{entry.block}"
    page = "" if entry.page is None else f", page {entry.page}"
    quote = "" if entry.quote is None else f": {show(entry.quote)}"
    return f"{entry.document}{block}{page}{quote}"
