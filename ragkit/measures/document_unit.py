"""Whole documents as the unit that is ranked and judged, as in TREC and BEIR."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragkit.records import Hit, Judgment


def collapse(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The first hit of each document, in order, ranked anew from 1."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.chunk.slug, hit)
    return tuple(Hit(hit.chunk, hit.score, rank) for rank, hit in enumerate(first.values(), start=1))


def document_grades(judgments: Sequence[Judgment]) -> dict[str, int]:
    """The judged documents in label order, each with the largest grade of its judgments.

    Groups do not count here: two alternatives in two documents are two relevant documents, as any
    reader of the exported judgments sees them.
    """
    grades: dict[str, int] = {}
    for judgment in judgments:
        grades[judgment.document] = max(judgment.grade, grades.get(judgment.document, 0))
    return grades
