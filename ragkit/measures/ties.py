"""What hits of equal score could have done in another order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate
from operator import neg

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
    for place, groups in enumerate(covered):
        for group in groups:
            if best[group] is None:
                first, after = _tied(scores, place)
                count = sum(group in others for others in covered[first:after])
                best[group], worst[group] = first + 1, after - count + 1
    return tuple(best), tuple(worst)


def start_bounds(scores: Sequence[float], lengths: Sequence[int], places: Iterable[int]) -> tuple[list[int], list[int]]:
    """For token budgets: the fewest and the most tokens that can stand before the hits at `places` (0-based).

    A tied hit stands first in its group at best and last at worst. `scores` descend; they and `lengths` are
    those of all hits.

    >>> start_bounds([0.9, 0.8, 0.8], [5, 3, 4], range(3))
    ([0, 5, 5], [0, 9, 8])
    """
    before = list(accumulate(lengths, initial=0))
    groups = [(place, *_tied(scores, place)) for place in places]
    fewest = [before[first] for _, first, _ in groups]
    most = [before[after] - lengths[place] for place, _, after in groups]
    return fewest, most


def _tied(scores: Sequence[float], place: int) -> tuple[int, int]:
    """Where the hits of the same score begin, and where they have ended."""
    score = -scores[place]
    first = bisect_left(scores, score, key=neg)
    return first, bisect_right(scores, score, lo=first, key=neg)
