"""Whether an answer cites what was judged relevant. Pure sets; a citation is a (document, block) pair."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass

from ragkit.errors import UsageError


@dataclass(frozen=True, slots=True)
class CitationScore:
    """One answer's citations against the judged blocks; every number is in [0, 1].

    `precision`, `resolution` are `None` for an answer that cites nothing: such answers are counted, not
    averaged. `all_judged`: what resolves is not empty and every resolved citation is a judged block.
    """

    cited: int
    precision: float | None
    recall: float
    f1: float
    resolution: float | None
    all_judged: bool


def score_citations(
    cited: Collection[Hashable], judged: Collection[Hashable], resolved: Collection[Hashable]
) -> CitationScore:
    """Score the distinct citations C of one answer against the judged blocks G.

    precision |C and G| / |C|, recall |C and G| / |G|, F1 = 2 |C and G| / (|C| + |G|), resolution the
    share of C that is in `resolved`, the citations that exist. An unresolved citation stays in C, so
    inventing sources costs precision. Raises `UsageError` when nothing is judged.
    """
    c, g = set(cited), set(judged)
    if not g:
        raise UsageError("a question without judgments has no citation score: it belongs to its own group")
    existing = c & set(resolved)
    right = len(c & g)
    return CitationScore(
        cited=len(c),
        precision=right / len(c) if c else None,
        recall=right / len(g),
        f1=2 * right / (len(c) + len(g)),
        resolution=len(existing) / len(c) if c else None,
        all_judged=bool(existing) and existing <= g,
    )
