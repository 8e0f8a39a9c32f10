"""BEIR folders: `corpus.jsonl`, `queries.jsonl`, `qrels/*.tsv`; and the plain form of TREC collections.

Files are read line by line, because a corpus may be larger than memory. Whoever reads gives a list for
the problems, so that all of them can be told together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.errors import DataError, FileError, Problem
from ragkit.files import canonical_line
from ragkit.interop import trec
from ragkit.interop.trec import Qrels
from ragkit.strict import parse, show

QRELS_HEADER = "query-id\tcorpus-id\tscore"
_ID = re.compile(r"[^\t\n\r]*\S[^\t\n\r]*")  # a tab or line break would make it two fields or lines of qrels/*.tsv


@dataclass(frozen=True, slots=True)
class Text:
    """A document or a query as its collection has it; `line` is 1-based."""

    id: str
    title: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Collection:
    """Where a collection's parts are, and how its lines are read; `qrels` by the name of their split."""

    documents: Path
    queries: Path
    qrels: Mapping[str, Qrels]
    read: Callable[[Path, list[Problem]], Iterator[Text]]


def open_beir(folder: Path) -> Collection:
    """A BEIR folder. Raises `DataError` with every problem of its parts and its judgments."""
    files = sorted((folder / "qrels").glob("*.tsv"))
    parts = [folder / "corpus.jsonl", folder / "queries.jsonl", *(files or [folder / "qrels" / "test.tsv"])]
    _check_parts(folder, parts)
    problems: list[Problem] = []
    qrels = {path.stem: _read_qrels(path, problems) for path in files}
    if problems:
        raise DataError(problems)
    return Collection(parts[0], parts[1], qrels, read_jsonl)


def open_trec(folder: Path) -> Collection:
    """`collection.tsv` and `queries.tsv` (id, tab, text), `qrels.trec` or `qrels.txt`. Raises as `open_beir`."""
    qrels = next((folder / name for name in ("qrels.trec", "qrels.txt") if (folder / name).exists()), None)
    parts = [folder / "collection.tsv", folder / "queries.tsv", qrels or folder / "qrels.trec"]
    _check_parts(folder, parts)
    return Collection(parts[0], parts[1], {"all": trec.read_qrels(parts[2])}, read_tsv)


def _check_parts(folder: Path, parts: Sequence[Path]) -> None:
    missing = [path.relative_to(folder).as_posix() for path in parts if not path.is_file()]
    if missing:
        remedy = "give the folder that has all parts of the collection"
        raise DataError([Problem(str(folder), 0, "missing-file", f"there is no {name}", remedy) for name in missing])


def read_jsonl(path: Path, problems: list[Problem]) -> Iterator[Text]:
    """Lines `{"_id": ..., "title": ..., "text": ...}`; other keys are not looked at."""
    for number, line in _lines(path, problems):
        value, faults = parse(line)
        problems += [Problem(str(path), number, fault.rule, fault.found, fault.remedy) for fault in faults]
        if faults:
            continue
        fields = value if isinstance(value, dict) else {}
        identifier, title, text = fields.get("_id"), fields.get("title") or "", fields.get("text")
        if not (
            isinstance(identifier, str)
            and _ID.fullmatch(identifier)
            and isinstance(text, str)
            and isinstance(title, str)
        ):
            found = f'a line is {{"_id": "...", "title": "...", "text": "..."}}, found {show(value)}'
            problems.append(Problem(str(path), number, "fields", found))
            continue
        yield Text(identifier, title, text, number)


def read_tsv(path: Path, problems: list[Problem]) -> Iterator[Text]:
    """Lines `id TAB text`, or `id TAB title TAB text`."""
    for number, line in _lines(path, problems):
        identifier, *fields = line.split("\t")
        if not identifier.strip() or len(fields) not in (1, 2):
            problems.append(Problem(str(path), number, "fields", f"a line is id, tab, text; found {show(line)}"))
            continue
        yield Text(identifier, "" if len(fields) == 1 else fields[0], fields[-1], number)


def _lines(path: Path, problems: list[Problem]) -> Iterator[tuple[int, str]]:
    try:
        with path.open("rb") as stream:
            for number, data in enumerate(stream, start=1):
                try:
                    line = data.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    found = f"byte {error.start + 1} of the line is not UTF-8"
                    problems.append(Problem(str(path), number, "not-utf-8", found, "save the file as UTF-8"))
                    continue
                if line.strip():
                    yield number, line
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from error


def _read_qrels(path: Path, problems: list[Problem]) -> Qrels:
    qrels: Qrels = {}
    for number, line in _lines(path, problems):
        fields = line.split("\t")
        if number == 1 and fields[-1].strip() == "score":
            continue
        if len(fields) != 3:
            problems.append(
                Problem(str(path), number, "columns", f"{len(fields)} fields", f"a line is: {QRELS_HEADER}")
            )
            continue
        query, document, grade = fields[0], fields[1], fields[2].strip()
        known = qrels.setdefault(query, {})
        if not re.fullmatch(r"[0-9]{1,9}", grade):
            found = f"{show(grade)} is not a whole number of 0 or more"
            problems.append(Problem(str(path), number, "grade", found, "write 0 for what is not relevant"))
        elif document in known:
            problems.append(Problem(str(path), number, "duplicate", f"query {query} judges {document} again"))
        else:
            known[document] = int(grade)
    return qrels


def beir_line(identifier: str, text: str, title: str | None = None) -> str:
    """A line of `corpus.jsonl` (with a title) or `queries.jsonl`."""
    entry: dict[str, Any] = {"_id": identifier, "text": text}
    return canonical_line(entry if title is None else {**entry, "title": title})


def beir_qrels(judgments: Mapping[str, Mapping[str, int]]) -> str:
    """A `qrels/*.tsv` file."""
    rows = [f"{query}\t{doc}\t{grade}" for query, grades in judgments.items() for doc, grade in grades.items()]
    return "\n".join([QRELS_HEADER, *rows]) + "\n"
