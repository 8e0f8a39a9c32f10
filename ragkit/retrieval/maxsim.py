"""Late interaction (Khattab and Zaharia 2020): every token of the question looks for its nearest in the chunk."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding import Encoder
from ragkit.records import Hit, Progress
from ragkit.store import Store

_BATCH = 256
"""Chunks whose tokens are embedded at a time: some 100 KB each as they leave the model."""


class MaxSim:
    """The mean, over the question's tokens, of the greatest cosine with a token of the chunk.

    Makes the index of tokens, so the store must be filled; give a cached `encoder`. The vectors are
    int8 and their products exact, so the scores are the same bits wherever the vectors are.
    """

    def __init__(self, store: Store, encoder: Encoder, progress: Progress | None = None) -> None:
        self._store = store
        self._encoder = encoder
        chunks = store.chunks()
        for start in range(0, len(chunks), _BATCH):
            batch = chunks[start : start + _BATCH]
            texts = [chunk.embedded_text for chunk in batch]
            store.index_tokens(batch, encoder.encode_tokens(texts, "passage", progress))

    def scores(self, question: str, hits: Sequence[Hit]) -> list[float]:
        """In [-1, 1]. One matrix product for all hits."""
        [asked] = self._encoder.encode_tokens([question], "query")
        return max_sim(asked, self._store.tokens([hit.chunk for hit in hits]))


def max_sim(asked: NDArray[np.int8], passages: Sequence[NDArray[np.int8]]) -> list[float]:
    """The score of each passage, (its tokens, dimension), for a question, (its tokens, dimension).

    >>> max_sim(np.array([[127, 0], [0, 127]], np.int8), [np.array([[127, 0]], np.int8)])
    [0.5]
    """
    starts = np.cumsum([0, *(len(passage) for passage in passages[:-1])])
    rows, columns = np.concatenate(passages).astype(np.float32), asked.astype(np.float32)
    # Whole numbers below 2**24 up to here, so no order of summing rounds anything.
    products = (rows @ columns.T).astype(np.float64)
    cosines = products / _lengths(rows)[:, None] / _lengths(columns)
    best = np.maximum.reduceat(cosines, starts, axis=0)
    return [math.fsum(row) / len(asked) for row in best.tolist()]


def _lengths(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    squares: NDArray[np.float32] = np.einsum("ij,ij->i", rows, rows)
    return np.sqrt(squares.astype(np.float64))
