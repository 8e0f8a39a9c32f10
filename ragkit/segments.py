"""Values by key in a folder of files that are written whole and never changed.

A file, a segment: magic, SHA-256 of the rest, then the number of records (u32), for each its key of 32
bytes and the length of its value (u32), and the values; little-endian. It is renamed into place, so two
processes can write at once, a killed one leaves nothing, and a segment with one wrong byte is thrown away.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import time
from collections.abc import Mapping
from itertools import accumulate, pairwise
from pathlib import Path

from ragkit.errors import FileError
from ragkit.files import alone, sha256_bytes, write_atomic

MAGIC = b"RKV2"
SUFFIX = ".seg"
LIMIT = 1 << 30
"""Bytes that all folders below the root may take; beyond it the segments that were used least recently go."""
MERGE_BEYOND = 32
"""A folder with more segments than this gets them merged into one when it is read."""
_STALE = 3600.0
"""Seconds after which a temporary file is taken for the rest of a killed process."""
_HEADER = len(MAGIC) + 32
_RECORD = struct.Struct("<32sI")


class Segments:
    """The folder `name` below `root`. `notice` says in a sentence why nothing could be written, or is `None`."""

    def __init__(self, root: Path, name: str, limit: int = LIMIT, *, what: str = "values") -> None:
        """`limit`: see `LIMIT`; `what` they are, in the plural, for the notice."""
        self.notice: str | None = None
        self.lock = root / name / ".lock"
        self._root = root
        self._folder = root / name
        self._limit = limit
        self._what = what

    def read(self) -> dict[bytes, memoryview]:
        """All that is there; what killed processes left of a segment goes."""
        self._tidy()
        found: dict[bytes, memoryview] = {}
        paths = self._paths()
        for path in paths:
            records = _load(path)
            if records is None:
                _remove(path)
            else:
                _touch(path)
                found.update(records)
        if len(paths) > MERGE_BEYOND and (merged := self.write(found)):
            for path in paths:
                if path != merged:
                    _remove(path)
        return found

    def write(self, values: Mapping[bytes, bytes | memoryview]) -> Path | None:
        """Add a segment, and give its path if it could be written."""
        if self.notice is not None:
            return None
        keys = sorted(values)
        index = (_RECORD.pack(key, len(values[key])) for key in keys)
        body = b"".join([struct.pack("<I", len(keys)), *index, *(values[key] for key in keys)])
        # Named by its content: two processes that merge the same segments write the same file.
        path = self._folder / f"{sha256_bytes(body)[:32]}{SUFFIX}"
        try:
            write_atomic(path, MAGIC + hashlib.sha256(body).digest() + body)
        except FileError as error:
            self.notice = f"The {self._what} are not kept for the next run: {error}"
            return None
        self._keep_bounded(path)
        return path

    def _paths(self) -> list[Path]:
        try:
            return sorted(self._folder.glob(f"*{SUFFIX}"))
        except OSError:
            return []

    def _tidy(self) -> None:
        for path in self._folder.glob(f".*{SUFFIX}.tmp"):
            with alone(self._folder) as sure:
                if sure:  # who writes is alone in here, so this one's writer is dead or has renamed it
                    _remove(path)

    def _keep_bounded(self, newest: Path) -> None:
        """Remove what killed processes left, and the least recently used segments beyond the limit."""
        for path in self._root.glob("*/.*.tmp"):
            if time.time() - _stat(path)[0] > _STALE:
                _remove(path)
        segments = sorted((*_stat(path), path) for path in self._root.glob(f"*/*{SUFFIX}") if path != newest)
        total = _stat(newest)[1] + sum(size for _, size, _ in segments)
        for _, size, path in segments:
            if total <= self._limit:
                return
            _remove(path)
            total -= size


def _load(path: Path) -> dict[bytes, memoryview] | None:
    """The records of a segment, or `None` when it isn't what was written."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body = memoryview(content)[_HEADER:]
    if content[: len(MAGIC)] != MAGIC or hashlib.sha256(body).digest() != content[len(MAGIC) : _HEADER]:
        return None
    (count,) = struct.unpack_from("<I", body)
    values = 4 + count * _RECORD.size
    index = list(_RECORD.iter_unpack(body[4:values]))
    ends = accumulate((length for _, length in index), initial=values)
    return {key: body[start:end] for (key, _), (start, end) in zip(index, pairwise(ends), strict=True)}


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
