from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.embedding import TextError
from ragkit.embedding.hashing import HashingEncoder
from ragkit.records import Role

PREFIXES: dict[Role, str] = {"query": "query: ", "passage": "passage: "}
NO_PREFIXES: dict[Role, str] = {"query": "", "passage": ""}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), max_size=6))
def test_every_text_has_a_unit_vector_even_an_empty_one(texts: list[str]) -> None:
    vectors = HashingEncoder(NO_PREFIXES, max_tokens=1000).encode(texts, "query")
    assert vectors.shape == (len(texts), 256)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_vector_does_not_depend_on_its_neighbours() -> None:
    encoder = HashingEncoder(PREFIXES)
    alone = encoder.encode(["green ladders"], "passage")
    together = encoder.encode(["x", "green ladders", "y"], "passage")
    assert alone[0].tobytes() == together[1].tobytes()


def test_the_role_decides_only_through_its_prefix() -> None:
    with_prefix, without = HashingEncoder(PREFIXES), HashingEncoder(NO_PREFIXES)
    assert without.encode(["a"], "query").tobytes() == without.encode(["a"], "passage").tobytes()
    assert with_prefix.encode(["a"], "query").tobytes() != with_prefix.encode(["a"], "passage").tobytes()
    assert with_prefix.encode(["a"], "query").tobytes() == without.encode(["query: a"], "query").tobytes()
    assert with_prefix.identity != without.identity


def test_similar_spelling_is_nearer_than_other_words() -> None:
    encoder = HashingEncoder(PREFIXES)
    ladder, ladders, water = encoder.encode(["the green ladder", "green ladders", "cold deep water"], "passage")
    assert ladder @ ladders > ladder @ water


def test_the_same_bytes_under_any_hash_seed() -> None:
    code = (
        "from ragkit.embedding.hashing import HashingEncoder as H; "
        "print(H({'query': '', 'passage': ''}).encode(['one two three'], 'query').tobytes().hex())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_a_text_beyond_the_limit_is_refused_with_its_place_and_length() -> None:
    encoder = HashingEncoder(PREFIXES, max_tokens=8)
    assert encoder.count_tokens("a b c d", "query") == 8  # query, :, four words, two specials
    encoder.encode(["a b c d"], "query")
    with pytest.raises(TextError, match=r"text 1: 9 tokens .* at most 8") as caught:
        encoder.encode(["a", "a b c d e"], "query")
    assert caught.value.index == 1


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(TextError, match="text 1: half of a surrogate pair at character 8"):
        HashingEncoder(PREFIXES).encode(["fine", "x\ud800"], "query")


def test_token_spans_cut_out_the_tokens() -> None:
    text = "Don't stop,  now"
    encoder = HashingEncoder(PREFIXES)
    assert [text[a:b] for a, b in encoder.token_spans(text)] == ["Don", "'", "t", "stop", ",", "now"]
    assert encoder.count_tokens(text, None) == 6


def test_progress_counts_every_text() -> None:
    done: list[int] = []
    HashingEncoder(PREFIXES).encode(["a", "b", "c"], "passage", done.append)
    assert sum(done) == 3
