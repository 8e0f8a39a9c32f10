"""`[retrieval]`: one type per strategy, and what reranks."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ragkit.config.section import Section


class _Retrieval(Section):
    """`candidate_k` chunks are looked at, the first `top_k` returned."""

    top_k: int = Field(10, ge=1)
    candidate_k: int = Field(100, ge=1)

    @model_validator(mode="after")
    def _deep_enough(self) -> Self:
        if self.candidate_k < self.top_k:
            raise ValueError("candidate_k must be at least top_k")
        return self


class RerankedRetrieval(_Retrieval):
    """`rerank` orders the first `rerank_k` chunks anew; the others follow as they were.

    `redundancy` is mmr's weight of unlikeness to what stands above against likeness to the question.
    `cross_encoder` is the folder of a model; only the folder's own name is part of the configuration's identity.
    """

    rerank: Literal["none", "maxsim", "mmr", "cross-encoder"] = "none"
    rerank_k: int = Field(50, ge=1)
    redundancy: float = Field(0.3, ge=0.0, le=1.0)
    cross_encoder: str | None = None

    @model_validator(mode="after")
    def _stages(self) -> Self:
        if self.rerank == "none":
            self.refuse('a rerank stage, rerank = "maxsim", "mmr" or "cross-encoder"', "rerank_k")
        elif self.rerank_k > self.candidate_k:
            raise ValueError(f"rerank_k ({self.rerank_k}) must be at most candidate_k ({self.candidate_k})")
        if self.rerank != "mmr":
            self.refuse('rerank = "mmr"', "redundancy")
        if (self.rerank == "cross-encoder") != (self.cross_encoder is not None):
            raise ValueError(
                '`cross_encoder`, the folder of a model, goes with rerank = "cross-encoder", and only with it'
            )
        return self


class DenseRetrieval(RerankedRetrieval):
    """Nearest chunks by cosine similarity of the embeddings, those with a cosine of at least `threshold`."""

    strategy: Literal["dense"]
    threshold: float = Field(0.0, ge=-1.0, le=1.0)


class Bm25Retrieval(RerankedRetrieval):
    """Chunks that share words with the question, by BM25."""

    strategy: Literal["bm25"]


class HybridRetrieval(RerankedRetrieval):
    """Both, each `candidate_k` deep. `threshold` is for the dense list, and applies before it is fused.

    `rrf`: sum of 1 / (`rrf_k` + rank). `weighted`: `dense_weight` of the cosine and the rest of the BM25
    score, each brought to 0 ... 1 within its list.
    """

    strategy: Literal["hybrid"]
    threshold: float = Field(0.0, ge=-1.0, le=1.0)
    fusion: Literal["rrf", "weighted"] = "rrf"
    rrf_k: int = Field(60, ge=1)
    dense_weight: float = Field(0.5, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _fusion(self) -> Self:
        if self.fusion == "rrf":
            self.refuse('fusion = "weighted"', "dense_weight")
        else:
            self.refuse('fusion = "rrf"', "rrf_k")
        return self


class ExternalRetrieval(_Retrieval):
    """Somebody else's retriever: a Python function `module:function`, or `http`, the service at `url`.

    It is asked for `candidate_k` hits. `mapping` is a mapping file that says how to ask and read it.
    `label` tells two versions of one system apart; it is part of the configuration's identity, while
    `url` and `mapping` only say where things are.
    """

    strategy: Literal["external"]
    source: str = Field(pattern=r"^(http|[\w.]+:[\w.]+)$")
    url: str | None = None
    mapping: str | None = None
    label: str = ""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.source == "http") != (self.url is not None):
            raise ValueError('`url` goes with source = "http", and only with it')
        return self


RetrievalConfig = Annotated[
    DenseRetrieval | Bm25Retrieval | HybridRetrieval | ExternalRetrieval, Field(discriminator="strategy")
]
