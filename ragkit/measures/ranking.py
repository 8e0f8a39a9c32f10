"""Measures of a ranking: recall, hit rate, reciprocal rank and nDCG.

A ranking is seen as hits that each cover a set of judgments (0-based, in label order). All measures are
functions of the first ranks r_j, the 1-based rank of the first hit that covers judgment j (`None`: no
hit does). Each judgment is credited once, so no measure can exceed 1 however much chunks overlap.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Sequence

from ragkit.errors import UsageError
from ragkit.measures.contract import RANK_CUTOFF

FirstRanks = Sequence[int | None]


def first_ranks(covered: Sequence[Collection[int]], judgments: int) -> tuple[int | None, ...]:
    """r_j of every judgment, given what each hit covers, best hit first.

    >>> first_ranks([{0}, {0, 2}], 3)
    (1, None, 2)
    """
    ranks: list[int | None] = [None] * judgments
    for rank, groups in enumerate(covered, start=1):
        for group in groups:
            if ranks[group] is None:
                ranks[group] = rank
    return tuple(ranks)


def recall(ranks: FirstRanks, k: int, depth: int) -> float:
    """Recall@k: the share of judgments with r_j <= k; in [0, 1].

    The denominator is all judgments, not what a ranking of length k could hold: with two judgments,
    one found first, Recall@1 is 0.5. Raises `UsageError` when k is beyond the retrieval `depth` or
    there are no judgments.

    >>> recall((1, None), 1, depth=10)
    0.5
    """
    _check(ranks, k, depth)
    return sum(r is not None and r <= k for r in ranks) / len(ranks)


def hit_rate(ranks: FirstRanks, k: int, depth: int) -> float:
    """HitRate@k: 1 when any judgment has r_j <= k, else 0. Raises as `recall`, which it is not.

    >>> hit_rate((1, None), 1, depth=10)
    1.0
    """
    _check(ranks, k, depth)
    return float(any(r is not None and r <= k for r in ranks))


def reciprocal_rank(ranks: FirstRanks, depth: int, k: int = RANK_CUTOFF) -> float:
    """1 / min r_j if that is at most k, else 0; in [0, 1]. Raises as `recall`.

    >>> reciprocal_rank((None, 4), depth=10), reciprocal_rank((11,), depth=20)
    (0.25, 0.0)
    """
    _check(ranks, k, depth)
    best = min((r for r in ranks if r is not None), default=k + 1)
    return 1 / best if best <= k else 0.0


def slots(ranks: FirstRanks, grades: Sequence[int], length: int) -> tuple[int | None, ...]:
    """Which judgment each slot 1 ... `length` takes; `None` for an empty one.

    Slot s takes the highest-graded judgment not yet placed with r_j <= s, the first in label order
    among equals. So a hit that covers two judgments fills its own slot and the next free one.

    >>> slots((1, 1, 3), (1, 2, 1), 4)
    (1, 0, 2, None)
    """
    arriving: dict[int, list[int]] = {}
    for judgment, rank in enumerate(ranks):
        if rank is not None:
            arriving.setdefault(rank, []).append(judgment)
    waiting: list[tuple[int, int]] = []
    placed: list[int | None] = []
    for slot in range(1, length + 1):
        for judgment in arriving.get(slot, ()):
            heapq.heappush(waiting, (-grades[judgment], judgment))
        placed.append(heapq.heappop(waiting)[1] if waiting else None)
    return tuple(placed)


def ndcg(ranks: FirstRanks, grades: Sequence[int], depth: int, k: int = RANK_CUTOFF) -> float:
    """nDCG@k: sum over slots of grade / log2(slot + 1), divided by that of the ideal; in [0, 1].

    The ideal has all judgments in slots by grade, cut at k. A better rank of any judgment never lowers
    it. Gains are the grades themselves; sums run in slot order, which makes them bit-identical to
    trec_eval's `ndcg_cut`. Raises as `recall`. (Jarvelin and Kekalainen 2002, linear gain.)

    >>> ndcg((1, 1), (1, 1), depth=10)  # one hit covers both
    1.0
    >>> round(ndcg((1, 3), (1, 1), depth=10), 4)  # [A], [A], [B]
    0.9197
    """
    _check(ranks, k, depth)
    gained = [0 if judgment is None else grades[judgment] for judgment in slots(ranks, grades, k)]
    return _dcg(gained) / _dcg(sorted(grades, reverse=True)[:k])


def _dcg(gains: Sequence[int]) -> float:
    total = 0.0
    for slot, gain in enumerate(gains, start=1):  # in order, not fsum: trec_eval's bits
        total += gain / math.log2(slot + 1)
    return total


def _check(ranks: FirstRanks, k: int, depth: int) -> None:
    if not ranks:
        raise UsageError("a question without judgments has no score: it belongs to its own group")
    if not 1 <= k <= depth:
        raise UsageError(f"cut-off {k}: must be from 1 to the retrieval depth, {depth}: retrieve deeper")
