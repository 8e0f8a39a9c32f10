"""The q8 graph: the encoder of the weights, smoothed without changing it, in bytes that are always the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray

from ragkit.embedding.graph import LEVELS, Calibration, build_graph, quantised
from ragkit.embedding.weights import Architecture, Weights
from ragkit.errors import ModelError
from tests.embedding import plain
from tests.embedding.tiny import ARCHITECTURE, write_tiny

SMALL = Architecture(hidden=32, layers=1, heads=2, ffn=64, words=300, positions=16, types=2, epsilon=1e-12)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Weights:
    return Weights(write_tiny(tmp_path_factory.mktemp("graph") / "w.bin"))


def run(graph: bytes, ids: list[int]) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    vector: NDArray[np.float32] = session.run(["vector"], {"input_ids": np.array([ids])})[0]
    return vector


def ids_of(count: int) -> list[int]:
    return np.random.default_rng(count).integers(0, ARCHITECTURE.words, count).tolist()


@pytest.mark.parametrize("count", [1, 2, 7, 60, 512])
def test_it_is_the_encoder_of_the_weights(weights: Weights, count: int) -> None:
    vector = run(build_graph(weights, Calibration.neutral(ARCHITECTURE)), ids_of(count))
    assert vector.shape == (1, 64)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
    assert vector[0] @ plain.encode(weights, ids_of(count)) > 0.998


def test_smoothing_changes_rounding_only(weights: Weights) -> None:
    random = np.random.default_rng(3)
    neutral = Calibration.neutral(ARCHITECTURE)
    smoothing = {
        key: np.exp(random.normal(0, 0.3, ones.size)).astype(np.float32) for key, ones in neutral.smoothing.items()
    }
    vector = run(build_graph(weights, Calibration(smoothing, neutral.shift)), ids_of(40))
    assert vector[0] @ plain.encode(weights, ids_of(40)) > 0.998


def test_a_shift_is_added_to_the_bias(weights: Weights) -> None:
    neutral = Calibration.neutral(ARCHITECTURE)
    shift = {**neutral.shift, "l1.fo": np.linspace(-1, 1, 64, dtype=np.float32)}
    graph = onnx.load_from_string(build_graph(weights, Calibration(neutral.smoothing, shift))).graph
    bias = {each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer if each.name.endswith(".bias")}
    assert np.array_equal(bias["l1.fo.bias"], weights.tensor("l1.fo.b") + shift["l1.fo"])
    assert np.array_equal(bias["l0.fo.bias"], weights.tensor("l0.fo.b"))


def test_weights_keep_within_7_bits() -> None:
    """2 x 255 x 64 = 32,640: two products add up without saturating 16 bits."""
    matrix = np.random.default_rng(0).normal(size=(5, 32)).astype(np.float32)
    matrix[2] = 0
    codes, scales = quantised(matrix, np.full(32, 0.5, np.float32))
    assert (codes.dtype, scales.dtype) == (np.int8, np.float32)
    assert np.abs(codes).max(axis=1).tolist() == [LEVELS, LEVELS, 0, LEVELS, LEVELS]
    assert 2 * 255 * int(np.abs(codes).max()) < 2**15
    assert np.abs(codes * scales[:, None] - matrix * 0.5).max() <= scales.max() / 2 * 1.001


def test_the_word_table_stays_in_4_bits(weights: Weights) -> None:
    graph = onnx.load_from_string(build_graph(weights, Calibration.neutral(ARCHITECTURE))).graph
    table = {each.name: each for each in graph.initializer}["word.codes"]
    assert table.data_type == onnx.TensorProto.INT4
    assert len(table.raw_data) == 450 * 64 // 2


def test_bytes_depend_on_weights_and_calibration_only(weights: Weights, tmp_path: Path) -> None:
    neutral = Calibration.neutral(ARCHITECTURE)
    content = build_graph(weights, neutral)
    assert content == build_graph(Weights(write_tiny(tmp_path / "w.bin")), neutral)
    assert content != build_graph(Weights(write_tiny(tmp_path / "v.bin", seed=8)), neutral)
    model = onnx.load_from_string(content)
    assert (model.producer_name, model.producer_version, model.ir_version) == ("ragkit", "", 10)
    assert [(opset.domain, opset.version) for opset in model.opset_import] == [("", 21), ("com.microsoft", 1)]
    onnx.checker.check_model(model)


def test_inputs_and_outputs(weights: Weights) -> None:
    session = onnxruntime.InferenceSession(build_graph(weights, Calibration.neutral(ARCHITECTURE)))
    assert [(each.name, each.type) for each in session.get_inputs()] == [("input_ids", "tensor(int64)")]
    shapes = [(each.name, each.shape) for each in session.get_outputs()]
    assert shapes == [("vector", [1, 64]), ("last_hidden_state", [1, "tokens", 64])]
    vector, states = session.run(None, {"input_ids": np.array([[0, 9, 17, 2]])})
    mean = states[0].mean(axis=0)
    assert vector[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_calibration_of_another_model_is_refused(weights: Weights, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="calibration is of another model"):
        build_graph(weights, Calibration.committed())
    small = Weights(write_tiny(tmp_path / "w.bin", SMALL))
    with pytest.raises(ModelError, match="calibration is of another model"):
        build_graph(small, Calibration.neutral(ARCHITECTURE))
    assert run(build_graph(small, Calibration.neutral(SMALL)), [0, 5, 2]).shape == (1, 32)


def test_the_committed_calibration_is_of_the_pinned_model() -> None:
    calibration = Calibration.committed()
    calibration.check(Architecture(384, 12, 12, 1536, 250037, 512, 2, 1e-12))
    assert all((values > 0).all() for values in calibration.smoothing.values())
    assert all(np.isfinite(values).all() for values in calibration.shift.values())
