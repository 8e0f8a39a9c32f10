"""A weights file of the real format with a toy model in it: 64 dimensions, 2 layers, a few hundred pieces."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.weights import Architecture

ARCHITECTURE = Architecture(
    hidden=64, layers=2, heads=4, ffn=128, words=450, positions=512, types=2, epsilon=9.999999960041972e-13
)
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>")
WORDS = ("query", "passage", "the", "of", "in", "token", "model", "wasser", "rivière", "noche", "如何", "です")


def pieces() -> list[tuple[str, float]]:
    """Pieces and scores by id: specials, words with and without the word mark, then single characters."""
    marked = [mark + word for word in WORDS for mark in ("\u2581", "")]
    letters = [chr(code) for code in (*range(0x21, 0x7F), *range(0xC0, 0x100), *range(0x3041, 0x3097))]
    letters += [*"\u2581水山日本語中文南瓜的家常做法。、", *"\u2026"]
    listed = [*((piece, 0.0) for piece in SPECIALS)]
    listed += [(piece, -4.0 - 0.01 * i) for i, piece in enumerate(marked)]
    listed += [(piece, -9.0 - 0.01 * i) for i, piece in enumerate(dict.fromkeys(letters)) if piece not in marked]
    return [*listed, ("<mask>", 0.0)]


def _blocks(matrix: NDArray[np.float64]) -> bytes:
    """Blocks of 32 along the rows: float16 scale, then weight j and j + 16 in the nibbles of byte j."""
    grouped = matrix.reshape(-1, 32)
    scale = (np.abs(grouped).max(axis=1, keepdims=True) / 7).astype("<f2")
    codes = np.clip(np.rint(grouped / scale.astype(float)) + 8, 0, 15).astype(np.uint8)
    packed = codes[:, :16] | (codes[:, 16:] << 4)
    return np.concatenate([scale.view(np.uint8), packed], axis=1).tobytes()


def tiny_bytes(architecture: Architecture = ARCHITECTURE, *, seed: int = 7) -> bytes:
    """The file's bytes; the same seed, the same bytes."""
    random = np.random.default_rng(seed)
    vocabulary = pieces()
    encoded = [piece.encode() for piece, _ in vocabulary]
    offsets = np.cumsum([0, *map(len, encoded)]).astype("<u4")
    a = architecture
    head = b"E5S1" + struct.pack("<I7i", 1, a.hidden, a.layers, a.heads, a.ffn, a.words, a.positions, a.types)
    head += struct.pack("<fi5iQ", a.epsilon, 32, len(vocabulary), 0, 2, 1, 3, int(offsets[-1]))
    head += offsets.tobytes() + np.array([score for _, score in vocabulary], "<f4").tobytes() + b"".join(encoded)
    head += struct.pack("<iI", 1, 5) + b"dummy"
    stored: list[tuple[str, int, int, bytes]] = []
    for name, shape in architecture.shapes().items():
        values = random.normal(0.0, 0.25, shape)
        if name.endswith("ln.w"):
            values = 1 + values
        blocked = name == "emb.word" or (name.startswith("l") and len(shape) == 2)
        stored.append((name, int(blocked), values.size, _blocks(values) if blocked else values.astype("<f4").tobytes()))
    offset = len(head) + 4 + sum(2 + len(name) + 21 for name, *_ in stored)
    directory, body = struct.pack("<i", len(stored)), b""
    for name, dtype, count, data in stored:
        padding = -(offset + len(body)) % 64
        body += bytes(padding)
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", dtype, count, offset + len(body), len(data))
        body += data
    return head + directory + body


def write_tiny(path: Path, architecture: Architecture = ARCHITECTURE, *, seed: int = 7) -> Path:
    """Write the file and give back its path."""
    path.write_bytes(tiny_bytes(architecture, seed=seed))
    return path
