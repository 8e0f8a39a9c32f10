"""The dense retriever: roles, threshold, cut, and what a trace says."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragkit.chunking.spans import chunks_of
from ragkit.config import DenseRetrieval
from ragkit.records import Document, Hit, Progress, Role
from ragkit.retrieval import Retriever, build_retriever, search_documents
from ragkit.store import Store

Make = Callable[..., Document]


class LetterEncoder:
    """12 dimensions: how often each of the letters a to l occurs, normalised; without any, all alike.

    `calls` has the role and the texts of every call.
    """

    dimension = 12
    identity = "letters-1"
    description: dict[str, Any] = {"name": "letters"}  # noqa: RUF012  never changed

    def __init__(self) -> None:
        self.calls: list[tuple[Role, list[str]]] = []

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        self.calls.append((role, list(texts)))
        counts = np.array([[text.count(letter) for letter in "abcdefghijkl"] for text in texts], np.float32)
        counts = counts.reshape(len(texts), self.dimension)
        counts[~counts.any(axis=1)] = 1
        if progress is not None:
            progress(len(texts))
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def count_tokens(self, text: str, role: Role | None) -> int:
        return len(text.split()) + (0 if role is None else 3)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        spans, end = [], 0
        for word in text.split():
            start = text.index(word, end)
            end = start + len(word)
            spans.append((start, end))
        return spans


def fill(store: Store, encoder: LetterEncoder, documents: Sequence[Document]) -> Store:
    """A chunk for each block."""
    for document in documents:
        chunks = chunks_of(document, [(block.start, block.end) for block in document.blocks])
        store.add(document, chunks, encoder.encode([chunk.embedded_text for chunk in chunks], "passage"))
    return store


def dense(
    store: Store, encoder: LetterEncoder, top_k: int = 1, candidates: int = 100, at_least: float = -1.0
) -> Retriever:
    config = DenseRetrieval(strategy="dense", top_k=top_k, candidate_k=candidates, threshold=at_least)
    return build_retriever(config, store, encoder)


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.text for hit in hits]


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(None, LetterEncoder.dimension) as store:
        yield store


def test_best_chunk_first(store: Store, make_document: Make) -> None:
    """Cosines of "ab" to "ab", "a", "abcd", "c": 1, 0.7071, 0.7071 and 0; equal ones by their start."""
    encoder = LetterEncoder()
    fill(store, encoder, [make_document("m.md", ["c", "abcd", "a", "ab"])])
    hits = dense(store, encoder).search("ab", 4)
    assert texts(hits) == ["ab", "abcd", "a", "c"]
    assert [hit.score for hit in hits] == pytest.approx([1, 0.5**0.5, 0.5**0.5, 0], abs=1e-6)
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]


def test_a_question_is_encoded_as_a_query(store: Store, make_document: Make) -> None:
    encoder = LetterEncoder()
    fill(store, encoder, [make_document("m.md", ["a"])])
    encoder.calls.clear()
    dense(store, encoder).search("what is a?", 3)
    assert encoder.calls == [("query", ["what is a?"])]


def test_the_threshold_keeps_a_score_that_equals_it(store: Store, make_document: Make) -> None:
    """The cosine of "a" to "abcd" is 1/2, which a float32 holds exactly."""
    encoder = LetterEncoder()
    fill(store, encoder, [make_document("m.md", ["abcd", "abcde"])])
    assert texts(dense(store, encoder, at_least=0.5).search("a", 5)) == ["abcd"]
    assert texts(dense(store, encoder, at_least=0.5 + 1e-9).search("a", 5)) == []


def test_the_threshold_comes_before_the_cut(store: Store, make_document: Make) -> None:
    encoder = LetterEncoder()
    fill(store, encoder, [make_document("m.md", ["a", "ab", "b", "c"])])
    trace = dense(store, encoder, at_least=0.1).trace("a", 1)
    assert texts(trace.candidates) == ["a", "ab", "b", "c"]
    assert texts(trace.kept) == ["a", "ab"]
    assert trace.hits == trace.kept


def test_candidates_are_as_many_as_configured_or_more_if_asked_for(store: Store, make_document: Make) -> None:
    encoder = LetterEncoder()
    fill(store, encoder, [make_document("m.md", ["a"] * 20)])
    retriever = dense(store, encoder, candidates=5)
    assert len(retriever.trace("a", 2).candidates) == 5
    assert len(retriever.trace("a", 8).candidates) == 8
    assert len(retriever.search("a", 12)) == 12


def test_a_constant_scorer_gives_canonical_order(store: Store, make_document: Make) -> None:
    encoder = LetterEncoder()
    fill(store, encoder, [make_document(slug, ["a", "a"]) for slug in ("c.md", "a.md", "b.md")])
    hits = dense(store, encoder, candidates=4).search("a", 4)
    assert [(hit.chunk.slug, hit.chunk.index) for hit in hits] == [("a.md", 0), ("a.md", 1), ("b.md", 0), ("b.md", 1)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    corpus=st.lists(st.lists(st.text("abcl", min_size=1, max_size=3), min_size=1, max_size=5), min_size=1, max_size=5),
    question=st.text("abcl", max_size=3),
    k=st.integers(1, 30),
    extra=st.integers(0, 30),
    threshold=st.sampled_from([-1.0, 0.0, 0.5, 0.9, 1.0]),
    candidates=st.integers(1, 30),
    order=st.randoms(use_true_random=False),
)
def test_search_is_the_head_of_every_deeper_trace_whatever_went_in_first(
    make_document: Make,
    corpus: list[list[str]],
    question: str,
    k: int,
    extra: int,
    threshold: float,
    candidates: int,
    order: random.Random,
) -> None:
    encoder = LetterEncoder()
    documents = [make_document(f"{n}.md", blocks) for n, blocks in enumerate(corpus)]
    shuffled = documents[:]
    order.shuffle(shuffled)
    with Store(None, 12) as store, Store(None, 12) as other:
        retriever = dense(fill(store, encoder, documents), encoder, 1, candidates, threshold)
        shuffled_one = dense(fill(other, encoder, shuffled), encoder, 1, candidates, threshold)
        hits = retriever.search(question, k)
        assert list(retriever.trace(question, k + extra).hits[:k]) == hits
        assert shuffled_one.search(question, k) == hits
    assert all(hit.score >= threshold for hit in hits)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.chunk.slug, hit.chunk.start))


# --- documents ----------------------------------------------------------------------------------------


def test_documents_are_ranked_by_their_best_chunk(store: Store, make_document: Make) -> None:
    encoder = LetterEncoder()
    fill(
        store, encoder, [make_document("x.md", ["c", "ab"]), make_document("y.md", ["a"]), make_document("z.md", ["c"])]
    )
    hits = search_documents(dense(store, encoder), "a", 2)
    assert [(hit.rank, hit.chunk.slug, hit.chunk.text) for hit in hits] == [(1, "y.md", "a"), (2, "x.md", "ab")]


def test_retrieval_goes_deeper_until_there_are_enough_documents(store: Store, make_document: Make) -> None:
    """40 chunks of one document stand before the second document's only one."""
    encoder = LetterEncoder()
    fill(store, encoder, [make_document("long.md", ["a"] * 40), make_document("short.md", ["ab"])])
    hits = search_documents(dense(store, encoder, candidates=3), "a", 2)
    assert [hit.chunk.slug for hit in hits] == ["long.md", "short.md"]


@pytest.mark.parametrize(("threshold", "found"), [(-1.0, ["a.md", "b.md"]), (0.9, ["a.md"])])
def test_fewer_documents_than_asked_for_end_the_search(
    store: Store, make_document: Make, threshold: float, found: list[str]
) -> None:
    encoder = LetterEncoder()
    fill(store, encoder, [make_document("a.md", ["a"] * 9), make_document("b.md", ["b"] * 9)])
    hits = search_documents(dense(store, encoder, candidates=2, at_least=threshold), "a", 7)
    assert [hit.chunk.slug for hit in hits] == found


def test_an_empty_store_gives_nothing(store: Store) -> None:
    retriever = dense(store, LetterEncoder())
    assert retriever.search("a", 3) == []
    assert search_documents(retriever, "a", 3) == []
