"""Two rankings of the same chunks made into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ragkit.records import Chunk, Hit, Trace
from ragkit.retrieval.bm25 import Bm25Retriever
from ragkit.retrieval.dense import DenseRetriever
from ragkit.retrieval.order import ranked

Fusion = Callable[[Sequence[Hit], Sequence[Hit]], tuple[Hit, ...]]


class HybridRetriever:
    """Dense and BM25, each as deep as it is configured, whatever depth is asked for, fused by `fuse`.

    A deeper list would move the scores of what stands above, so the union of the two is all there is. The
    threshold of the dense list applies before it is fused.
    """

    def __init__(self, dense: DenseRetriever, words: Bm25Retriever, fuse: Fusion) -> None:
        self._dense = dense
        self._words = words
        self._fuse = fuse

    def search(self, question: str, k: int) -> list[Hit]:
        """The best `k` chunks of the fused ranking."""
        return list(self.trace(question, k).hits[:k])

    def trace(self, question: str, depth: int) -> Trace:
        """Candidates: both lists, fused; kept: the same after the threshold; nothing is reranked."""
        dense, words = self._dense.trace(question, 1), self._words.trace(question, 1).hits
        kept = self._fuse(dense.kept, words)
        candidates = kept if dense.kept == dense.candidates else self._fuse(dense.candidates, words)
        return Trace(candidates, kept, kept)


def reciprocal_rank(k: int) -> Fusion:
    """Sum of 1 / (k + rank) over the lists that have a chunk (Cormack, Clarke and Buettcher 2009, k = 60)."""
    return lambda *lists: _summed([[1 / (k + hit.rank) for hit in hits] for hits in lists], lists)


def weighted(weight: float) -> Fusion:
    """`weight` x the first list's score + (1 - weight) x the second's, each list brought to 0 ... 1.

    The lowest of a list becomes 0, as much as a chunk gets that is not in it; a list of equals becomes 1.
    """

    def fuse(first: Sequence[Hit], second: Sequence[Hit]) -> tuple[Hit, ...]:
        parts = [[weight * score for score in _levelled(first)], [(1 - weight) * score for score in _levelled(second)]]
        return _summed(parts, (first, second))

    return fuse


def _levelled(hits: Sequence[Hit]) -> list[float]:
    low, high = (hits[-1].score, hits[0].score) if hits else (0.0, 0.0)
    return [(hit.score - low) / (high - low) if high > low else 1.0 for hit in hits]


def _summed(scores: Sequence[Sequence[float]], lists: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    sums: dict[tuple[str, int], tuple[Chunk, float]] = {}
    for own, hits in zip(scores, lists, strict=True):
        for score, hit in zip(own, hits, strict=True):
            place = hit.chunk.slug, hit.chunk.index
            sums[place] = hit.chunk, sums.get(place, (hit.chunk, 0.0))[1] + score
    return ranked(sums.values())
