"""Questions embedded ahead: once, each alone, and their time counted where they are asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragkit.embedding import Questions, TextError, cached
from tests.answers.toys import Written


def test_questions_are_embedded_once_and_their_time_counts_whenever_they_are_asked_for() -> None:
    inner = Written({"a": (3, 4, 0), "b": (1, 0, 0), "p": (0, 0, 1), "new": (0, 1, 0)})
    encoder = Questions(inner)
    encoder.ahead(["a", "b"])
    assert sorted(inner.calls) == [("query", ["a"]), ("query", ["b"])]
    assert encoder.spent == 0
    np.testing.assert_allclose(encoder.encode(["a"], "query"), [[0.6, 0.8, 0]], atol=1e-6)
    once = encoder.spent
    assert once > 0
    encoder.encode(["a"], "query")
    assert encoder.spent == pytest.approx(2 * once)
    np.testing.assert_allclose(encoder.vectors(["b", "a", "b"]), [[1, 0, 0], [0.6, 0.8, 0], [1, 0, 0]], atol=1e-6)
    encoder.encode(["new"], "query")
    encoder.encode(["p"], "passage")
    assert inner.calls[2:] == [("query", ["new"]), ("passage", ["p"])]
    assert encoder.spent == pytest.approx(2 * once)
    assert encoder.vectors([]).shape == (0, 3)
    assert (encoder.dimension, encoder.identity, encoder.count_tokens("a b", None)) == (3, "written", 2)


def test_the_question_that_cannot_be_embedded_is_told_by_its_place() -> None:
    with pytest.raises(TextError) as caught:
        Questions(Written({"fine": (1, 0, 0)})).ahead(["fine", "too long"])
    assert caught.value.index == 1


def test_what_is_looked_up_comes_from_the_cache_and_what_is_timed_never_does(tmp_path: Path) -> None:
    inner = Written({"a": (3, 4, 0), "b": (1, 0, 0), "p": (0, 0, 1)})
    for calls in ([("query", ["b"]), ("passage", ["p"]), ("query", ["a"])], [("query", ["a"])]):
        inner.calls.clear()
        encoder = Questions(inner, cached(inner, tmp_path))
        encoder.look_up(["b"])
        encoder.encode(["p"], "passage")
        encoder.ahead(["a"])
        assert inner.calls == calls
        encoder.encode(["b"], "query")
        assert encoder.spent == 0
        encoder.encode(["a"], "query")
        assert encoder.spent > 0
        np.testing.assert_allclose(encoder.vectors(["a", "b"]), [[0.6, 0.8, 0], [1, 0, 0]], atol=1e-6)
