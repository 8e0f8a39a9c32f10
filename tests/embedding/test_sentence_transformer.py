"""The torch encoder on a toy BERT. One module, because importing torch takes seconds."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest

from ragkit.config import ModelConfig
from ragkit.embedding import TextError, load_encoder
from ragkit.embedding.reference import write_reference
from ragkit.embedding.sentence_transformer import SentenceTransformerEncoder
from ragkit.embedding.tokenizer import tokenizer_json
from ragkit.embedding.weights import Weights
from ragkit.errors import ModelError
from ragkit.records import Role
from tests.embedding.tiny import write_tiny

PREFIXES: dict[Role, str] = {"query": "query: ", "passage": "passage: "}
TEXTS = ["the model", "wasser", "如何 です", "", "of the token in the model " * 20, "noche"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("toy")
    weights = Weights(write_tiny(path / "weights.bin"))
    write_reference(weights, tokenizer_json(weights.vocabulary), path / "reference")
    return path / "reference"


@pytest.fixture(scope="module")
def encoder(folder: Path) -> SentenceTransformerEncoder:
    return SentenceTransformerEncoder(folder, prefixes=PREFIXES, about={"name": "toy"})


def test_vectors_are_unit_float32_of_the_models_dimension(encoder: SentenceTransformerEncoder) -> None:
    vectors = encoder.encode(TEXTS, "passage")
    assert vectors.shape == (len(TEXTS), 64)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_the_same_bytes_whatever_the_order_and_the_company(encoder: SentenceTransformerEncoder) -> None:
    expected = encoder.encode(TEXTS, "passage")
    assert encoder.encode(TEXTS[::-1], "passage").tobytes() == expected[::-1].tobytes()
    assert encoder.encode(TEXTS[4:5], "passage").tobytes() == expected[4:5].tobytes()


@pytest.mark.parametrize(("role", "prefix"), [("query", "query: "), ("passage", "passage: ")])
def test_the_roles_prefix_reaches_the_model_once(
    encoder: SentenceTransformerEncoder, monkeypatch: pytest.MonkeyPatch, role: Role, prefix: str
) -> None:
    """The folder has prompts of its own, which must not be put before ours."""
    read: list[str] = []
    preprocess = "preprocess" if hasattr(encoder._model, "preprocess") else "tokenize"
    original = getattr(encoder._model, preprocess)

    def spy(texts: list[str], *rest: Any, **options: Any) -> Any:
        read.extend(texts)
        assert not options.get("prompt")
        return original(texts, *rest, **options)

    monkeypatch.setattr(encoder._model, preprocess, spy)
    encoder.encode(["noche"], role)
    assert read == [f"{prefix}noche"]


def test_no_socket_is_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trap 21: offline is a property of how it is loaded, not of a flag that was read too late."""
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    SentenceTransformerEncoder(folder, prefixes=PREFIXES, about={}).encode(["noche"], "query")


def test_a_text_beyond_the_limit_is_never_cut_in_silence(encoder: SentenceTransformerEncoder) -> None:
    with pytest.raises(TextError, match=r"text 1: \d+ tokens .* at most 512") as caught:
        encoder.encode(["fine", "水" * 600], "passage")
    assert caught.value.index == 1


def test_tokens_are_counted_with_prefix_and_specials_and_located_without(encoder: SentenceTransformerEncoder) -> None:
    text = "the model of 如何"
    spans = encoder.token_spans(text)
    assert len(spans) == encoder.count_tokens(text, None)
    assert encoder.count_tokens(text, "query") > len(spans) + 2
    assert encoder.token_spans("水" * 600)[-1][1] == 600


def test_a_configuration_names_the_folder(folder: Path, tmp_path: Path) -> None:
    config = ModelConfig(name="toy", source="path", precision="float32", path=str(folder))
    loaded = load_encoder(config, tmp_path)
    assert loaded.dimension == 64
    assert loaded.description["name"] == "toy"
    assert str(folder) not in str(loaded.description)


def test_identity_follows_the_files_and_the_prefixes(folder: Path, encoder: SentenceTransformerEncoder) -> None:
    again = SentenceTransformerEncoder(folder, prefixes=PREFIXES, about={"name": "other name"})
    assert again.identity == encoder.identity
    bare: dict[Role, str] = {"query": "", "passage": ""}
    assert SentenceTransformerEncoder(folder, prefixes=bare, about={}).identity != encoder.identity
    assert SentenceTransformerEncoder(folder, prefixes=PREFIXES, about={}, batch_size=8).identity != encoder.identity
    (folder / "note.txt").write_text("changed")
    try:
        assert SentenceTransformerEncoder(folder, prefixes=PREFIXES, about={}).identity != encoder.identity
    finally:
        (folder / "note.txt").unlink()


def test_a_path_that_is_no_model_is_refused_and_never_taken_for_a_name(tmp_path: Path) -> None:
    config = ModelConfig(name="toy", source="path", precision="float32", path="intfloat/multilingual-e5-small")
    with pytest.raises(ModelError, match=r"no modules\.json") as caught:
        load_encoder(config, tmp_path)
    assert caught.value.exit_code == 3


def test_a_damaged_folder_is_a_model_error(folder: Path, tmp_path: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            copy = tmp_path / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    (tmp_path / "model.safetensors").write_bytes(b"short")
    with pytest.raises(ModelError, match="can't load it"):
        SentenceTransformerEncoder(tmp_path, prefixes=PREFIXES, about={})


def test_code_in_a_models_folder_is_not_run(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "model")
    ran = tmp_path / "ran"
    (copy / "custom.py").write_text(f"open({str(ran)!r}, 'w')\nfrom torch.nn import Identity as Custom\n")
    modules = json.loads((copy / "modules.json").read_text())
    modules.append({"idx": len(modules), "name": "9", "path": "", "type": "custom.Custom"})
    (copy / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelError, match="custom"):
        SentenceTransformerEncoder(copy, prefixes=PREFIXES, about={"name": "toy"})
    assert not ran.exists()
