"""From a question to ranked chunks.

A strategy is a class with the two methods of `Retriever` in a module of its own. A stage that reranks is
a `Retriever` too (`rerank`): it holds the one before it, asks that for a `trace`, and gives its own order
as `hits`, leaving `candidates` and `kept` as they are; so a loss can be laid to the stage that caused it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ragkit.config import Bm25Retrieval, DenseRetrieval, HybridRetrieval, RetrievalConfig
from ragkit.embedding import Encoder
from ragkit.records import Hit, Progress, Trace
from ragkit.retrieval.bm25 import Bm25Retriever
from ragkit.retrieval.cross_encoder import CrossEncoderReranker
from ragkit.retrieval.dense import DenseRetriever
from ragkit.retrieval.hybrid import HybridRetriever, reciprocal_rank, weighted
from ragkit.retrieval.maxsim import MaxSim
from ragkit.retrieval.mmr import Mmr
from ragkit.retrieval.rerank import RerankedRetriever
from ragkit.store import Store


class Retriever(Protocol):
    """What an application's search has to offer."""

    def search(self, question: str, k: int) -> list[Hit]:
        """At most `k` chunks, best first, ranks from 1; always `trace(question, depth).hits[:k]` for depth >= k."""

    def trace(self, question: str, depth: int) -> Trace:
        """The ranking after every stage; the best `depth` of the corpus are candidates, if the strategy finds so many."""


OwnRetrieval = DenseRetrieval | Bm25Retrieval | HybridRetrieval
"""The strategies that search the store."""


def build_retriever(
    config: OwnRetrieval, store: Store, encoder: Encoder, progress: Progress | None = None
) -> Retriever:
    """The retriever that a configuration describes, over a filled store, to which it adds what it needs.

    `encoder` should be cached; `progress` counts chunks whose tokens are embedded, if any are. Raises
    `ModelError` for a reranker's model.
    """
    first = _first_stage(config, store, encoder)
    if config.rerank == "maxsim":
        return RerankedRetriever(first, MaxSim(store, encoder, progress), config.rerank_k)
    if config.rerank == "mmr":
        return RerankedRetriever(first, Mmr(store, encoder, config.redundancy), config.rerank_k)
    if config.rerank == "cross-encoder":
        return RerankedRetriever(first, CrossEncoderReranker(Path(config.cross_encoder or "")), config.rerank_k)
    return first


def _first_stage(config: OwnRetrieval, store: Store, encoder: Encoder) -> Retriever:
    if isinstance(config, Bm25Retrieval):
        return Bm25Retriever(store, config.candidate_k)
    dense = DenseRetriever(store, encoder, config.candidate_k, config.threshold)
    if isinstance(config, DenseRetrieval):
        return dense
    fuse = reciprocal_rank(config.rrf_k) if config.fusion == "rrf" else weighted(config.dense_weight)
    return HybridRetriever(dense, Bm25Retriever(store, config.candidate_k), fuse)


def index_bytes(config: RetrievalConfig, store: Store) -> int:
    """How large what the configuration searches is: vectors, words, vectors of tokens; 0 if it isn't ours."""
    unused = {"vectors"} if isinstance(config, Bm25Retrieval) and config.rerank != "mmr" else set()
    return sum(size for part, size in store.index_bytes.items() if part not in unused)


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
