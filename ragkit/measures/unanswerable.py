"""Whether a system knows what the corpus cannot answer."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

_NO_HIT: Final = float("-inf")


@dataclass(frozen=True, slots=True)
class Declining:
    """The 2 x 2 table: answerable or not, against answered or declined. Counts of questions."""

    answerable_answered: int
    answerable_declined: int
    unanswerable_answered: int
    unanswerable_declined: int


def declining(rows: Iterable[tuple[bool, bool]]) -> Declining:
    """Count (answerable, declined) pairs.

    >>> declining([(True, False), (False, True), (False, True)])
    Declining(answerable_answered=1, answerable_declined=0, unanswerable_answered=0, unanswerable_declined=2)
    """
    pairs = list(rows)
    return Declining(
        answerable_answered=pairs.count((True, False)),
        answerable_declined=pairs.count((True, True)),
        unanswerable_answered=pairs.count((False, False)),
        unanswerable_declined=pairs.count((False, True)),
    )


def auroc(answerable: Sequence[float | None], unanswerable: Sequence[float | None]) -> float | None:
    """The probability that an answerable question's top score beats an unanswerable one's, ties half.

    In [0, 1]; 0.5 tells nothing. A question without any hit (`None`) scores below every other. `None`
    when either group is empty.

    >>> auroc([0.9, 0.8], [0.8, None])
    0.875
    """
    if not answerable or not unanswerable:
        return None
    scored = [(_NO_HIT if score is None else score, True) for score in answerable]
    scored += [(_NO_HIT if score is None else score, False) for score in unanswerable]
    scored.sort()
    wins, below, at = 0.0, 0, 0
    while at < len(scored):
        end = at
        while end < len(scored) and scored[end][0] == scored[at][0]:
            end += 1
        positives = sum(positive for _, positive in scored[at:end])
        negatives = end - at - positives
        wins += positives * (below + negatives / 2)
        below += negatives
        at = end
    return wins / (len(answerable) * len(unanswerable))


@dataclass(frozen=True, slots=True)
class Threshold:
    """Decline below `value`; `balanced_accuracy` is what that gave on the questions it was learned on."""

    value: float
    balanced_accuracy: float


def learn_threshold(answerable: Sequence[float | None], unanswerable: Sequence[float | None]) -> Threshold | None:
    """The threshold of the greatest balanced accuracy: the mean of the share of answerable questions that
    are answered (score >= threshold) and of unanswerable ones that are declined.

    Candidates are 0 (never decline) and the positive midpoints between neighbouring scores; of equals the
    smallest, which declines least. A question without a score is declined at every threshold. `None` when
    either group is empty. Learn on dev only: on the questions it is learned on, the accuracy flatters.

    >>> learn_threshold([0.9, 0.8, 0.6], [0.7, 0.5])
    Threshold(value=0.75, balanced_accuracy=0.8333333333333334)
    """
    if not answerable or not unanswerable:
        return None
    ours, theirs = (sorted(score for score in group if score is not None) for group in (answerable, unanswerable))
    middles = [(low + high) / 2 for low, high in pairwise(sorted({*ours, *theirs}))]

    def right(threshold: float) -> int:
        """Balanced accuracy in whole numbers, so that equals are equal: times 2 x answerable x unanswerable."""
        answered, passed = (
            len(group) - (bisect_left(group, threshold) if threshold else 0) for group in (ours, theirs)
        )
        return answered * len(unanswerable) + (len(unanswerable) - passed) * len(answerable)

    best = max([0.0, *(middle for middle in middles if middle > 0)], key=right)  # the first of equals
    return Threshold(best, right(best) / (2 * len(answerable) * len(unanswerable)))
