"""From the source's weights to what a prepared folder holds.

The q8 graph (`model.onnx`), its tokenizer (`tokenizer.model`), and the float32 reference in `reference/`.
"""

from __future__ import annotations

from pathlib import Path

from ragkit.embedding.graph import Calibration, build_graph
from ragkit.embedding.reference import write_reference
from ragkit.embedding.tokenizer import tokenizer_json, tokenizer_model
from ragkit.embedding.weights import Weights
from ragkit.errors import FileError
from ragkit.records import Progress

CONVERTER_VERSION = "2"
"""Raised when other files than the graph, whose hash is committed, come out differently."""

GRAPH_SHA256 = "38b689243443a2e0b04d84471bd57e523e7c99457ca1896ea2218c931d2467a2"
"""Of the `model.onnx` that the pinned weights and the committed calibration give."""


def convert(
    weights_file: Path, target: Path, progress: Progress | None = None, *, calibration: Calibration | None = None
) -> None:
    """Write `model.onnx`, `tokenizer.model` and `reference/` into the folder `target`, made if needed.

    The same weights give the same bytes, everywhere. `calibration` is the pinned model's by default;
    `progress` counts the three parts. Raises `ModelError` when the weights are damaged or aren't those of
    the calibration, `FileError` when something can't be written.
    """
    weights = Weights(weights_file)
    _write(target / "tokenizer.model", tokenizer_model(weights.vocabulary))
    _tell(progress)
    _write(target / "model.onnx", build_graph(weights, calibration or Calibration.committed()))
    _tell(progress)
    write_reference(weights, tokenizer_json(weights.vocabulary), target / "reference")
    _tell(progress)


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror or error}") from error


def _tell(progress: Progress | None) -> None:
    if progress is not None:
        progress(1)
