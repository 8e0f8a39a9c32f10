"""Make the committed data of ragkit/embedding/data again, in this order, preparing anew in between.

    python benchmarks/calibrate.py smoothing PREPARED WEIGHTS     smoothing.npz; then GRAPH_SHA256 changes
    python benchmarks/calibrate.py fingerprint PREPARED           the vectors in fingerprint.json

PREPARED is a folder that `convert` filled, WEIGHTS the source's weights file (`e5-small-q4.bin`). The float32
model reads the texts of data/calibration.txt; per input channel j of a matrix multiplication,

    s_j = max|x_j| ** a / max|w_j| ** (1 - a)          (SmoothQuant, Xiao et al. 2023)

and the shift of an output is what rounding the weights takes from it at the mean input. Powers and sums
differ between processors in the last bits, so the result is committed and not made anew by `ragkit prepare`.
The exponents a gave the best cosines on texts in six languages, tried one by one in steps of 0.1.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding import graph
from ragkit.embedding.tokenizer import Tokenizer
from ragkit.embedding.weights import Weights

DATA = Path(graph.__file__).parent / "data"
EXPONENTS = {"qkv": 0.7, "ao": 0.6, "fi": 0.6, "fo": 0.7}


def observed(reference: Path, texts: list[str]) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Per multiplication: the largest |x_j| over all tokens, and the mean of x_j (every text weighs the same)."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(reference), device="cpu", local_files_only=True)
    largest: dict[str, list[NDArray[Any]]] = defaultdict(list)
    means: dict[str, list[NDArray[Any]]] = defaultdict(list)

    def watch(key: str, module: Any) -> None:
        def look(_: Any, inputs: Any) -> None:
            values = inputs[0].detach().double().reshape(-1, inputs[0].shape[-1]).numpy()
            largest[key].append(np.abs(values).max(axis=0))
            means[key].append(values.mean(axis=0))

        module.register_forward_pre_hook(look)

    for number, layer in enumerate(model[0].model.encoder.layer):
        watch(f"l{number}.qkv", layer.attention.self.query)
        watch(f"l{number}.ao", layer.attention.output.dense)
        watch(f"l{number}.fi", layer.intermediate.dense)
        watch(f"l{number}.fo", layer.output.dense)
    for text in texts:
        model.encode([text], prompt="", show_progress_bar=False)
    return {k: np.max(v, axis=0) for k, v in largest.items()}, {k: np.mean(v, axis=0) for k, v in means.items()}


def write_smoothing(reference: Path, weights_file: Path) -> None:
    texts = (DATA / "calibration.txt").read_text(encoding="utf-8").splitlines()
    largest, means = observed(reference, texts)
    weights = Weights(weights_file)
    unscaled = graph.Calibration.neutral(weights.architecture).smoothing
    smoothing, shift = {}, {}
    for key, bound in largest.items():
        exponent = EXPONENTS[key.split(".")[1]]
        matrix, _ = graph.dense(weights, key, unscaled)
        scale = np.maximum(bound, 1e-5) ** exponent / np.maximum(np.abs(matrix).max(axis=0), 1e-5) ** (1 - exponent)
        smoothing[key] = scale.astype(np.float16).astype(np.float32)
    for key, mean in means.items():
        matrix, _ = graph.dense(weights, key, smoothing)
        codes, scales = graph.quantised(matrix, smoothing[key])
        lost = matrix.astype(np.float64) - codes * scales[:, None].astype(np.float64) / smoothing[key]
        shift[key] = lost @ mean
    stored = {f"{key}.smoothing": values.astype(np.float16) for key, values in smoothing.items()}
    stored |= {f"{key}.shift": values.astype(np.float16) for key, values in shift.items()}
    np.savez(DATA / "smoothing.npz", **stored)
    print(f"{DATA / 'smoothing.npz'}: {len(stored)} arrays from {len(texts)} texts")


def write_fingerprint(prepared: Path) -> None:
    """Ask the q8 graph for the vectors of the probes that stand in fingerprint.json."""
    import onnxruntime

    path = DATA / "fingerprint.json"
    tokenizer = Tokenizer(prepared / "tokenizer.json")
    session = onnxruntime.InferenceSession(prepared / "model.onnx", providers=["CPUExecutionProvider"])
    lines = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        ids = np.array([tokenizer.encode(f"{entry['role']}: {entry['text']}")])
        vector = session.run(["vector"], {"input_ids": ids})[0][0]
        entry["vector"] = [round(float(value), 6) for value in vector]
        lines.append(json.dumps(entry, ensure_ascii=False))
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    print(f"{path}: {len(lines)} probes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["smoothing", "fingerprint"])
    parser.add_argument("prepared", type=Path)
    parser.add_argument("weights", type=Path, nargs="?", help="for smoothing")
    arguments = parser.parse_args()
    if arguments.what == "fingerprint":
        write_fingerprint(arguments.prepared)
    elif arguments.weights is None:
        parser.error("smoothing needs WEIGHTS")
    else:
        write_smoothing(arguments.prepared / "reference", arguments.weights)


if __name__ == "__main__":
    main()
