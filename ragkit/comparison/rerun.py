"""The same configuration run again: which questions moved, and whether arithmetic explains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragkit.comparison.evaluation import Metrics, ScoredHit, ScoredQuestion
from ragkit.comparison.signflip import TOLERANCE


@dataclass(frozen=True, slots=True)
class Flip:
    """A question that is ranked differently: the first rank where it is, what stood and stands there.

    `gap` is how far a score must have moved for that; `values` has the measures that changed, old and new.
    `was` or `now` is `None` where that ranking is shorter.
    """

    question: str
    rank: int
    was: str | None
    now: str | None
    gap: float
    values: Mapping[str, tuple[float, float]]


def flips(committed: Metrics, again: Metrics) -> list[Flip]:
    """Questions whose ranking or measures differ, in the committed order; both have the same questions."""
    new = {question.id: question for question in again.questions}
    found = []
    for old in committed.questions:
        now = new[old.id]
        before, after = [hit.at for hit in old.hits], [hit.at for hit in now.hits]
        values = {
            name: (value, now.measures[name])
            for name, value in old.measures.items()
            if name in now.measures and abs(value - now.measures[name]) > TOLERANCE
        }
        if before == after and not values:
            continue
        length = max(len(before), len(after))
        rank = next((i for i in range(length) if before[i : i + 1] != after[i : i + 1]), 0)
        found.append(
            Flip(
                question=old.id,
                rank=rank + 1,
                was=before[rank] if rank < len(before) else None,
                now=after[rank] if rank < len(after) else None,
                gap=gap(old, now),
                values=values,
            )
        )
    return found


def gap(old: ScoredQuestion, new: ScoredQuestion) -> float:
    """The least change of scores that turns one ranking into the other.

    A hit in both moved by the difference of its scores. A hit in one only crossed the other's last
    score, or its length when that ranking was not full; how far beyond nobody can tell.

    >>> question = {"id": "q", "question": "?", "type": None, "split": None, "documents": [], "measures": {},
    ...             "bounds": {}, "first_ranks": [], "losses": []}
    >>> a = ScoredQuestion(**question, hits=[{"at": "a#1", "score": 0.9, "covers": []}])
    >>> b = ScoredQuestion(**question, hits=[{"at": "b#1", "score": 0.875, "covers": []}])
    >>> round(gap(a, b), 6)
    0.025
    """
    before, after = _scores(old.hits), _scores(new.hits)
    moved = [abs(before[key] - after[key]) for key in before.keys() & after.keys()]
    for mine, other in ((before, after), (after, before)):
        floor = min(other.values(), default=0.0)
        moved += [max(0.0, score - floor) for key, score in mine.items() if key not in other]
    return max(moved, default=0.0)


def _scores(hits: Sequence[ScoredHit]) -> dict[tuple[str, int], float]:
    """Score of every hit; two chunks of one block share their place, so the n-th there is named too."""
    seen: dict[str, int] = {}
    scores = {}
    for hit in hits:
        seen[hit.at] = seen.get(hit.at, 0) + 1
        scores[hit.at, seen[hit.at]] = hit.score
    return scores
