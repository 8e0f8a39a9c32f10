"""Traps 2, 18 and 19, with toy graphs; the real graph's numbers are checked where it is built."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragkit.embedding import TextError, q8
from ragkit.embedding.q8 import Q8Encoder
from ragkit.embedding.tokenizer import Tokenizer
from ragkit.errors import ModelError
from ragkit.records import Role
from tests.embedding import graphs

PREFIXES: dict[Role, str] = {"query": "query: ", "passage": "passage: "}
TEXTS = ["the model", "wasser", "如何 です", "", "of the token in the model " * 20, "noche"]
Make = Callable[..., Q8Encoder]


@pytest.fixture(params=["pooled", "hub"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    def encoder(
        threads: int = 1, max_tokens: int = 512, words: NDArray[np.float32] | None = None, dimension: int = 8
    ) -> Q8Encoder:
        write = graphs.write_hub_graph if request.param == "hub" else graphs.write_pooled_graph
        return Q8Encoder(
            write(tmp_path / "model.onnx", words),
            graphs.write_tokenizer(tmp_path / "tokenizer.model"),
            dimension=dimension,
            max_tokens=max_tokens,
            prefixes=PREFIXES,
            description={"name": "toy"},
            hashes={"model.onnx": "1"},
            threads=threads,
        )

    return encoder


def _by_hand(text: str, tokenizer: Tokenizer) -> NDArray[np.float64]:
    mean = graphs.table()[tokenizer.encode(text)].astype(float).mean(axis=0)
    return mean / np.linalg.norm(mean)  # type: ignore[no-any-return]  # numpy: division of an array is Any


def test_a_vector_is_the_normalised_mean_over_prefix_text_and_specials(make: Make, tmp_path: Path) -> None:
    vectors = make().encode(["the model"], "passage")
    tokenizer = Tokenizer(tmp_path / "tokenizer.model")
    assert vectors.shape == (1, 8)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors[0], _by_hand("passage: the model", tokenizer), atol=1e-6)


@pytest.mark.parametrize(("role", "prefix"), [("query", "query: "), ("passage", "passage: ")])
def test_the_roles_prefix_reaches_the_tokenizer(
    make: Make, monkeypatch: pytest.MonkeyPatch, role: Role, prefix: str
) -> None:
    read: list[str] = []
    original = Tokenizer.encode

    def spy(self: Tokenizer, text: str) -> list[int]:
        read.append(text)
        return original(self, text)

    monkeypatch.setattr(Tokenizer, "encode", spy)
    make().encode(["noche", "wasser"], role)
    assert read == [f"{prefix}noche", f"{prefix}wasser"]


def test_one_unpadded_text_per_call(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = make(threads=2)
    shapes: list[tuple[int, ...]] = []
    run = encoder._session.run

    class Spy:
        def run(self, names: Sequence[str], feeds: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]:
            shapes.extend(value.shape for value in feeds.values())
            assert feeds.get("attention_mask", np.ones(1)).all()
            result: list[NDArray[np.float32]] = run(names, feeds)
            return result

    monkeypatch.setattr(encoder, "_session", Spy())
    encoder.encode(TEXTS, "passage")
    lengths = {encoder.count_tokens(text, "passage") for text in TEXTS}
    assert {shape[0] for shape in shapes} == {1}
    assert {shape[1] for shape in shapes} == lengths


def test_the_same_bytes_in_any_order_company_and_number_of_threads(make: Make) -> None:
    expected = make(threads=1).encode(TEXTS, "passage")
    for threads in (2, 5):
        encoder = make(threads=threads)
        assert encoder.encode(TEXTS, "passage").tobytes() == expected.tobytes()
        assert encoder.encode(TEXTS[::-1], "passage").tobytes() == expected[::-1].tobytes()
        alone = [encoder.encode([text], "passage")[0] for text in TEXTS]
        assert np.stack(alone).tobytes() == expected.tobytes()


def test_no_texts_give_no_vectors(make: Make) -> None:
    assert make(threads=2).encode([], "query").shape == (0, 8)


def test_progress_counts_every_text(make: Make) -> None:
    for threads in (1, 2):
        done: list[int] = []
        make(threads=threads).encode(TEXTS, "query", done.append)
        assert sum(done) == len(TEXTS)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_text_beyond_the_limit_is_never_cut_in_silence(make: Make, threads: int) -> None:
    long = "the model of the token in the model"
    tokens = make().count_tokens(long, "passage")
    encoder = make(threads=threads, max_tokens=tokens - 1)
    with pytest.raises(
        TextError, match=f"text 1: {tokens} tokens with prefix and special tokens.* {tokens - 1}"
    ) as caught:
        encoder.encode(["the model", long, long], "passage")
    assert caught.value.index == 1
    assert caught.value.exit_code == 2


def test_the_limit_counts_prefix_and_special_tokens(make: Make) -> None:
    text = "wasser " * 6
    free = make()
    tokens = free.count_tokens(text, "query")
    assert tokens > free.count_tokens(text, None) + 2
    make(max_tokens=tokens).encode([text], "query")
    with pytest.raises(TextError):
        make(max_tokens=tokens - 1).encode([text], "query")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_names_its_text(make: Make, value: float, tmp_path: Path) -> None:
    words = graphs.table()
    free = make()
    only = set(free._tokenizer.encode("passage: noche")) - set(free._tokenizer.encode("passage: wasser"))
    words[sorted(only)] = value
    for threads in (1, 2):
        with pytest.raises(TextError, match=r"text 1: .*not finite") as caught:
            make(threads=threads, words=words).encode(["wasser", "noche", "noche"], "passage")
        assert caught.value.index == 1


def test_a_zero_vector_is_refused(make: Make) -> None:
    with pytest.raises(TextError, match="text 0"):
        make(words=np.zeros((450, 8), np.float32)).encode(["wasser"], "passage")


def test_another_dimension_than_the_registered_one_is_refused(make: Make) -> None:
    with pytest.raises((TextError, ValueError), match="shape"):
        make(dimension=9).encode(["wasser"], "passage")


def test_half_a_surrogate_pair_is_refused_with_its_place(make: Make) -> None:
    with pytest.raises(TextError, match="text 1: half of a surrogate pair"):
        make().encode(["fine", "\udc00"], "query")


def test_token_spans_lie_in_the_text_in_order(make: Make) -> None:
    text = "the model of 如何"
    encoder = make()
    spans = encoder.token_spans(text)
    assert len(spans) == encoder.count_tokens(text, None)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert spans == sorted(spans)
    assert "".join(text[a:b] for a, b in spans).replace(" ", "") == text.replace(" ", "")


def test_a_graph_that_cannot_be_loaded_is_a_model_error(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(ModelError, match="ragkit prepare --force"):
        q8._session(tmp_path / "model.onnx")
    with pytest.raises(ModelError):
        q8._session(tmp_path / "absent.onnx")


def test_one_calling_thread_per_usable_core(make: Make) -> None:
    expected = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert q8.usable_cores() == expected
