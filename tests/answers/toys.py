"""A made-up encoder whose vectors are written down, chunks cut by hand, and a filled database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.answers import Answer, Passages
from ragkit.embedding import Spans, TextError
from ragkit.embedding.base import quantised
from ragkit.records import Chunk, Document, Hit, Progress, Role, Span
from ragkit.store import Store


class Written:
    """Vectors by text, made unit length; counts its calls. A text of "too long" can't be embedded."""

    dimension = 3
    threads = 2
    identity = "written"
    description: Mapping[str, Any] = {}

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = vectors
        self.calls: list[tuple[Role, list[str]]] = []

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        self.calls.append((role, list(texts)))
        if "too long" in texts:
            raise TextError(list(texts).index("too long"), "600 tokens, the model reads at most 512")
        found = np.array([self.vectors[text] for text in texts], np.float32).reshape(len(texts), 3)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def encode_parts(
        self, texts: Sequence[str], parts: Sequence[Spans], progress: Progress | None = None
    ) -> tuple[NDArray[np.float32], list[NDArray[np.int8]]]:
        """A part's vector is that of its words alone."""
        self.calls.append(("passage", list(texts)))
        if "too long" in texts:
            raise TextError(list(texts).index("too long"), "600 tokens, the model reads at most 512")
        found = []
        for text, spans in zip(texts, parts, strict=True):
            rows = np.array([self.vectors[text[start:end]] for start, end in spans], np.float64).reshape(-1, 3)
            found.append(quantised(0, rows) if len(rows) else np.empty((0, 3), np.int8))
        return np.tile(np.eye(3, dtype=np.float32)[:1], (len(texts), 1)), found

    def count_tokens(self, text: str, role: Role | None) -> int:
        return len(text.split())

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return []


def chunk_of(document: Document, start: int, end: int, index: int = 0) -> Chunk:
    spans = [
        Span(b.order, max(start, b.start), min(end, b.end)) for b in document.blocks if b.start < end and start < b.end
    ]
    return Chunk(document.slug, index, start, end, document.text[start:end], tuple(spans))


def hits_of(*chunks: Chunk) -> list[Hit]:
    return [Hit(chunk, 1 - rank / 10, rank) for rank, chunk in enumerate(chunks, 1)]


def store_of(
    documents: Sequence[Document],
    chunks: Sequence[Chunk] = (),
    passages: Passages | None = None,
    encoder: Written | None = None,
) -> Store:
    """A database in memory that holds the documents, and of the chunks those that are theirs."""
    store = Store(None, 3)
    for document in documents:
        own = [chunk for chunk in chunks if chunk.slug == document.slug]
        vectors, parts = np.empty((0, 3), np.float32), []
        if passages and encoder:
            vectors, parts = encoder.encode_parts([c.text for c in own], [passages.parts(c) for c in own])
        store.add(document, own, vectors, parts)
    return store


def places(answer: Answer, store: Store) -> list[tuple[str, int]]:
    """Where an answer's citations lead, through the database."""
    return [store.locate_block(citation.block_id) for citation in answer.citations]
