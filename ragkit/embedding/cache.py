"""The vector cache for passages: the same text under the same encoder on the same machine is embedded once.

One folder per encoder; in it, segments. A segment is a file that is written whole, renamed into place
and never changed: magic, sha256 of the rest, then records of 32 bytes (sha256 of role and text) and the
vector, float32 little-endian. So two processes can write at once, a killed one leaves nothing, and a
segment with one wrong byte is thrown away. Queries are never cached: embedding them is part of the
latency that is measured.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.base import Encoder, TextError, identity_of
from ragkit.embedding.machine import runtime
from ragkit.errors import FileError
from ragkit.files import sha256_bytes, write_atomic
from ragkit.records import Progress, Role

MAGIC = b"RKV1"
LIMIT = 256 << 20
"""Bytes that the whole cache may take; beyond it the segments that were used least recently go."""
_SEGMENTS = 32
"""An encoder with more segments than this gets them merged into one."""
_BATCH = 2048
"""Texts embedded between two writes, so that a long run that is killed keeps most of its work."""
_STALE = 3600.0
"""Seconds after which a temporary file is taken for the rest of a killed process."""
_HEADER = len(MAGIC) + 32
_KEY = 32


def cached(encoder: Encoder, folder: Path | None) -> Encoder:
    """The same encoder, with its passage vectors kept in `folder`; `None`: the encoder itself."""
    return encoder if folder is None else CachedEncoder(encoder, folder)


class CachedEncoder:
    """An `Encoder` that looks up passages before it embeds them; the vectors are the same, bit for bit.

    Processor features and library versions are part of the key, because they move the last bits.
    `hits` and `misses` count texts. `notice` says in a sentence why nothing could be written, or is `None`.
    """

    def __init__(self, encoder: Encoder, folder: Path, limit: int = LIMIT) -> None:
        self.hits = 0
        self.misses = 0
        self.notice: str | None = None
        self._encoder = encoder
        self._root = folder
        self._limit = limit
        self._folder = folder / identity_of({"encoder": encoder.identity, "runtime": runtime()})[:32]
        self._vectors: dict[bytes, NDArray[np.float32]] | None = None

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def identity(self) -> str:
        return self._encoder.identity

    @property
    def description(self) -> dict[str, Any]:
        return self._encoder.description

    def count_tokens(self, text: str, role: Role | None) -> int:
        return self._encoder.count_tokens(text, role)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self._encoder.token_spans(text)

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        """See `Encoder.encode`. A text that occurs twice is embedded once."""
        if role == "query":
            return self._encoder.encode(texts, role, progress)
        if self._vectors is None:
            self._vectors = self._read()
        known = self._vectors
        keys = [_key(role, text) for text in texts]
        missing = {key: index for index, key in reversed(list(enumerate(keys))) if key not in known}
        todo = sorted(missing.values())  # the first place of each missing text
        self.misses += len(todo)
        self.hits += len(texts) - len(todo)
        if progress is not None and len(texts) > len(todo):
            progress(len(texts) - len(todo))
        for start in range(0, len(todo), _BATCH):
            batch = todo[start : start + _BATCH]
            try:
                vectors = self._encoder.encode([texts[index] for index in batch], role, progress)
            except TextError as error:
                raise TextError(batch[error.index], error.message) from error
            fresh = {keys[index]: vector for index, vector in zip(batch, vectors, strict=True)}
            self._write(fresh)
            known.update(fresh)
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([known[key] for key in keys])

    def _read(self) -> dict[bytes, NDArray[np.float32]]:
        found: dict[bytes, NDArray[np.float32]] = {}
        segments = _segments(self._folder)
        for path in segments:
            records = _load(path, self.dimension)
            if records is None:
                _remove(path)
            else:
                _touch(path)
                found.update(zip((bytes(key) for key in records["key"]), records["vector"], strict=True))
        if len(segments) > _SEGMENTS and (merged := self._write(found)):
            for path in segments:
                if path != merged:
                    _remove(path)
        return found

    def _write(self, vectors: dict[bytes, NDArray[np.float32]]) -> Path | None:
        """Add a segment, and give its path if it could be written."""
        if self.notice is not None:
            return None
        records = np.empty(len(vectors), _layout(self.dimension))
        for record, key in zip(records, sorted(vectors), strict=True):
            record["key"], record["vector"] = np.frombuffer(key, np.uint8), vectors[key]
        body = records.tobytes()
        # Named by its content: two processes that merge the same segments write the same file.
        path = self._folder / f"{sha256_bytes(body)[:32]}.vec"
        try:
            write_atomic(path, MAGIC + hashlib.sha256(body).digest() + body)
        except FileError as error:
            self.notice = f"The vectors are not kept for the next run: {error}"
            return None
        self._keep_bounded(path)
        return path

    def _keep_bounded(self, newest: Path) -> None:
        """Remove what killed processes left, and the least recently used segments beyond the limit."""
        for path in self._root.glob("*/.*.tmp"):
            if time.time() - _stat(path)[0] > _STALE:
                _remove(path)
        segments = sorted((*_stat(path), path) for path in self._root.glob("*/*.vec") if path != newest)
        total = _stat(newest)[1] + sum(size for _, size, _ in segments)
        for _, size, path in segments:
            if total <= self._limit:
                return
            _remove(path)
            total -= size


def _key(role: Role, text: str) -> bytes:
    return hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _layout(dimension: int) -> np.dtype[np.void]:
    return np.dtype([("key", "u1", (_KEY,)), ("vector", "<f4", (dimension,))])


def _segments(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.vec"))
    except OSError:
        return []


def _load(path: Path, dimension: int) -> NDArray[np.void] | None:
    """The records of a segment, or `None` when it isn't what was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body = memoryview(content)[_HEADER:]
    layout = _layout(dimension)
    if content[: len(MAGIC)] != MAGIC or len(body) % layout.itemsize:
        return None
    if hashlib.sha256(body).digest() != content[len(MAGIC) : _HEADER]:
        return None
    return np.frombuffer(body, layout)


def _stat(path: Path) -> tuple[float, int]:
    """Time of last use and size; zeros for a file that another process removed meanwhile."""
    try:
        found = path.stat()
    except OSError:
        return 0.0, 0
    return found.st_mtime, found.st_size


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(path)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # read-only, or another process was faster
        path.unlink()
