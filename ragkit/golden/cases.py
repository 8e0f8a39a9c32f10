"""`cases.json`: reading and checking it, every problem at once, with the line on which the case begins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragkit.errors import DataError, Problem
from ragkit.files import canonical_line, read_text, sha256_bytes
from ragkit.interop.shapes import path_levels
from ragkit.names import id_fault
from ragkit.strict import Fault, parse, show
from ragkit.text import fold, nfc

LONGEST_ID: Final = 100
_TEXTS: Final = ("expectedDocIds", "expectedKeywords")
_REQUIRED: Final = {"caseId", "query", "expectedBreadcrumbs", *_TEXTS}


@dataclass(frozen=True, slots=True)
class Case:
    """One golden case. At least one of the three expectations is not empty; no entry of any is."""

    id: str
    query: str
    documents: tuple[str, ...]
    breadcrumbs: tuple[tuple[str, ...], ...]
    keywords: tuple[str, ...]
    notes: str | None = None


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
    if not _surely_fits(raw):
        from ragkit.golden.entry import faults_of  # pydantic takes longer to load than a replay takes

        if wrong := faults_of(raw):
            return None, wrong
    documents = tuple(nfc(each) for each in raw["expectedDocIds"])
    breadcrumbs = tuple(map(levels, raw["expectedBreadcrumbs"]))
    case = Case(raw["caseId"], raw["query"], documents, breadcrumbs, tuple(raw["expectedKeywords"]), raw.get("notes"))
    faults = [
        *_repeated("expectedDocIds", documents),
        *_repeated("expectedBreadcrumbs", [" > ".join(map(comparable, each)) for each in breadcrumbs]),
        *_repeated("expectedKeywords", [comparable(each) for each in case.keywords]),
    ]
    if not (documents or breadcrumbs or case.keywords):
        remedy = "name a document, a breadcrumb or a keyword"
        faults.append(Fault("nothing-expected", f"{case.id} expects nothing, so every result would do", remedy))
    return case, faults


def _surely_fits(raw: Any) -> bool:
    """Whether an entry is as `entry.CaseEntry` wants it. That one decides on all others, and says what is wrong."""
    return (
        isinstance(raw, dict)
        and _REQUIRED <= raw.keys() <= {*_REQUIRED, "notes"}
        and all(isinstance(raw[name], list) for name in ("expectedBreadcrumbs", *_TEXTS))
        and isinstance(raw["caseId"], str)
        and len(raw["caseId"]) <= LONGEST_ID
        and not id_fault(raw["caseId"])
        and all(map(is_visible, [raw["query"], *raw["expectedDocIds"], *raw["expectedKeywords"]]))
        and all(isinstance(path, str | list) and are_levels(levels(path)) for path in raw["expectedBreadcrumbs"])
        and isinstance(raw.get("notes"), str | None)
    )


def is_visible(value: Any) -> bool:
    """Whether it is a text with something to read in it."""
    return isinstance(value, str) and bool(fold(value))


def levels(path: str | list[str]) -> tuple[str, ...]:
    """Those of a breadcrumb, written either way."""
    return path_levels(path) if isinstance(path, str) else tuple(path)


def are_levels(path: Sequence[Any]) -> bool:
    """Whether there is one, and something to read in each."""
    return bool(path) and all(map(is_visible, path))


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
