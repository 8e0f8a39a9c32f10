"""Chunks that share words with the question, by BM25."""

from __future__ import annotations

from ragkit.records import Hit, Trace
from ragkit.store import Store


class Bm25Retriever:
    """Looks at `candidate_k` chunks, more if asked for more; a chunk without a word of the question is none.

    Makes the index of words, so the store must be filled. The scores know no threshold: they compare
    the chunks of one question only.
    """

    def __init__(self, store: Store, candidate_k: int) -> None:
        store.index_words()
        self._store = store
        self._candidate_k = candidate_k

    def search(self, question: str, k: int) -> list[Hit]:
        """The best `k` chunks that match."""
        return list(self.trace(question, k).hits[:k])

    def trace(self, question: str, depth: int) -> Trace:
        """The same ranking three times: nothing is dropped and nothing reranked."""
        hits = tuple(self._store.matching(question, max(depth, self._candidate_k)))
        return Trace(hits, hits, hits)
