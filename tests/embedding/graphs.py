"""Toy ONNX graphs in the two layouts that the q8 runner knows, 8 dimensions, vectors that can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ragkit.embedding.tokenizer import tokenizer_json, tokenizer_model
from ragkit.embedding.weights import Weights
from tests.embedding.tiny import write_tiny

DIMENSION = 8


def table(words: int = 450) -> NDArray[np.float32]:
    """The word vectors of both graphs, (words, 8)."""
    return np.random.default_rng(1).normal(0, 1, (words, DIMENSION)).astype(np.float32)


def write_hub_graph(path: Path, words: NDArray[np.float32] | None = None) -> Path:
    """Three inputs as a BERT export has them, `last_hidden_state` out: the words' vectors plus 0 x mask and types."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["word"]),
        helper.make_node("Add", ["attention_mask", "token_type_ids"], ["used"]),
        helper.make_node("Cast", ["used"], ["float"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["float", "last"], ["column"]),
        helper.make_node("Mul", ["word", "column"], ["last_hidden_state"]),
    ]
    names = ("input_ids", "attention_mask", "token_type_ids")
    return _write(path, nodes, names, "last_hidden_state", ["batch", "tokens", DIMENSION], words)


def write_pooled_graph(path: Path, words: NDArray[np.float32] | None = None) -> Path:
    """One input, the finished vector out."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["word"]),
        helper.make_node("ReduceMean", ["word", "one"], ["mean"], keepdims=0),
        helper.make_node("LpNormalization", ["mean"], ["embedding"], axis=-1, p=2),
    ]
    return _write(path, nodes, ("input_ids",), "embedding", ["batch", DIMENSION], words)


def write_tokenizer(path: Path) -> Path:
    """In sentencepiece's form, or as a `tokenizer.json` if the file is named so."""
    weights = Weights(write_tiny(path.with_suffix(".weights")))
    make = tokenizer_json if path.suffix == ".json" else tokenizer_model
    path.write_bytes(make(weights.vocabulary))
    return path


def _write(
    path: Path,
    nodes: list[onnx.NodeProto],
    inputs: tuple[str, ...],
    output: str,
    shape: list[str | int],
    words: NDArray[np.float32] | None,
) -> Path:
    constants = [
        numpy_helper.from_array(table() if words is None else words, "table"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "one"),
    ]
    used = {name for node in nodes for name in node.input}
    graph = helper.make_graph(
        nodes,
        "toy",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        [constant for constant in constants if constant.name in used],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path.write_bytes(model.SerializeToString())
    return path
