"""The float32 reference: the source's weights under the names that sentence-transformers looks for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from ragkit.embedding.convert import convert
from ragkit.embedding.graph import Calibration
from ragkit.embedding.reference import write_reference
from ragkit.embedding.tokenizer import Tokenizer, from_tokenizer_json, tokenizer_json
from ragkit.embedding.weights import Weights
from ragkit.errors import FileError, ModelError
from tests.embedding import plain
from tests.embedding.tiny import ARCHITECTURE, write_tiny


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Weights:
    return Weights(write_tiny(tmp_path_factory.mktemp("weights") / "w.bin"))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory, weights: Weights) -> Path:
    folder = tmp_path_factory.mktemp("reference")
    write_reference(weights, tokenizer_json(weights.vocabulary), folder)
    return folder


def test_tensors_are_the_source_s(reference: Path, weights: Weights) -> None:
    stored = load_file(reference / "model.safetensors")
    assert np.array_equal(stored["embeddings.word_embeddings.weight"], weights.tensor("emb.word"))
    assert np.array_equal(stored["encoder.layer.1.attention.self.key.weight"], weights.tensor("l1.k.w"))
    assert np.array_equal(stored["encoder.layer.0.output.LayerNorm.bias"], weights.tensor("l0.oln.b"))
    assert not stored["pooler.dense.weight"].any()
    assert len(stored) == len(ARCHITECTURE.shapes()) + 2


def test_sentence_transformers_loads_it(reference: Path, weights: Weights, tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(reference), device="cpu", local_files_only=True)
    assert model.prompts == {"query": "query: ", "document": "passage: "}
    text = "the rivière of 南瓜"
    (tmp_path / "tokenizer.model").write_bytes(from_tokenizer_json(reference / "tokenizer.json"))
    ids = Tokenizer(tmp_path / "tokenizer.model").encode("query: " + text)
    assert model.encode(text, prompt_name="query") == pytest.approx(plain.encode(weights, ids), abs=1e-5)
    assert model.max_seq_length == 512


def test_a_folder_that_cannot_be_written(tmp_path: Path, weights: Weights) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="reference model can't be written"):
        write_reference(weights, b"{}", tmp_path / "file" / "reference")


def test_convert_twice_gives_the_same_files(tmp_path: Path) -> None:
    source = write_tiny(tmp_path / "w.bin")
    ticks: list[int] = []
    for name in "ab":
        convert(source, tmp_path / name, ticks.append, calibration=Calibration.neutral(ARCHITECTURE))
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert {"model.onnx", "tokenizer.model", "reference"} == {path.parts[0] for path in files}
    assert ticks == [1] * 6
    for path in files:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes()
    modules = json.loads((tmp_path / "a/reference/modules.json").read_text())
    assert [module["path"] for module in modules] == ["", "1_Pooling", "2_Normalize"]


def test_convert_refuses_weights_that_are_not_the_calibration_s(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="calibration is of another model"):
        convert(write_tiny(tmp_path / "w.bin"), tmp_path / "out")


def test_convert_into_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    source = write_tiny(tmp_path / "w.bin")
    with pytest.raises(FileError, match=r"tokenizer\.model: cannot be written"):
        convert(source, source / "out")
