"""`cases.json`: reading and checking it, every problem at once, with the line on which the case begins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from ragkit.errors import DataError, Problem
from ragkit.files import canonical_line, read_text, sha256_bytes
from ragkit.interop.shapes import path_levels
from ragkit.names import id_fault
from ragkit.strict import Fault, explain, parse, show
from ragkit.text import fold, nfc


@dataclass(frozen=True, slots=True)
class Case:
    """One golden case. At least one of the three expectations is not empty; no entry of any is."""

    id: str
    query: str
    documents: tuple[str, ...]
    breadcrumbs: tuple[tuple[str, ...], ...]
    keywords: tuple[str, ...]
    notes: str | None = None


def _identifier(value: str) -> str:
    if fault := id_fault(value):
        raise PydanticCustomError("bad_id", "{fault}", {"fault": fault})
    return value


def _visible(value: str) -> str:
    if not fold(value):
        raise PydanticCustomError("empty", "has nothing to read in it")
    return value


def _path(value: str | list[str]) -> str | list[str]:
    levels = path_levels(value) if isinstance(value, str) else value
    if not levels or not all(map(fold, levels)):
        raise PydanticCustomError("empty", "has an empty level, or none")
    return value


_Text = Annotated[str, AfterValidator(_visible)]


class CaseEntry(BaseModel):
    """One case: a question and what its results must have. The lists may be empty, but not all three."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    caseId: Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_identifier)] = Field(  # noqa: N815
        description="Unique; letters, digits and . _ : - only."
    )
    query: _Text = Field(description="As a user would type it.")
    expectedDocIds: list[_Text] = Field(description="Any one of them among the first k is enough.")  # noqa: N815
    expectedBreadcrumbs: list[Annotated[str | list[str], AfterValidator(_path)]] = Field(  # noqa: N815
        description="The last levels of the heading path, as a list or as `Chapter > Section`; any one is enough."
    )
    expectedKeywords: list[_Text] = Field(description="Words or phrases that the passages must hold, all of them.")  # noqa: N815
    notes: str | None = Field(None, description="For reviewers.")


def schema() -> dict[str, Any]:
    """The JSON Schema of `cases.json`, for editors."""
    entry = CaseEntry.model_json_schema()
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "cases.json",
        "description": "Golden cases, reviewed by people.",
        "type": "array",
        "minItems": 1,
        "items": entry,
    }


def read_cases(path: Path) -> list[Case]:
    """The cases, in file order; at least one.

    Raises `DataError` with every problem, `FileError` when the file can't be read.
    """
    text = read_text(path)
    value, faults = parse(text)
    problems = [Problem(str(path), fault.line, fault.rule, fault.found, fault.remedy) for fault in faults]
    cases: list[Case] = []
    if isinstance(value, list) and value:
        lines = _lines(text)
        first: dict[str, int] = {}
        for raw, line in zip(value, lines, strict=True):
            case, wrong = _case(raw)
            if isinstance(raw, dict) and isinstance(name := raw.get("caseId"), str):
                if name in first:
                    found = f"{show(name)} stands on line {first[name]} and again here"
                    wrong.append(Fault("duplicate-id", found, "give one of them another id"))
                first.setdefault(name, line)
            problems += [Problem(str(path), line, fault.rule, fault.found, fault.remedy) for fault in wrong]
            cases += [case] if case else []
    elif not problems:
        problems.append(Problem(str(path), 0, "no-cases", f"a list of cases is expected, found {show(value)}"))
    if problems:
        raise DataError(problems)
    return cases


def _lines(text: str) -> list[int]:
    """The line on which each element of a JSON list begins."""
    decoder = json.JSONDecoder()
    lines: list[int] = []
    at = text.index("[") + 1
    while True:
        while text[at] in " \t\r\n,":
            at += 1
        if text[at] == "]":
            return lines
        lines.append(text.count("\n", 0, at) + 1)
        _, at = decoder.raw_decode(text, at)


def _case(raw: Any) -> tuple[Case | None, list[Fault]]:
    try:
        entry = CaseEntry.model_validate(raw)
    except ValidationError as error:
        return None, explain(CaseEntry, error)
    breadcrumbs = tuple(
        path_levels(each) if isinstance(each, str) else tuple(each) for each in entry.expectedBreadcrumbs
    )
    documents = tuple(nfc(each) for each in entry.expectedDocIds)
    case = Case(entry.caseId, entry.query, documents, breadcrumbs, tuple(entry.expectedKeywords), entry.notes)
    faults = [
        *_repeated("expectedDocIds", documents),
        *_repeated("expectedBreadcrumbs", [" > ".join(map(comparable, each)) for each in breadcrumbs]),
        *_repeated("expectedKeywords", [comparable(each) for each in case.keywords]),
    ]
    if not (documents or breadcrumbs or case.keywords):
        remedy = "name a document, a breadcrumb or a keyword"
        faults.append(Fault("nothing-expected", f"{case.id} expects nothing, so every result would do", remedy))
    return case, faults


def comparable(text: str) -> str:
    """How keywords and headings are compared: presentation folded, case folded."""
    return fold(text).casefold()


def _repeated(name: str, values: Sequence[str]) -> list[Fault]:
    again = sorted({value for number, value in enumerate(values) if value in values[:number]})
    return [Fault("duplicate", f"`{name}` has {show(value)} twice", "keep one of them") for value in again]


def queries_sha256(cases: Sequence[Case]) -> str:
    """Of what a system was asked: a recording of other queries is no recording of these cases."""
    return sha256_bytes("".join(canonical_line([case.id, case.query]) for case in cases).encode())


def warnings(cases: Sequence[Case]) -> list[str]:
    """What makes a case weaker than its author may think."""
    return [
        f"{case.id}: can't reach strong: expects {'no document' if not case.documents else 'neither breadcrumb nor keyword'}"
        for case in cases
        if not case.documents or not (case.breadcrumbs or case.keywords)
    ]
