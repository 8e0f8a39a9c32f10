"""A second look at the first hits of another retriever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragkit.records import Hit, Trace
from ragkit.retrieval.order import ranked

BELOW = 1.0
"""How far the first hit that was not looked at again stands below the last one that was."""


class First(Protocol):
    """The stage before: any retriever."""

    def trace(self, question: str, depth: int) -> Trace: ...


class Reranker(Protocol):
    """Gives hits new scores."""

    def scores(self, question: str, hits: Sequence[Hit]) -> Sequence[float]:
        """A score for each of `hits`, of which there is at least one; a larger one is better."""
        ...


class RerankedRetriever:
    """The first `rerank_k` of what `first` kept, by the scores of `reranker`; the others follow as they were.

    Their scores are moved by a constant to stand below. `candidates` and `kept` are those of `first`, so
    a loss can be laid to the stage that caused it.
    """

    def __init__(self, first: First, reranker: Reranker, rerank_k: int) -> None:
        self._first = first
        self._reranker = reranker
        self._rerank_k = rerank_k

    def search(self, question: str, k: int) -> list[Hit]:
        """The best `k` chunks after reranking."""
        return list(self.trace(question, k).hits[:k])

    def trace(self, question: str, depth: int) -> Trace:
        """Candidates and kept hits of the stage before, and these in the new order."""
        before = self._first.trace(question, depth)
        if not before.kept:
            return before
        head, tail = before.kept[: self._rerank_k], before.kept[self._rerank_k :]
        scored = list(zip((hit.chunk for hit in head), self._reranker.scores(question, head), strict=True))
        if tail:
            down = min(score for _, score in scored) - BELOW - tail[0].score
            scored += [(hit.chunk, hit.score + down) for hit in tail]
        return Trace(before.candidates, before.kept, ranked(scored))
