"""Fixtures: what a system returned for the cases, read from a folder of JSON files.

A file is one case's dump when it is named for it (`pump-curve.json`), else it has all or several:
`{"cases": {"pump-curve": dump, ...}}`, or a list of dumps that each have a `caseId`. Any shape of
`interop.shapes` is a dump. Every case has exactly one fixture, and every fixture a case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragkit.errors import DataError, FileError, Problem
from ragkit.files import canonical_line, read_text, sha256_bytes, sha256_file
from ragkit.golden.cases import Case
from ragkit.interop.shapes import Candidate, Reading, read_candidates
from ragkit.strict import Fault, parse, show

SCHEMA = "ragkit-fixtures-1"
MAPPING = "map.toml"
"""A mapping file of this name in the folder is used unless another one is given."""


@dataclass(slots=True)
class Fixtures:
    """`rankings` by case id, in the order of the cases; `provenance` is what recordings say of themselves."""

    rankings: dict[str, list[Candidate]] = field(default_factory=dict)
    provenance: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class _Dump:
    path: Path
    case: str
    value: Any
    metric: str | None


def read_fixtures(folder: Path, cases: Sequence[Case], mapping: Path | None = None) -> Fixtures:
    """Every case's ranking from a folder, or from one file.

    Raises `DataError` with every problem (unreadable shapes, cases without a fixture or with two,
    fixtures of unknown cases, candidates without a document), `FileError` when a file can't be read.
    """
    files = _files(folder)
    problems: list[Problem] = []
    fixtures = Fixtures()
    mapping, known = _mapping_file(folder, mapping), {case.id for case in cases}
    read = _reader(mapping)
    where: dict[str, Path] = {}
    for path in files:
        for dump in _dumps(path, known, fixtures, problems):
            if dump.case in where:
                found = f"case {show(dump.case)} has a fixture in {where[dump.case].name} already"
                problems.append(Problem(str(path), 0, "duplicate-fixture", found, "keep the one that is current"))
            elif dump.case not in known:
                found, remedy = f"no case has id {show(dump.case)}", "remove the fixture, or add the case"
                problems.append(Problem(str(path), 0, "unknown-case", found, remedy))
            where.setdefault(dump.case, path)
            reading = read(dump.value, dump.metric)
            faults = reading.faults + [_nameless(c) for c in reading.candidates if c.doc_id is None]
            problems += [Problem(str(path), 0, f.rule, f"{dump.case}: {f.found}", f.remedy) for f in faults]
            fixtures.notes += [f"{dump.case}: {note}" for note in reading.notes]
            fixtures.rankings[dump.case] = reading.candidates
    for case in cases:
        if case.id not in where:
            problems.append(Problem(str(folder), 0, "missing-fixture", f"case {case.id} has none", "record it"))
    if problems:
        raise DataError(problems)
    fixtures.rankings = {case.id: fixtures.rankings[case.id] for case in cases}
    fixtures.sha256 = _hash([*files, *([mapping] if mapping else [])])
    fixtures.notes.sort()
    return fixtures


def _reader(mapping: Path | None) -> Callable[[Any, str | None], Reading]:
    if mapping is None:
        return read_candidates
    from ragkit.interop.mapping import load_mapping  # its models take a tenth of the time that a replay takes

    return load_mapping(mapping).read


def _mapping_file(folder: Path, given: Path | None) -> Path | None:
    return given or next((path for path in [folder / MAPPING] if path.is_file()), None)


def _files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    try:
        files = sorted(p for p in folder.iterdir() if p.suffix == ".json" and not p.name.startswith("."))
    except OSError as error:
        raise FileError(f"{folder}: cannot be read: {error.strerror}") from error
    if not files:
        remedy = "save what your system returns there, or use `ragkit record`"
        raise DataError([Problem(str(folder), 0, "no-fixtures", "there is no .json file in it", remedy)])
    return files


def _hash(files: Sequence[Path]) -> str:
    """Of names and contents; not of where the folder is."""
    pairs = sorted((path.name, sha256_file(path)) for path in files)
    return sha256_bytes("".join(map(canonical_line, pairs)).encode())


def _dumps(path: Path, known: set[str], fixtures: Fixtures, problems: list[Problem]) -> Iterator[_Dump]:
    value, faults = parse(read_text(path))
    problems += [Problem(str(path), fault.line, fault.rule, fault.found, fault.remedy) for fault in faults]
    if value is None:
        return
    if path.stem in known:
        claimed = value.get("caseId", path.stem) if isinstance(value, dict) else path.stem
        if claimed != path.stem:
            found, remedy = f"says it is case {show(claimed)}", "name the file for its case"
            problems.append(Problem(str(path), 0, "case-mismatch", found, remedy))
        yield _Dump(path, path.stem, value, None)
    elif isinstance(value, dict) and isinstance(value.get("cases"), dict):
        if isinstance(value.get("provenance"), dict):
            fixtures.provenance.append(value["provenance"])
        metric = value["metric"] if isinstance(value.get("metric"), str) else None
        for case, dump in value["cases"].items():
            yield _Dump(path, case, dump, metric and metric.casefold())
    elif (
        isinstance(value, list)
        and value
        and all(isinstance(d, dict) and isinstance(d.get("caseId"), str) for d in value)
    ):
        for dump in value:
            yield _Dump(path, dump["caseId"], dump, None)
    else:
        found = f"{show(path.stem)} is no case, and there is no `cases` object in it"
        remedy = 'name the file for its case, or write {"cases": {"<caseId>": results, ...}}'
        problems.append(Problem(str(path), 0, "unknown-case", found, remedy))


def _nameless(candidate: Candidate) -> Fault:
    found = f"the candidate of rank {candidate.rank} has no document: {show(candidate.raw)}"
    return Fault("docId", found, "say where its id is in a mapping file (--map)")
