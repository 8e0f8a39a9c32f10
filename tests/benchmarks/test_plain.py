"""The plain pipeline that ragkit is measured against: what it takes for relevant, and what it remembers."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def plain(load):
    pytest.importorskip("langchain_text_splitters")
    return load("plain")


def test_a_chunk_is_relevant_when_it_has_the_quote_and_a_quote_cut_in_two_still_counts(plain) -> None:
    chunks = [
        plain.Chunk("a.md", "It lasts\nsix years."),
        plain.Chunk("b.md", "It lasts six years."),
        plain.Chunk("a.md", "six years. More"),
    ]
    question = {
        "id": "q",
        "relevant": [
            {"document": "a.md", "quote": "lasts six years", "grade": 2},
            {"document": "a.md", "quote": "years. No"},
        ],
    }
    assert [(each.doc_id, each.relevance) for each in plain.qrels([question], chunks)] == [("0", 2), ("cut-1", 1)]


def test_a_judged_document_without_a_quote_makes_all_its_chunks_relevant(plain) -> None:
    chunks = [plain.Chunk("a.md", "one"), plain.Chunk("b.md", "two"), plain.Chunk("a.md", "three")]
    found = plain.qrels([{"id": "q", "relevant": [{"document": "a.md"}]}], chunks)
    assert [each.doc_id for each in found] == ["0", "2"]


def test_the_nearest_come_first_with_their_cosine(plain) -> None:
    vectors = np.eye(3, dtype=np.float32)
    (first, score), *rest = plain.search(plain.index_of(vectors), vectors[1])
    assert (first, score) == (1, pytest.approx(1.0))
    assert [score for _, score in rest] == [pytest.approx(0.0)] * 2
