"""From a question to ranked chunks.

A strategy is a class with the two methods of `Retriever` in a module of its own, built by its entry
in `_BUILDERS`. A stage that reranks is a `Retriever` too: it holds the one before it, asks that for a
`trace`, and gives its own order as `hits`, leaving `candidates` and `kept` as they are; so a loss can be
laid to the stage that caused it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from ragkit.config import RetrievalConfig
from ragkit.embedding import Encoder
from ragkit.records import Hit, Trace
from ragkit.retrieval.dense import DenseRetriever
from ragkit.store import Store


class Retriever(Protocol):
    """What an application's search has to offer."""

    def search(self, question: str, k: int) -> list[Hit]:
        """At most `k` chunks, best first, ranks from 1; always `trace(question, depth).hits[:k]` for depth >= k."""

    def trace(self, question: str, depth: int) -> Trace:
        """The ranking after every stage; at least the best `depth` of the corpus are candidates."""


_BUILDERS: dict[str, Callable[[Any, Store, Encoder], Retriever]] = {
    "dense": lambda config, store, encoder: DenseRetriever(store, encoder, config.candidate_k, config.threshold),
}


def build_retriever(config: RetrievalConfig, store: Store, encoder: Encoder) -> Retriever:
    """The retriever of ragkit's own that a configuration describes, over a filled store."""
    return _BUILDERS[config.strategy](config, store, encoder)


def search_documents(retriever: Retriever, question: str, k: int) -> list[Hit]:
    """The first hit of each of the best `k` documents, ranks from 1; fewer if the corpus has no more.

    Looks deeper, twice as deep each time, until `k` documents are found or nothing is left that passes
    the threshold.
    """
    depth = k
    while True:
        hits = retriever.trace(question, depth).hits
        first: dict[str, Hit] = {}
        for hit in hits:
            first.setdefault(hit.chunk.slug, hit)
        if len(first) >= k or len(hits) < depth:
            return [replace(hit, rank=rank) for rank, hit in enumerate(list(first.values())[:k], 1)]
        depth = 2 * max(depth, len(hits))
