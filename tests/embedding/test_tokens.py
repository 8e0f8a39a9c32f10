"""The vectors of tokens: which tokens, how they are kept, and that they are kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragkit.embedding import CachedEncoder, TextError
from ragkit.embedding.base import quantised
from ragkit.embedding.hashing import HashingEncoder
from ragkit.embedding.q8 import Q8Encoder
from ragkit.errors import ModelError
from ragkit.records import Role
from tests.embedding.graphs import DIMENSION, table, write_hub_graph, write_pooled_graph, write_tokenizer

PREFIXES: dict[Role, str] = {"query": "query: ", "passage": "passage: "}


def q8(graph: Path, tokenizer: Path, threads: int = 2) -> Q8Encoder:
    return Q8Encoder(
        graph, tokenizer, dimension=DIMENSION, max_tokens=20, prefixes=PREFIXES, description={}, hashes={}, threads=threads
    )  # fmt: skip


def test_rows_are_directions_with_127_in_the_largest_component() -> None:
    assert quantised(0, np.array([[1.0, -0.5], [-3, 0.1]])).tolist() == [[127, -64], [-127, 4]]
    with pytest.raises(TextError, match=r"text 3: .* not finite"):
        quantised(3, np.array([[1.0, np.nan]]))
    with pytest.raises(TextError, match="zero"):
        quantised(0, np.zeros((1, 2)))


def test_the_graph_s_tokens_are_those_of_the_text_alone(tmp_path: Path) -> None:
    """The toy graph's states are its word vectors, so each row says which token it is."""
    tokenizer = write_tokenizer(tmp_path / "tokenizer.model")
    encoder = q8(write_hub_graph(tmp_path / "model.onnx"), tokenizer)
    [found] = encoder.encode_tokens(["hello world"], "passage")
    ids = encoder._tokenizer.encode("passage: hello world")
    before = len(encoder._tokenizer.spans("passage: "))
    assert found.tolist() == quantised(0, table()[ids[1 + before : -1]]).tolist()
    [bare] = encoder.encode_tokens([""], "passage")
    assert len(bare) == len(encoder._tokenizer.encode("passage: "))


def test_threads_and_neighbours_change_nothing(tmp_path: Path) -> None:
    graph, tokenizer = write_hub_graph(tmp_path / "model.onnx"), write_tokenizer(tmp_path / "tokenizer.model")
    texts = ["hello", "a b", "world"]
    done: list[int] = []
    together = q8(graph, tokenizer).encode_tokens(texts, "query", done.append)
    alone = [q8(graph, tokenizer, 1).encode_tokens([text], "query")[0] for text in texts]
    assert [one.tolist() for one in together] == [one.tolist() for one in alone]
    assert sum(done) == 3


def test_a_question_s_vector_and_tokens_come_from_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, tokenizer = write_hub_graph(tmp_path / "model.onnx"), write_tokenizer(tmp_path / "tokenizer.model")
    encoder, fresh = q8(graph, tokenizer), q8(graph, tokenizer)
    wanted = {text: fresh.encode_tokens([text], "query")[0].tolist() for text in ("hello", "world")}
    encoder.encode(["hello"], "query")
    monkeypatch.setattr(encoder, "_run", None)
    assert encoder.encode_tokens(["hello"], "query")[0].tolist() == wanted["hello"]
    monkeypatch.undo()
    assert encoder.encode_tokens(["world"], "query")[0].tolist() == wanted["world"]
    passage = fresh.encode_tokens(["hello"], "passage")[0].tolist()
    assert encoder.encode_tokens(["hello"], "passage")[0].tolist() == passage


def test_parts_are_the_means_of_their_tokens_and_come_with_the_text_s_own_vector(tmp_path: Path) -> None:
    """The toy graph's states are its word vectors, so a part is the mean of the words it is made of."""
    tokenizer = write_tokenizer(tmp_path / "tokenizer.model")
    encoder = q8(write_hub_graph(tmp_path / "model.onnx"), tokenizer)
    text = "hello world, the token"
    vectors, [found] = encoder.encode_parts([text], [[(0, 11), (13, 22), (0, 0)]])
    assert vectors.tolist() == encoder.encode([text], "passage").tolist()
    spans = encoder._tokenizer.spans("passage: " + text)
    states = table()[encoder._tokenizer.encode("passage: " + text)[1:-1]]
    before = len("passage: ")
    first = [before < end and start < before + 11 for start, end in spans]
    second = [before + 13 < end for start, end in spans]
    specials = table()[encoder._tokenizer.encode("passage: " + text)][[0, -1]]
    whole = np.concatenate([specials, states])
    means = np.stack([states[first].mean(0), states[second].mean(0), whole.mean(0)])
    np.testing.assert_allclose(found, quantised(0, means), atol=1)
    empty, none = encoder.encode_parts([], [])
    assert (empty.shape, none) == ((0, DIMENSION), [])


def test_parts_are_kept_with_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = HashingEncoder(PREFIXES, 32)
    texts, parts = ["one two", "three", "one two"], [[(0, 3)], [], [(0, 3), (4, 7)]]
    vectors, fresh = encoder.encode_parts(texts, parts)
    assert [len(own) for own in fresh] == [1, 0, 2]
    first = CachedEncoder(encoder, tmp_path)
    kept = first.encode_parts(texts, parts)
    assert (first.hits, first.misses) == (0, 3)
    monkeypatch.setattr(encoder, "encode_parts", None)
    for found in (kept, CachedEncoder(encoder, tmp_path).encode_parts(texts, parts)):
        assert found[0].tobytes() == vectors.tobytes()
        assert [own.tolist() for own in found[1]] == [own.tolist() for own in fresh]


def test_a_graph_without_them_says_what_to_do(tmp_path: Path) -> None:
    encoder = q8(write_pooled_graph(tmp_path / "model.onnx"), write_tokenizer(tmp_path / "tokenizer.model"))
    with pytest.raises(ModelError, match="ragkit prepare --force"):
        encoder.encode_tokens(["a"], "query")
    with pytest.raises(ModelError, match="ragkit prepare --force"):
        encoder.encode_parts(["a"], [[]])


def test_passages_tokens_are_kept_apart_from_their_vectors_and_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["one two", "three", "one two"]
    encoder = HashingEncoder(PREFIXES, 32)
    fresh = [tokens.tolist() for tokens in encoder.encode_tokens(texts, "passage")]
    assert [len(tokens) for tokens in fresh] == [2, 1, 2]
    vectors = CachedEncoder(encoder, tmp_path).encode(texts, "passage")
    first = CachedEncoder(encoder, tmp_path)
    assert [tokens.tolist() for tokens in first.encode_tokens(texts, "passage")] == fresh
    assert (first.hits, first.misses) == (1, 2)
    monkeypatch.setattr(encoder, "encode_tokens", None)
    again = CachedEncoder(encoder, tmp_path)
    assert [tokens.tolist() for tokens in again.encode_tokens(texts, "passage")] == fresh
    assert again.encode(texts, "passage").tobytes() == vectors.tobytes()


def test_the_error_names_the_text(tmp_path: Path) -> None:
    encoder = CachedEncoder(HashingEncoder(PREFIXES, 32, max_tokens=8), tmp_path)
    with pytest.raises(TextError) as caught:
        encoder.encode_tokens(["a", "1 2 3 4 5 6"], "passage")
    assert caught.value.index == 1


@pytest.mark.model
def test_the_prepared_graph_and_its_reference_agree_on_tokens(prepared_cache: Path) -> None:
    from ragkit.config import ModelConfig
    from ragkit.embedding import load_encoder

    graph, reference = (load_encoder(ModelConfig(precision=each), prepared_cache) for each in ("q8", "float32"))
    text = "Die Dichtung wird mit 63 N angepresst. 先关闭阀门。"
    [one], [two] = (encoder.encode_tokens([text], "passage") for encoder in (graph, reference))
    assert one.shape == two.shape == (len(graph.token_spans(text)), 384)
    a, b = one.astype(np.float32), two.astype(np.float32)
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert cosines.min() > 0.97
