"""The search reads vec0's blobs itself: it must find what comparing every pair finds, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragkit.chunking.spans import chunks_of
from ragkit.embedding.hashing import HashingEncoder
from ragkit.errors import FileError
from ragkit.store import Store, database
from tests.conftest import build_document

Vectors = NDArray[np.float32]
Place = tuple[str, int]  # slug and start


def random_units(count: int, dimension: int, seed: int) -> Vectors:
    rows = np.random.default_rng(seed).standard_normal((count, dimension), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def put(store: Store, slug: str, vectors: Vectors) -> list[Place]:
    """A document with a chunk for each vector; where they are."""
    document = build_document(slug, ["text"] * len(vectors))
    chunks = chunks_of(document, [(block.start, block.end) for block in document.blocks])
    store.add(document, chunks, vectors)
    return [(slug, chunk.start) for chunk in chunks]


def found(store: Store, question: Vectors, k: int) -> list[tuple[float, Place]]:
    return [(hit.score, (hit.chunk.slug, hit.chunk.start)) for hit in store.nearest(question, k)]


def compared(store: Store, places: list[Place], question: Vectors, k: int) -> list[tuple[float, Place]]:
    """All pairs by sqlite-vec's function, sorted; `places` in the order of insertion."""
    rows = store._connection.execute("select vec_distance_cosine(embedding, ?) from vectors", (question.tobytes(),))
    scored = [(1 - distance, place) for (distance,), place in zip(rows, places, strict=True)]
    return sorted(scored, key=lambda each: (-each[0], each[1]))[:k]


@settings(max_examples=30, deadline=None)
@given(
    dimension=st.sampled_from([5, 256, 384]),
    sizes=st.lists(st.sampled_from([1, 2, 40, 255, 256, 257]), min_size=1, max_size=4),
    different=st.sampled_from([1, 2, 30, 1000]),
    unevenness=st.sampled_from([0.0, 9e-4]),
    k=st.sampled_from([1, 2, 10, 100, 256, 257, 2000]),
    seed=st.integers(0, 2**32 - 1),
)
def test_it_finds_what_comparing_all_pairs_finds(
    dimension: int, sizes: list[int], different: int, unevenness: float, k: int, seed: int
) -> None:
    """Few different vectors make ties within and across blocks; lengths differ as far as a store lets them."""
    rng = np.random.default_rng(seed)
    pool = random_units(different, dimension, seed)
    pool *= 1 + unevenness * rng.uniform(-1, 1, (different, 1)).astype(np.float32)
    question = random_units(1, dimension, seed + 1)[0]
    with Store(None, dimension) as store:
        places = []
        vectors = pool[rng.integers(different, size=sum(sizes))]
        for number, own in enumerate(np.split(vectors, np.cumsum(sizes)[:-1])):
            places += put(store, f"{9 - number}.txt", own)
        hits = found(store, question, k)
        assert hits == compared(store, places, question, k)
    exact = vectors.astype(np.float64) @ question / np.linalg.norm(vectors.astype(np.float64), axis=1)
    assert [score for score, _ in hits] == pytest.approx(sorted(exact, reverse=True)[:k], abs=1e-6)


def test_of_two_lengths_the_nearer_direction_wins() -> None:
    """The products are 0.8993 and 0.9002, the cosines 0.9 and 0.8995."""
    cosines, lengths = np.array([[0.9], [0.8995]]), np.array([[0.9992], [1.0008]])
    vectors = (np.hstack([cosines, np.sqrt(1 - cosines**2)]) * lengths).astype(np.float32)
    question = np.array([1, 0], np.float32)
    assert np.argmax(vectors @ question) == 1
    with Store(None, 2) as store:
        nearer, _ = put(store, "a.txt", vectors)
        [(score, place)] = found(store, question, 1)
    assert place == nearer
    assert score == pytest.approx(0.9, abs=1e-6)


def test_vec0_finds_the_same_to_the_bit() -> None:
    vectors, question = random_units(700, 384, 1), random_units(1, 384, 2)[0]
    with Store(None, 384) as store:
        places = put(store, "a.txt", vectors)
        rows = store._connection.execute(
            "select rowid, distance from vectors where embedding match ? and k = 100", (question.tobytes(),)
        )
        by_vec0 = [(1 - distance, places[number - 1]) for number, distance in rows]
        assert found(store, question, 100) == by_vec0


def test_near_duplicates_of_the_hashing_encoder() -> None:
    """Real texts, many of them equal or nearly so: 256 dimensions, most components 0."""
    encoder = HashingEncoder({"query": "query: ", "passage": "passage: "}, 256)
    texts = [f"The pump of model {n % 90} needs oil{'.' * (n % 3)}" for n in range(600)]
    question = encoder.encode(["Which oil does the pump of model 7 need?"], "query")[0]
    with Store(None, 256) as store:
        places = put(store, "a.txt", encoder.encode(texts, "passage"))
        for k in (1, 10, 100, 599):
            assert found(store, question, k) == compared(store, places, question, k)


def test_products_stand_in_the_order_of_the_rows_also_after_a_rollback() -> None:
    """The disk is full when the third block of 256 is wanted; what goes in later takes the places of what failed."""
    first, failed, second = random_units(200, 384, 1), random_units(400, 384, 2), random_units(100, 384, 3)
    question = random_units(1, 384, 4)[0]
    with Store(None, 384) as store:
        put(store, "a.txt", first)
        [(pages,)] = store._connection.execute("pragma page_count")
        store._connection.execute(f"pragma max_page_count = {pages + 8}")  # 6 to a block
        with pytest.raises(FileError, match="new vector chunk"):
            put(store, "b.txt", failed)
        store._connection.execute(f"pragma max_page_count = {pages + 1000}")
        put(store, "c.txt", second)
        products = database.products(store._connection, question)
        assert database.vectors(store._connection, 384) @ question == pytest.approx(products, abs=1e-6)
    assert products[:300] == pytest.approx(np.vstack([first, second]) @ question, abs=1e-6)
    assert len(products) == 512
    assert not products[300:].any()


def test_an_index_too_large_for_memory_is_read_for_every_question(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, question = random_units(600, 384, 1), random_units(1, 384, 2)[0]
    with Store(None, 384) as store:
        put(store, "a.txt", vectors[:400])
        kept = store.nearest(question, 20)
        put(store, "b.txt", vectors[400:])
        grown = store.nearest(question, 20)
        assert kept != grown  # what was kept of the first document alone is forgotten
        monkeypatch.setattr("ragkit.store.store._IN_MEMORY", 0)
        put(store, "c.txt", vectors[:1])
        again = [(hit.chunk, hit.score) for hit in store.nearest(question, 30) if hit.chunk.slug != "c.txt"]
        assert again[:20] == [(hit.chunk, hit.score) for hit in grown]


def test_a_file_of_several_blocks_serves_like_memory(tmp_path: Path) -> None:
    vectors, question = random_units(600, 384, 1), random_units(1, 384, 2)[0]
    with Store(None, 384) as memory, Store(tmp_path / "run.db", 384) as on_disk:
        for store in (memory, on_disk):
            put(store, "a.txt", vectors)
        assert on_disk.nearest(question, 300) == memory.nearest(question, 300)
