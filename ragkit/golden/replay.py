"""All cases against their fixtures: the data that both reports are made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from ragkit.golden.cases import Case, queries_sha256, warnings
from ragkit.golden.fixtures import Fixtures
from ragkit.golden.levels import LEVELS, Judged, judge

SCHEMA: Final = "ragkit-golden-1"
NOTICE: Final = "fixture replay, not live accuracy"


def replay(
    cases: Sequence[Case], fixtures: Fixtures, *, cases_sha256: str, k: int, min_coverage: float
) -> dict[str, Any]:
    """Judge every case; the content of the JSON report, which is the same for the same files.

    Recall@k of a case is the share of its expected documents among the first k candidates, its
    reciprocal rank 1 / the first one's; means are over the cases that expect a document.
    """
    judged = [judge(case, fixtures.rankings[case.id], k, min_coverage) for case in cases]
    counts = Counter(each.level for each in judged)
    entries = [_entry(case, found, fixtures) for case, found in zip(cases, judged, strict=True)]
    scored = [entry for entry in entries if entry["expected"]["documents"]]
    return {
        "schema": SCHEMA,
        "notice": NOTICE,
        "k": k,
        "min_coverage": min_coverage,
        "cases_sha256": cases_sha256,
        "fixtures_sha256": fixtures.sha256,
        "provenance": fixtures.provenance,
        "levels": {level: counts[level] for level in LEVELS},
        "documents": {
            "n": len(scored),
            "recall": _mean([entry["recall"] for entry in scored]),
            "mrr": _mean([entry["reciprocal_rank"] for entry in scored]),
        },
        "warnings": [*warnings(cases), *fixtures.notes, *_outdated(cases, fixtures)],
        "cases": entries,
    }


def _outdated(cases: Sequence[Case], fixtures: Fixtures) -> list[str]:
    asked = {each["queries_sha256"] for each in fixtures.provenance if "queries_sha256" in each}
    return (
        ["the fixtures were recorded for other queries: record them again"] if asked - {queries_sha256(cases)} else []
    )


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _entry(case: Case, found: Judged, fixtures: Fixtures) -> dict[str, Any]:
    ranking = fixtures.rankings[case.id]
    return {
        "caseId": case.id,
        "query": case.query,
        "notes": case.notes,
        "level": found.level,
        "document": found.document,
        "breadcrumb": found.breadcrumb,
        "keywords": found.keywords,
        "expected": {
            "documents": list(case.documents),
            "breadcrumbs": [list(each) for each in case.breadcrumbs],
            "keywords": list(case.keywords),
        },
        "documents_found": list(found.documents_found),
        "keywords_found": list(found.keywords_found),
        "first_rank": found.first_rank,
        "breadcrumb_rank": found.breadcrumb_rank,
        "evidence_ranks": list(found.evidence),
        "recall": len(found.documents_found) / len(case.documents) if case.documents else None,
        "reciprocal_rank": (1 / found.first_rank if found.first_rank else 0.0) if case.documents else None,
        "candidates": len(ranking),
        "first": None if not ranking else {"docId": ranking[0].doc_id, "breadcrumb": list(ranking[0].breadcrumb)},
    }
