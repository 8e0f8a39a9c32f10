"""Reading the weights file (format `E5S1`): a BERT encoder and its Unigram vocabulary in one file.

Little-endian: magic, u32 version; i32 hidden, layers, heads, ffn, word rows, position rows, type rows;
f32 epsilon; i32 block length; i32 pieces, bos, eos, pad, unk; u64 blob bytes; u32 offsets[pieces + 1];
f32 scores[pieces]; the blob of pieces (UTF-8); i32 count and u32 bytes of a normalisation map, which is
skipped (`tokenizer` takes sentencepiece's own rule); i32 entries of a directory of tensors: u16 name
length, name, u8 dtype, u32 values, u64 offset in the file, u64 bytes.

dtype 0 is float32. dtype 1 is blocks of 32 weights along a row: a float16 scale d, then 16 bytes, byte j
with weight j in its low nibble and weight j + 16 in its high one; a weight is (nibble - 8) * d.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import ModelError

MAGIC = b"E5S1"
VERSION = 1
BLOCK = 32
_BLOCK_LAYOUT = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK // 2,))])
_LIMIT = 1 << 24
"""No dimension or count of such a file is anywhere near this; a larger one is damage."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """The sizes of a post-LayerNorm BERT encoder with learned absolute positions."""

    hidden: int
    layers: int
    heads: int
    ffn: int
    words: int
    positions: int
    types: int
    epsilon: float

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Every tensor's name and shape; a matrix is (outputs, inputs)."""
        hidden, ffn = self.hidden, self.ffn
        shapes: dict[str, tuple[int, ...]] = {
            "emb.word": (self.words, hidden),
            "emb.pos": (self.positions, hidden),
            "emb.type": (self.types, hidden),
            "emb.ln.w": (hidden,),
            "emb.ln.b": (hidden,),
        }
        for layer in range(self.layers):
            for name, outputs, inputs in (
                ("q", hidden, hidden),
                ("k", hidden, hidden),
                ("v", hidden, hidden),
                ("ao", hidden, hidden),
                ("fi", ffn, hidden),
                ("fo", hidden, ffn),
            ):
                shapes[f"l{layer}.{name}.w"] = (outputs, inputs)
                shapes[f"l{layer}.{name}.b"] = (outputs,)
            for name in ("aln", "oln"):
                shapes[f"l{layer}.{name}.w"] = (hidden,)
                shapes[f"l{layer}.{name}.b"] = (hidden,)
        return shapes


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Unigram pieces with their scores (log probabilities), by token id, and the ids with a meaning."""

    pieces: tuple[tuple[str, float], ...]
    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True, slots=True)
class _Entry:
    dtype: int
    offset: int
    shape: tuple[int, ...]


class Weights:
    """One weights file, mapped into memory; a tensor is converted when it is asked for.

    Raises `ModelError` when the file can't be read, isn't of this format or is damaged: a wrong magic,
    version or size, a tensor that is missing, unknown, of the wrong length or outside the file, a vocabulary
    that isn't text.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._data: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        except (OSError, ValueError) as error:  # ValueError: an empty file can't be mapped
            raise ModelError(f"{path}: the weights can't be read: {error}") from error
        cursor = _Cursor(path, self._data)
        self.architecture = _read_architecture(cursor)
        self.vocabulary = _read_vocabulary(cursor, self.architecture.words)
        self._entries = _read_directory(cursor, self.architecture)

    def tensor(self, name: str, start: int = 0, stop: int | None = None) -> NDArray[np.float32]:
        """The tensor's rows `[start, stop)` as float32, all of them by default; a fresh array."""
        entry = self._entries[name]
        if entry.dtype == 1:
            codes, scales = self.blocks(name, start, stop)
            blocks = codes.astype(np.float32).reshape(*scales.shape, BLOCK)
            blocks *= scales[..., None].astype(np.float32)
            return blocks.reshape(codes.shape)
        rows, *rest = entry.shape
        raw = self._data[entry.offset : entry.offset + 4 * int(np.prod(entry.shape))]
        return raw.view("<f4").reshape(rows, *rest)[start:stop].astype(np.float32)

    def blocks(
        self, name: str, start: int = 0, stop: int | None = None
    ) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
        """Rows of a 4-bit matrix as they are: codes -8 ... 7 (rows, columns), scales (rows, columns / 32).

        Raises `ModelError` when the tensor isn't stored in blocks.
        """
        entry = self._entries[name]
        if entry.dtype != 1:
            raise _damaged(self._path, f"tensor {name} is not stored in 4-bit blocks")
        rows, columns = entry.shape
        size = rows * columns // BLOCK * _BLOCK_LAYOUT.itemsize
        stored = self._data[entry.offset : entry.offset + size].view(_BLOCK_LAYOUT)
        chosen = stored.reshape(rows, columns // BLOCK)[start:stop]
        nibbles = chosen["nibbles"]
        codes = np.concatenate([nibbles & 0x0F, nibbles >> 4], axis=2).view(np.int8)
        codes -= 8
        return codes.reshape(len(chosen), columns), chosen["scale"]


class _Cursor:
    """Reads on from the front of the file; never past its end."""

    def __init__(self, path: Path, data: NDArray[np.uint8]) -> None:
        self.path = path
        self.size = len(data)
        self._data = data
        self._at = 0

    def take(self, count: int, what: str) -> NDArray[np.uint8]:
        if count < 0 or self._at + count > self.size:
            raise _damaged(self.path, f"it ends within its {what} ({self.size} bytes in all)")
        taken = self._data[self._at : self._at + count]
        self._at += count
        return taken

    def unpack(self, layout: str, what: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout), what).tobytes())

    def text(self, count: int, what: str) -> str:
        try:
            return self.take(count, what).tobytes().decode()
        except UnicodeDecodeError as error:
            raise _damaged(self.path, f"its {what} is not UTF-8") from error


def _damaged(path: Path, what: str) -> ModelError:
    return ModelError(f"{path}: damaged weights: {what}. Run: ragkit prepare --force")


def _read_architecture(cursor: _Cursor) -> Architecture:
    magic = cursor.take(len(MAGIC), "magic").tobytes()
    if magic != MAGIC:
        raise _damaged(cursor.path, f"it starts with {magic!r}, not {MAGIC!r}")
    (version,) = cursor.unpack("I", "version")
    if version != VERSION:
        raise _damaged(cursor.path, f"format version {version}, ragkit reads {VERSION}")
    *sizes, epsilon, block = cursor.unpack("7ifi", "sizes")
    if any(not 0 < size < _LIMIT for size in sizes) or not 0 < epsilon < 1:
        raise _damaged(cursor.path, f"impossible sizes {sizes}, epsilon {epsilon}")
    hidden, layers, heads, ffn, words, positions, types = sizes
    architecture = Architecture(hidden, layers, heads, ffn, words, positions, types, epsilon)
    if block != BLOCK or architecture.hidden % BLOCK or architecture.ffn % BLOCK:
        raise _damaged(cursor.path, f"blocks of {block}, rows of {architecture.hidden} and {architecture.ffn} values")
    if architecture.hidden % architecture.heads:
        raise _damaged(cursor.path, f"{architecture.hidden} values don't divide into {architecture.heads} heads")
    return architecture


def _read_vocabulary(cursor: _Cursor, words: int) -> Vocabulary:
    count, bos, eos, pad, unk = cursor.unpack("5i", "vocabulary")
    if not 0 < count <= words or any(not 0 <= special < count for special in (bos, eos, pad, unk)):
        raise _damaged(cursor.path, f"{count} pieces for {words} word rows, special ids {bos}, {eos}, {pad}, {unk}")
    (length,) = cursor.unpack("Q", "vocabulary")
    offsets = cursor.take(4 * (count + 1), "vocabulary").view("<u4").astype(np.int64)
    scores = cursor.take(4 * count, "vocabulary").view("<f4")
    blob = cursor.take(length, "vocabulary").tobytes()
    if offsets[0] != 0 or offsets[-1] != length or (np.diff(offsets) < 0).any() or not np.isfinite(scores).all():
        raise _damaged(cursor.path, "the pieces of its vocabulary overlap or have no scores")
    try:
        pieces = [blob[a:b].decode() for a, b in pairwise(offsets)]
    except UnicodeDecodeError as error:
        raise _damaged(cursor.path, "a piece of its vocabulary is not UTF-8") from error
    _, skipped = cursor.unpack("iI", "normalisation map")
    cursor.take(skipped, "normalisation map")
    return Vocabulary(tuple(zip(pieces, scores.astype(float).tolist(), strict=True)), bos, eos, pad, unk)


def _read_directory(cursor: _Cursor, architecture: Architecture) -> dict[str, _Entry]:
    (count,) = cursor.unpack("i", "directory")
    shapes = architecture.shapes()
    entries: dict[str, _Entry] = {}
    for _ in range(count):
        (length,) = cursor.unpack("H", "directory")
        name = cursor.text(length, "directory")
        dtype, values, offset, size = cursor.unpack("BIQQ", "directory")
        shape = shapes.get(name)
        if shape is None or name in entries:
            raise _damaged(cursor.path, f"tensor {name!r} is not expected{' twice' if shape else ''}")
        expected = int(np.prod(shape))
        stored = {0: 4 * expected, 1: expected // BLOCK * _BLOCK_LAYOUT.itemsize if len(shape) == 2 else -1}.get(dtype)
        if values != expected or size != stored or offset + size > cursor.size:
            raise _damaged(
                cursor.path, f"tensor {name}: dtype {dtype}, {values} values in bytes {offset} to {offset + size}"
            )
        entries[name] = _Entry(dtype, offset, shape)
    if missing := sorted(shapes.keys() - entries.keys()):
        raise _damaged(cursor.path, f"tensors are missing: {', '.join(missing[:5])}")
    return entries
