"""Building the q8 graph: the ONNX file that runs are made with. The one module on `onnx`.

Input ``input_ids``: int64 (1, n), the token ids of one text with `<s>` and `</s>`, 1 <= n <= positions.
Output ``vector``: float32 (1, hidden), mean over the tokens, L2-normalised. Output ``last_hidden_state``:
float32 (1, n, hidden), the tokens' own vectors; a caller who doesn't ask for it pays nothing. One text per
call, unpadded: a matrix multiplication quantises its input with one scale per call, so neighbours would
change a vector.

Weights are int8 per output channel in 7 bits (-64 ... 64): processors without VNNI add two products of
u8 x s8 in 16 bits, and 2 x 255 x 64 is below 2**15, so all processors compute the same integers. Inputs
are smoothed before they are quantised (SmoothQuant, Xiao et al. 2023): input channel j is multiplied by
1 / s_j and the weights by s_j. The encoder is post-LayerNorm, whose output also feeds the residual, so that
takes a node; only the attention's output, which is linear in the values, takes its scale from the rows of
the value matrix. What rounding the weights adds to an output on average, `Calibration.shift`, is added to
the bias. Both are committed, so that building a graph only multiplies, divides, adds and rounds.

The word table keeps the source's 4-bit blocks, as float32 it would take 384 MB. Addition and
LayerNormalization are apart on purpose: onnxruntime's fused SkipLayerNormalization takes five times as long.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.weights import BLOCK, Architecture, Weights
from ragkit.errors import ModelError

KINDS = ("qkv", "ao", "fi", "fo")
"""The four matrix multiplications of a layer: query, key and value in one, attention output, feed-forward in, out."""

LEVELS = 64
OPSET, IR_VERSION = 21, 10
_CONTRIB = "com.microsoft"
_INT4 = 22  # TensorProto.INT4, spelt out because nothing else of TensorProto is needed before `onnx` is imported

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Per matrix multiplication (``l0.qkv``): `smoothing` (inputs,), positive, and `shift` (outputs,)."""

    smoothing: Mapping[str, Floats]
    shift: Mapping[str, Floats]

    @classmethod
    def committed(cls) -> Calibration:
        """The one of the pinned model, made by benchmarks/calibrate.py from data/calibration.txt."""
        content = resources.files("ragkit.embedding").joinpath("data/smoothing.npz").read_bytes()
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            stored = {name: arrays[name].astype(np.float32) for name in arrays.files}
        parts: dict[str, dict[str, Floats]] = {"smoothing": {}, "shift": {}}
        for name, values in stored.items():
            key, _, part = name.rpartition(".")
            parts[part][key] = values
        return cls(**parts)

    @classmethod
    def neutral(cls, architecture: Architecture) -> Calibration:
        """No smoothing and no shift."""
        sizes = _sizes(architecture)
        return cls(
            {key: np.ones(inputs, np.float32) for key, (inputs, _) in sizes.items()},
            {key: np.zeros(outputs, np.float32) for key, (_, outputs) in sizes.items()},
        )

    def check(self, architecture: Architecture) -> None:
        """Raises `ModelError` unless it was made for a model of these sizes."""
        sizes = _sizes(architecture)
        inputs, outputs = ({key: values.size for key, values in part.items()} for part in (self.smoothing, self.shift))
        if inputs != {key: size for key, (size, _) in sizes.items()} or outputs != {
            k: s for k, (_, s) in sizes.items()
        }:
            raise ModelError(f"The calibration is of another model than the weights, which are {architecture}")


def _sizes(architecture: Architecture) -> dict[str, tuple[int, int]]:
    hidden, ffn = architecture.hidden, architecture.ffn
    of_kind = {"qkv": (hidden, 3 * hidden), "ao": (hidden, hidden), "fi": (hidden, ffn), "fo": (ffn, hidden)}
    return {f"l{layer}.{kind}": of_kind[kind] for layer in range(architecture.layers) for kind in KINDS}


def dense(weights: Weights, key: str, smoothing: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """Matrix (outputs, inputs) and bias of a multiplication such as ``l0.qkv``, unsmoothed.

    The values' rows are already divided by the smoothing of the attention's output.
    """
    layer, kind = key.split(".")
    if kind != "qkv":
        return weights.tensor(f"{key}.w"), weights.tensor(f"{key}.b")
    scale = smoothing[f"{layer}.ao"]
    parts = [(weights.tensor(f"{layer}.{name}.w"), weights.tensor(f"{layer}.{name}.b")) for name in "qkv"]
    value, bias = parts[2]
    parts[2] = value / scale[:, None], bias / scale
    return np.concatenate([matrix for matrix, _ in parts]), np.concatenate([bias for _, bias in parts])


def quantised(matrix: Floats, smoothing: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Codes (outputs, inputs) and scales (outputs,): matrix * smoothing is about codes * scales."""
    smooth = matrix * smoothing
    scales = np.abs(smooth).max(axis=1) / np.float32(LEVELS)
    scales[scales == 0] = 1
    return np.rint(smooth / scales[:, None]).astype(np.int8), scales


def build_graph(weights: Weights, calibration: Calibration) -> bytes:
    """The graph's file. The same weights and calibration, the same bytes. Raises `ModelError`."""
    architecture = weights.architecture
    calibration.check(architecture)
    graph = _Graph()
    state = _embeddings(graph, weights)
    for layer in range(architecture.layers):
        state = _layer(graph, weights, calibration, f"l{layer}", state)
    graph.constant("tokens", np.array([1], np.int64))
    graph.node("ReduceMean", [state, "tokens"], "mean", keepdims=0)
    graph.node("LpNormalization", ["mean"], "vector", axis=1, p=2)
    graph.node("Identity", [state], "last_hidden_state")
    return graph.serialised(architecture.hidden)


def _embeddings(graph: _Graph, weights: Weights) -> str:
    codes, scales = weights.blocks("emb.word")
    graph.constant_int4("word.codes", codes)
    graph.constant("word.scales", scales.astype(np.float32))
    table = ["word.codes", "input_ids", "word.scales"]
    words = graph.node(
        "GatherBlockQuantized", table, "word", _CONTRIB, block_size=BLOCK, gather_axis=0, quantize_axis=1
    )
    # A text has one segment, so its type row is the same for every token and goes into the positions.
    graph.constant("position.table", (weights.tensor("emb.pos") + weights.tensor("emb.type")[0])[None])
    graph.constant("zero", np.array([0], np.int64))
    graph.constant("one", np.array([1], np.int64))
    graph.node("Shape", ["input_ids"], "length", start=1, end=2)
    positions = graph.node("Slice", ["position.table", "zero", "length", "one"], "position")
    return _add_and_norm(graph, weights, "emb.ln", words, positions)


def _layer(graph: _Graph, weights: Weights, calibration: Calibration, layer: str, state: str) -> str:
    def multiplied(kind: str, state: str, *, smooth: bool = True) -> str:
        key = f"{layer}.{kind}"
        bias = _constants(graph, weights, calibration, key)
        if smooth:
            state = _smoothed(graph, calibration, key, state)
        inputs = [state, f"{key}.codes", f"{key}.scales", "", bias]
        return graph.node("DynamicQuantizeMatMul", inputs, f"{key}.out", _CONTRIB)

    def attention(state: str) -> str:
        key = f"{layer}.qkv"
        bias = _constants(graph, weights, calibration, key)
        smooth = _smoothed(graph, calibration, key, state)
        graph.nodes("DynamicQuantizeLinear", [smooth], [f"{key}.u8", f"{key}.step", f"{key}.zero"])
        inputs = [f"{key}.u8", f"{key}.codes", bias, f"{key}.step", f"{key}.scales", "", f"{key}.zero", ""]
        return graph.node("QAttention", inputs, f"{key}.out", _CONTRIB, num_heads=weights.architecture.heads)

    attended = multiplied("ao", attention(state), smooth=False)
    state = _add_and_norm(graph, weights, f"{layer}.aln", attended, state)
    inner = graph.node("Gelu", [multiplied("fi", state)], f"{layer}.gelu", _CONTRIB)
    return _add_and_norm(graph, weights, f"{layer}.oln", multiplied("fo", inner), state)


def _constants(graph: _Graph, weights: Weights, calibration: Calibration, key: str) -> str:
    """Put codes, scales and bias of a multiplication into the graph; the name of the bias."""
    matrix, bias = dense(weights, key, calibration.smoothing)
    codes, scales = quantised(matrix, calibration.smoothing[key])
    graph.constant(f"{key}.codes", codes.T)
    graph.constant(f"{key}.scales", scales)
    return graph.constant(f"{key}.bias", bias + calibration.shift[key])


def _smoothed(graph: _Graph, calibration: Calibration, key: str, state: str) -> str:
    factor = graph.constant(f"{key}.factor", 1 / calibration.smoothing[key])
    return graph.node("Mul", [state, factor], f"{key}.in")


def _add_and_norm(graph: _Graph, weights: Weights, name: str, left: str, right: str) -> str:
    graph.node("Add", [left, right], f"{name}.sum")
    inputs = [f"{name}.sum", *(graph.constant(f"{name}.{part}", weights.tensor(f"{name}.{part}")) for part in "wb")]
    return graph.node("LayerNormalization", inputs, f"{name}.out", axis=-1, epsilon=weights.architecture.epsilon)


class _Graph:
    """Collects nodes and constants. All that decides the bytes is set here, nothing is left to a default."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, name: str, array: NDArray[Any]) -> str:
        from onnx import TensorProto

        types = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64, "int8": TensorProto.INT8}
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        self._add(name, array.shape, types[array.dtype.name], little.tobytes())
        return name

    def constant_int4(self, name: str, codes: NDArray[np.int8]) -> None:
        """Two codes (-8 ... 7) a byte, the first one in the low nibble."""
        low, high = codes[:, 0::2].view(np.uint8), codes[:, 1::2].view(np.uint8)
        self._add(name, codes.shape, _INT4, ((low & 0x0F) | (high << 4)).tobytes())

    def _add(self, name: str, shape: Sequence[int], data_type: int, data: bytes) -> None:
        from onnx import TensorProto

        self._constants.append(TensorProto(name=name, dims=shape, data_type=data_type, raw_data=data))

    def node(self, kind: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes(kind, inputs, [output], domain, **attributes)
        return output

    def nodes(
        self, kind: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "", **attributes: Any
    ) -> None:
        from onnx import helper

        made = helper.make_node(kind, inputs, outputs, domain=domain, name=outputs[0], **attributes)
        self._nodes.append(made)

    def serialised(self, hidden: int) -> bytes:
        from onnx import TensorProto, helper

        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])
        vector = helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, hidden])
        states = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [1, "tokens", hidden])
        graph = helper.make_graph(self._nodes, "encoder", [ids], [vector, states], self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(_CONTRIB, 1)]
        model = helper.make_model(graph, producer_name="ragkit", ir_version=IR_VERSION, opset_imports=opsets)
        content: bytes = model.SerializeToString(deterministic=True)
        return content
