"""Questions that are, or are nearly, the same question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from ragkit.text import fold

ALIKE = (4, 5)
"""Share of character trigrams (Jaccard), as a fraction, from which two questions count as near-identical."""


def normalised(text: str) -> str:
    """The text without print, case and closing punctuation; what is equal here is the same question."""
    return fold(text).casefold().rstrip(" ?!.\uff1f\uff01\u3002")


def similar_pairs(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs `(i, j)`, i < j, of near-identical texts, sorted.

    Only texts that share one of their rarer trigrams are compared (the prefix filter: two sets with a
    Jaccard of at least t share an element among the rarest `n - ceil(t * n) + 1` of each), so thousands
    of questions take no noticeable time.
    """
    part, whole = ALIKE
    grams = [_trigrams(normalised(text)) for text in texts]
    frequency = Counter(gram for each in grams for gram in each)
    holders: dict[str, list[int]] = defaultdict(list)
    pairs = []
    for j, mine in enumerate(grams):
        needed = -(-part * len(mine) // whole)
        rarest = sorted(mine, key=lambda gram: (frequency[gram], gram))[: len(mine) - needed + 1]
        for i in sorted({i for gram in rarest for i in holders[gram]}):
            shared = len(mine & grams[i])
            if whole * shared >= part * (len(mine) + len(grams[i]) - shared):
                pairs.append((i, j))
        for gram in rarest:
            holders[gram].append(j)
    return sorted(pairs)


def _trigrams(text: str) -> frozenset[str]:
    padded = f" {text} "
    return frozenset(padded[i : i + 3] for i in range(max(1, len(padded) - 2)))
