"""Nearest chunks by the cosine of their embeddings to the question's."""

from __future__ import annotations

from ragkit.embedding import Encoder
from ragkit.records import Hit, Trace
from ragkit.store import Store


class DenseRetriever:
    """Looks at `candidate_k` chunks (more if asked for more), keeps those with cosine >= `threshold`.

    The threshold comes before the cut at k. Raises what encoder and store raise: `EncodingError` for a
    question that is too long, `FileError` for a database that fails.
    """

    def __init__(self, store: Store, encoder: Encoder, candidate_k: int, threshold: float) -> None:
        self._store = store
        self._encoder = encoder
        self._candidate_k = candidate_k
        self._threshold = threshold

    def search(self, question: str, k: int) -> list[Hit]:
        """The best `k` chunks at or above the threshold."""
        return list(self.trace(question, k).hits[:k])

    def trace(self, question: str, depth: int) -> Trace:
        """Candidates, those of them above the threshold, and these again as hits: nothing reranks them."""
        vector = self._encoder.encode([question], "query")[0]
        candidates = tuple(self._store.nearest(vector, max(depth, self._candidate_k)))
        kept = tuple(hit for hit in candidates if hit.score >= self._threshold)
        return Trace(candidates, kept, kept)
