"""Exact nearest neighbours by cosine: the store (ties closed, chunks read), vec0 as it is, and a numpy product.

The product alone is what memory bandwidth allows; it finds the same chunks, and so does vec0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from frame import Bar, Section, faster, rows
from numpy.typing import NDArray
from timing import alternate

from ragkit.records import Block, Chunk, Document, Span
from ragkit.store import Store, database

DIMENSION = 384
QUESTIONS = 5

Vector = NDArray[np.float32]


def unit_vectors(count: int, seed: int) -> NDArray[np.float32]:
    """(count, DIMENSION), rows of length 1 in random directions."""
    found = np.random.default_rng(seed).standard_normal((count, DIMENSION), dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def fill(store: Store, vectors: NDArray[np.float32], size: int = 100) -> None:
    """Documents of `size` chunks of 400 characters each, in the order of the vectors."""
    text = "word " * 80
    for first in range(0, len(vectors), size):
        own = vectors[first : first + size]
        slug = f"{first:09}.txt"
        places = [(n, n * 402, n * 402 + 400) for n in range(len(own))]
        blocks = tuple(Block(n, "paragraph", None, (), text, start, end) for n, start, end in places)
        chunks = [Chunk(slug, n, start, end, text, (Span(n, start, end),)) for n, start, end in places]
        store.add(Document(slug, "text", slug, "\n\n".join([text] * len(own)), blocks, None, ""), chunks, own)


def by_store(store: Store, question: Vector, k: int) -> list[int]:
    return [int(hit.chunk.slug[:9]) + hit.chunk.index for hit in store.nearest(question, k)]


def by_product(vectors: NDArray[np.float32], question: Vector, k: int) -> list[int]:
    scores = vectors @ question
    best = np.argpartition(-scores, k)[:k]
    return [int(at) for at in best[np.argsort(-scores[best], kind="stable")]]


def plain_vec0(vectors: NDArray[np.float32]) -> Callable[[Vector, int], list[int]]:
    """A search in a vec0 table of its own, float32 with the cosine metric."""
    connection = database.create(None, DIMENSION)
    with connection:
        connection.execute(
            f"create virtual table plain using vec0(embedding float[{DIMENSION}] distance_metric=cosine)"
        )
        connection.executemany(
            "insert into plain (rowid, embedding) values (?, ?)",
            ((number, vector.tobytes()) for number, vector in enumerate(vectors, 1)),
        )

    def search(question: Vector, k: int) -> list[int]:
        found = connection.execute("select rowid from plain where embedding match ? and k = ?", (question.tobytes(), k))
        return [number - 1 for (number,) in found]

    return search


def measure(quick: bool) -> Section:
    count = 1_000 if quick else 100_000
    vectors, questions = unit_vectors(count, seed=1), unit_vectors(QUESTIONS, seed=2)
    found = []
    with Store(None, DIMENSION) as store:
        fill(store, vectors)
        searches = {
            "ragkit": partial(by_store, store),
            "numpy product": partial(by_product, vectors),
            "sqlite-vec, float cosine": plain_vec0(vectors),
        }
        for k in (10, 100):

            def each(search: Callable[[Vector, int], list[int]], k: int = k) -> list[list[int]]:
                return [search(question, k) for question in questions]

            exact = each(searches["numpy product"])
            ours = each(searches["ragkit"])
            recall = sum(len(set(own) & set(true)) for own, true in zip(ours, exact, strict=True)) / (QUESTIONS * k)
            same = all(each(search) == exact for search in searches.values())
            measured = alternate({name: partial(each, search) for name, search in searches.items()})
            found += rows(
                f"{k} nearest of {count:,} x {DIMENSION}",
                measured,
                ours=["ragkit"],
                peers=["numpy product", "sqlite-vec, float cosine"],
                amount=QUESTIONS,
                unit="questions",
                checked="same chunks in the same order" if same else "chunks differ",
                bars=[
                    faster(measured, "ragkit", ["numpy product"], 0.5, "numpy"),
                    Bar("recall", recall, 1.0, at_least=True),
                ],
            )
    return Section("Search", found, ("numpy", "sqlite-vec", "apsw"))
