"""Passages embedded in a second: the q8 runner and sentence-transformers in float32 at its best batch size.

    python benchmarks/embedding.py [N]      # N chunks of eval/corpus, default 160; needs `ragkit prepare`

The same weights on both sides. Checked besides: the cosine of every chunk and question of the evaluation set
between the two, that order, neighbours and threads move no vector, and the peak memory of a whole eval. For
information: the same graph without smoothing, which is what plain dynamic int8 is.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import timing
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from ragkit import config
from ragkit.chunking import chunk_document
from ragkit.dataset import read_questions
from ragkit.embedding import cache_root
from ragkit.embedding.graph import Calibration, build_graph
from ragkit.embedding.loading import load_encoder
from ragkit.embedding.q8 import Q8Encoder, usable_cores
from ragkit.embedding.registry import model_folder, registered
from ragkit.embedding.weights import Weights
from ragkit.ingest import read_corpus

SETTINGS = config.load(config.DEFAULT_PATH)
PREFIXES = {"query": SETTINGS.model.query_prefix, "passage": SETTINGS.model.passage_prefix}
BATCHES = (1, 2, 4, 8, 16, 32)


def without_smoothing(weights_file: Path, folder: Path, prepared: Path) -> Q8Encoder:
    """The q8 graph built with neutral scales."""
    weights = Weights(weights_file)
    (folder / "model.onnx").write_bytes(build_graph(weights, Calibration.neutral(weights.architecture)))
    return Q8Encoder(
        folder / "model.onnx", prepared / "tokenizer.json", dimension=384, max_tokens=512, prefixes=PREFIXES,
        description={}, hashes={"model.onnx": "benchmark"},
    )  # fmt: skip


def best_batch(model: SentenceTransformer, texts: list[str]) -> int:
    """The batch size at which the reference is quickest here."""
    seconds = {}
    for size in BATCHES:
        started = time.perf_counter()
        model.encode(texts, batch_size=size, show_progress_bar=False)
        seconds[size] = time.perf_counter() - started
    return min(seconds, key=lambda size: seconds[size])


def cosines(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> str:
    found = np.einsum("ij,ij->i", ours, theirs / np.linalg.norm(theirs, axis=1, keepdims=True))
    return f"least {found.min():.5f}, mean {found.mean():.5f}, n = {len(found)}"


def main(count: int = 160) -> None:
    encoder = load_encoder(SETTINGS.model, cache_root())
    prepared = model_folder(registered("pypi"), cache_root())
    documents = read_corpus(Path(SETTINGS.dataset.corpus))
    chunks = [chunk.embedded_text for document in documents for chunk in chunk_document(document, SETTINGS.chunking)]
    questions = [question.question for question in read_questions(Path(SETTINGS.dataset.questions))]
    sample = random.Random(1).sample(chunks, min(count, len(chunks)))  # noqa: S311  the same chunks every time
    prefixed = [PREFIXES["passage"] + text for text in sample]

    import torch

    torch.set_num_threads(usable_cores())
    reference = SentenceTransformer(str(prepared / "reference"), device="cpu", local_files_only=True)
    batch = best_batch(reference, prefixed[:40])
    tokens = sum(encoder.count_tokens(text, "passage") for text in sample)
    seconds = timing.alternate(
        {
            "ragkit q8": partial(encoder.encode, sample, "passage"),
            f"sentence-transformers float32, batch {batch}": partial(
                reference.encode, prefixed, batch_size=batch, show_progress_bar=False
            ),
        }
    )
    timing.show(
        f"{len(sample)} chunks, {tokens} tokens, {usable_cores()} cores", timing.rows(seconds, tokens, "tokens")
    )

    encode = partial(reference.encode, batch_size=batch, show_progress_bar=False)
    vectors = encoder.encode(chunks, "passage")
    print("\ncosine of q8 to float32:")
    print("  chunks   ", cosines(vectors, encode([PREFIXES["passage"] + text for text in chunks])))
    print(
        "  questions", cosines(encoder.encode(questions, "query"), encode([PREFIXES["query"] + q for q in questions]))
    )
    order = random.Random(2).sample(range(len(chunks)), len(chunks))  # noqa: S311
    same = np.array_equal(encoder.encode([chunks[i] for i in order], "passage"), vectors[order])
    alone = all(np.array_equal(encoder.encode([chunks[i]], "passage")[0], vectors[i]) for i in order[:50])
    print(f"  shuffled, and one at a time on one thread: {'identical' if same and alone else 'DIFFERENT'} vectors")

    with tempfile.TemporaryDirectory() as folder:
        if weights_file := os.environ.get("RAGKIT_WEIGHTS"):
            plain = without_smoothing(Path(weights_file), Path(folder), prepared)
            print("  without smoothing:", cosines(plain.encode(sample, "passage"), encode(prefixed)))
        for label, extra in (("cold", ["--no-vector-cache"]), ("warm", [])):
            command = [sys.executable, "-m", "ragkit", "eval", "--out", f"{folder}/run", *extra]
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            whole = time.perf_counter() - started
            found = json.loads(Path(folder, "run/timing.json").read_text(encoding="utf-8"))
            print(f"{label} eval: {whole:.1f} s, peak memory {found['peak_memory_mb']} MB")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
