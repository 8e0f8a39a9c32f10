"""What hits of equal score could have done in another order."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

RankBounds = tuple[tuple[int | None, ...], tuple[int | None, ...]]


def rank_bounds(scores: Sequence[float], covered: Sequence[Collection[int]], judgments: int) -> RankBounds:
    """The best and the worst first rank of each judgment over all orders of tied hits.

    Behind a hits, a tie group of size t with c covering members gives a rank between a + 1 and
    a + t - c + 1. `scores` descend; give the whole ranking, not only the part above a cut-off, or a
    group that the cut-off splits looks smaller than it is. Each judgment is bounded alone, so measures
    computed from all best (all worst) ranks together are bounds, not always attained.

    >>> rank_bounds([0.9, 0.8, 0.8, 0.8], [(), (0,), (), (0,)], 1)
    ((2,), (3,))
    """
    best: list[int | None] = [None] * judgments
    worst: list[int | None] = [None] * judgments
    before = 0
    for _, members in groupby(zip(scores, covered, strict=True), key=lambda hit: hit[0]):
        counts: dict[int, int] = {}
        size = 0
        for _, groups in members:
            size += 1
            for group in groups:
                counts[group] = counts.get(group, 0) + 1
        for group, count in counts.items():
            if best[group] is None:
                best[group], worst[group] = before + 1, before + size - count + 1
        before += size
    return tuple(best), tuple(worst)


def start_bounds(scores: Sequence[float], lengths: Sequence[int]) -> tuple[list[int], list[int]]:
    """For token budgets: the fewest and the most tokens that can stand before each hit.

    A tied hit stands first in its group at best and last at worst.

    >>> start_bounds([0.9, 0.8, 0.8], [5, 3, 4])
    ([0, 5, 5], [0, 9, 8])
    """
    fewest: list[int] = []
    most: list[int] = []
    before = 0
    for _, members in groupby(zip(scores, lengths, strict=True), key=lambda hit: hit[0]):
        sizes = [length for _, length in members]
        fewest += [before] * len(sizes)
        most += [before + sum(sizes) - size for size in sizes]
        before += sum(sizes)
    return fewest, most
