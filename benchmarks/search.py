"""Exact nearest neighbours by cosine: the store (vec0, ties closed, chunks read) and a numpy product.

    python benchmarks/search.py [CHUNKS [DIMENSION]]      # default: 10,000 x 384

The product alone is what memory bandwidth allows. Checks first that both find the same chunks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import numpy as np
import timing
from numpy.typing import NDArray

from ragkit.records import Block, Chunk, Document, Span
from ragkit.store import Store

QUESTIONS = 5


def unit_vectors(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fill(store: Store, vectors: NDArray[np.float32], size: int = 100) -> None:
    """Documents of `size` chunks of 400 characters each, in the order of the vectors."""
    text = "word " * 80
    for first in range(0, len(vectors), size):
        rows = vectors[first : first + size]
        slug = f"{first:09}.txt"
        places = [(n, n * 402, n * 402 + 400) for n in range(len(rows))]
        blocks = tuple(Block(n, "paragraph", None, (), text, start, end) for n, start, end in places)
        chunks = [Chunk(slug, n, start, end, text, (Span(n, start, end),)) for n, start, end in places]
        store.add(Document(slug, "text", slug, "\n\n".join([text] * len(rows)), blocks, None, ""), chunks, rows)


def by_product(vectors: NDArray[np.float32], question: NDArray[np.float32], k: int) -> list[int]:
    scores = vectors @ question
    best = np.argpartition(-scores, k)[:k]
    return [int(at) for at in best[np.argsort(-scores[best], kind="stable")]]


def main(count: int = 10_000, dimension: int = 384) -> None:
    vectors = unit_vectors(count, dimension, seed=1)
    questions = unit_vectors(QUESTIONS, dimension, seed=2)
    with Store(None, dimension) as store:
        fill(store, vectors)
        for k in (10, 100):
            same = all(
                [int(hit.chunk.slug[:9]) + hit.chunk.index for hit in store.nearest(question, k)]
                == by_product(vectors, question, k)
                for question in questions
            )

            def each(search: Callable[[NDArray[np.float32], int], object], k: int = k) -> None:
                for question in questions:
                    search(question, k)

            seconds = timing.alternate(
                {
                    "ragkit store": partial(each, store.nearest),
                    "numpy product": partial(each, partial(by_product, vectors)),
                }
            )
            title = f"{k} nearest of {count:,} x {dimension}; same chunks: {'yes' if same else 'no'}"
            timing.show(title, timing.rows(seconds, QUESTIONS, "questions"))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
