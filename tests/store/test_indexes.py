"""The indexes that a strategy adds to a filled store: words, and vectors of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from ragkit.chunking.spans import chunks_of
from ragkit.embedding.hashing import HashingEncoder
from ragkit.records import Document
from ragkit.store import Store

Make = Callable[..., Document]
ENCODER = HashingEncoder({"query": "query: ", "passage": "passage: "}, 16)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(None, 16) as store:
        yield store


def put(store: Store, document: Document, context: str = "") -> None:
    """A chunk for each block."""
    chunks = [
        replace(chunk, context=context) for chunk in chunks_of(document, [(b.start, b.end) for b in document.blocks])
    ]
    store.add(document, chunks, ENCODER.encode([chunk.embedded_text for chunk in chunks], "passage"))


def found(store: Store, question: str, k: int = 10) -> list[str]:
    return [hit.chunk.text for hit in store.matching(question, k)]


def test_rarer_words_and_shorter_chunks_weigh_more(store: Store, make_document: Make) -> None:
    put(store, make_document("a.md", ["pump oil", "pump seal", "pump seal and more words", "lid", "lid", "lid", "lid"]))
    store.index_words()
    assert found(store, "pump seal") == ["pump seal", "pump seal and more words", "pump oil"]
    assert all(hit.score > 0 for hit in store.matching("pump seal", 9))


def test_words_without_spaces_are_found_in_the_middle(store: Store, make_document: Make) -> None:
    put(store, make_document("a.md", ["先关闭阀门再打开盖子", "ポンプの電源を切る", "水"]))
    store.index_words()
    assert found(store, "阀门在哪里") == ["先关闭阀门再打开盖子"]
    assert found(store, "電源") == ["ポンプの電源を切る"]
    assert found(store, "水") == ["水"]


def test_accents_case_and_hyphens_of_print_do_not_matter(store: Store, make_document: Make) -> None:
    put(store, make_document("a.md", ["Der Schlüssel", "the inter-\nval"]))
    store.index_words()
    assert found(store, "SCHLUSSEL") == ["Der Schlüssel"]
    assert found(store, "interval") == ["the inter-\nval"]


@pytest.mark.parametrize(
    "question", ["", "?!", '"', "a AND (", "NEAR(a b)", "c++", "don't", "state-of *", "terms:a", "\0"]
)
def test_no_question_is_a_syntax_error(store: Store, make_document: Make, question: str) -> None:
    put(store, make_document("a.md", ["zebra"]))
    store.index_words()
    assert found(store, question) == []
    assert found(store, f"{question} zebra") == ["zebra"]


def test_a_question_of_thousands_of_words_is_none_too_many(store: Store, make_document: Make) -> None:
    put(store, make_document("a.md", ["zebra"]))
    store.index_words()
    assert found(store, " ".join(f"w{n}" for n in range(5000)) + " zebra") == ["zebra"]


def test_the_context_is_found_too_and_equal_scores_stand_in_canonical_order(store: Store, make_document: Make) -> None:
    for slug in ("c.md", "a.md", "b.md"):
        put(store, make_document(slug, ["same", "same"]), "Pump\n")
    store.index_words()
    hits = store.matching("pump", 4)
    assert [(hit.chunk.slug, hit.chunk.index, hit.rank) for hit in hits] == [
        ("a.md", 0, 1),
        ("a.md", 1, 2),
        ("b.md", 0, 3),
        ("b.md", 1, 4),
    ]
    assert len({hit.score for hit in hits}) == 1


def test_vectors_and_tokens_come_back_in_the_order_asked_for(store: Store, make_document: Make) -> None:
    for slug in ("b.md", "a.md"):
        put(store, make_document(slug, [f"{slug} one two", "three"]))
    chunks = store.chunks()[::-1]
    texts = [chunk.embedded_text for chunk in chunks]
    tokens = ENCODER.encode_tokens(texts, "passage")
    store.index_tokens(chunks[:3], tokens[:3])
    store.index_tokens(chunks[3:], tokens[3:])
    wanted = [chunks[2], chunks[0], chunks[3]]
    assert [own.tolist() for own in store.tokens(wanted)] == [tokens[n].tolist() for n in (2, 0, 3)]
    assert store.vectors(wanted).tobytes() == ENCODER.encode([c.embedded_text for c in wanted], "passage").tobytes()
    assert store.vectors([]).shape == (0, 16)


def test_the_size_of_each_index_is_known(store: Store, make_document: Make) -> None:
    put(store, make_document("a.md", ["one two", "three"]))
    assert store.index_bytes == {"vectors": 2 * 16 * 4, "words": 0, "tokens": 0}
    store.index_words()
    store.index_tokens(store.chunks(), [np.ones((3, 16), np.int8)] * 2)
    assert store.index_bytes["tokens"] == 2 * 3 * 16
    assert 0 < store.index_bytes["words"] < 1000
