"""Maximal marginal relevance (Carbonell and Goldstein 1998): like the question, unlike what stands above."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding import Encoder
from ragkit.files import DECIMALS
from ragkit.records import Hit
from ragkit.store import Store


class Mmr:
    """Cosines of the embeddings, whatever the first stage scored by; `redundancy` is the weight of unlikeness."""

    def __init__(self, store: Store, encoder: Encoder, redundancy: float) -> None:
        self._store = store
        self._encoder = encoder
        self._redundancy = redundancy

    def scores(self, question: str, hits: Sequence[Hit]) -> list[float]:
        """What each hit was worth when it was chosen, which never rises from one to the next."""
        vectors = self._store.vectors([hit.chunk for hit in hits])
        relevance = _rounded(vectors @ self._encoder.encode([question], "query")[0])
        return marginal(relevance, _rounded(vectors @ vectors.T), self._redundancy)


def marginal(relevance: NDArray[np.float64], between: NDArray[np.float64], redundancy: float) -> list[float]:
    """(1 - redundancy) x relevance - redundancy x similarity to the most similar one chosen before.

    `relevance` is (n,), `between` (n, n). The largest is chosen next, of equals the first; nothing is
    similar to the first choice, whose similarity counts as 0.

    >>> between = np.array([[1, 1, 0.2], [1, 1, 0.2], [0.2, 0.2, 1]])
    >>> marginal(np.array([0.9, 0.9, 0.8]), between, 0.5)
    [0.45, -0.05, 0.3]
    """
    worth = (1 - redundancy) * relevance
    nearest = np.full(len(relevance), -np.inf)
    value, open_ = worth.copy(), np.ones(len(relevance), bool)
    scores = np.empty(len(relevance))
    for _ in relevance:
        chosen = int(np.argmax(np.where(open_, value, -np.inf)))
        scores[chosen], open_[chosen] = value[chosen], False
        nearest = np.maximum(nearest, between[chosen])
        value = worth - redundancy * nearest
    return [float(score) for score in scores.round(DECIMALS)]


def _rounded(cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    """So that equal texts are equals, whatever the order of the sums."""
    return cosines.astype(np.float64).round(DECIMALS)
