"""The document cache: a file is read once, until it or what reads it changes.

What reads it: the source of the parsers and of what they stand on, and the versions of Python and of the
libraries behind them. So nothing needs to be thrown away by hand, and a run never depends on what was kept.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from pathlib import Path

from ragkit.errors import FileError
from ragkit.files import canonical_json, sha256_bytes, sha256_file
from ragkit.ingest import document, portable
from ragkit.records import Document
from ragkit.segments import Segments

LIMIT = 256 << 20
"""Bytes that kept documents may take on disk, and in memory while a corpus is read."""
BATCH = 256
"""Documents read between two writes, so that a long run that is killed keeps most of its work."""
LIBRARIES = ("lxml", "markdown-it-py", "mdit-py-plugins", "openpyxl", "pypdfium2", "python-docx", "python-pptx")


class DocumentCache:
    """Documents in `folder`. `notice` says in a sentence why nothing could be written, or is `None`."""

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self._segments = Segments(folder, identity()[:32], limit, what="parsed documents")
        self._known: dict[bytes, memoryview] | None = None
        self._fresh: dict[bytes, bytes] = {}

    @property
    def notice(self) -> str | None:
        return self._segments.notice

    def find(self, path: Path, slug: str) -> Document | None:
        """What is in the file at `path`, if a file with this content was kept under this slug."""
        try:
            if path.stat().st_size > document.MAX_BYTES:
                return None
            key = _key(slug, sha256_file(path))
        except (OSError, FileError):
            return None
        if self._known is None:
            self._known = self._segments.read()
        kept = self._known.get(key)
        return None if kept is None else portable.loads(json.loads(bytes(kept)))

    def keep(self, read: Document) -> None:
        """Remember a document; written with the next ones or by `flush`."""
        self._fresh[_key(read.slug, read.sha256)] = portable.dumps(read).encode()
        if len(self._fresh) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Write what isn't yet, and let go of what was read."""
        if self._fresh:
            self._segments.write(self._fresh)
        self._known, self._fresh = None, {}


@functools.cache
def identity() -> str:
    """Of all that decides what a file is read as, in hexadecimal."""
    import importlib.metadata  # as slow to import as all the rest of ingestion

    package = Path(__file__).parents[1]
    sources = sorted([*package.glob("*.py"), *package.glob("ingest/**/*.py")])
    read_by = {path.relative_to(package).as_posix(): sha256_file(path) for path in sources}
    for library in LIBRARIES:
        try:
            read_by[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            read_by[library] = ""
    return sha256_bytes(canonical_json({**read_by, "python": sys.version}).encode())


def _key(slug: str, sha256: str) -> bytes:
    return hashlib.sha256(f"{sha256}\0{slug}".encode()).digest()
