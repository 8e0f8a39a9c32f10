"""A retriever's answers to the golden cases, as a fixture file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ragkit.errors import DataError, Problem
from ragkit.files import canonical_json, write_atomic
from ragkit.golden.cases import Case, queries_sha256
from ragkit.golden.fixtures import SCHEMA
from ragkit.interop.shapes import Reading
from ragkit.records import Progress


def record(
    path: Path,
    cases: Sequence[Case],
    ask: Callable[[str, int], Reading],
    *,
    k: int,
    provenance: dict[str, Any],
    progress: Progress,
) -> None:
    """Ask every case's query for `k` candidates and write them to `path`, all cases or nothing.

    Only the candidates' known fields are kept, so nothing else that a service sends gets into a
    repository. Raises `DataError` with every answer that can't be read, `FileError`, and what `ask` does.
    """
    answers: dict[str, list[dict[str, Any]]] = {}
    problems = []
    for case in cases:
        reading = ask(case.query, k)
        problems += [Problem(case.id, 0, fault.rule, fault.found, fault.remedy) for fault in reading.faults]
        answers[case.id] = [
            {
                "docId": candidate.doc_id,
                "breadcrumb": list(candidate.breadcrumb),
                "text": candidate.text,
                "score": candidate.score,
                "rank": candidate.rank,
                **({"page": candidate.page} if candidate.page else {}),
            }
            for candidate in reading.candidates[:k]
        ]
        problems += [
            Problem(case.id, 0, "docId", f"the candidate of rank {hit['rank']} has no document", "map `docId`")
            for hit in answers[case.id]
            if hit["docId"] is None
        ]
        progress(1)
    if problems:
        raise DataError(problems)
    provenance = {**provenance, "tool": "ragkit record", "k": k, "queries_sha256": queries_sha256(cases)}
    write_atomic(path, canonical_json({"schema": SCHEMA, "provenance": provenance, "cases": answers}))
