"""One file: is it what its suffix says, and which parser reads it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path, PurePosixPath

from ragkit.errors import DocumentError
from ragkit.ingest import corpus, sniff
from ragkit.records import Document

MAX_BYTES = 100 << 20
"""A larger file is refused unread."""
TEXT_PARSERS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".txt": "plaintext",
    ".text": "plaintext",
}
PARSERS = {**TEXT_PARSERS, ".pdf": "pdf", ".docx": "office", ".pptx": "office", ".xlsx": "office"}
"""The module that reads files of a suffix."""


def parse(path: Path, slug: str) -> Document:
    """The document in the file at `path`, read in this process. Raises `DocumentError`, naming `path`."""
    try:
        return _parse(path, slug)
    except DocumentError as error:
        (problem,) = error.problems
        raise DocumentError(str(path), problem.rule, problem.found, problem.remedy) from error


def _parse(path: Path, slug: str) -> Document:
    if fault := corpus.slug_fault(slug):
        raise DocumentError(slug, "slug", fault, "name the file by a plain relative path")
    suffix = PurePosixPath(slug).suffix.lower()
    if suffix not in PARSERS:
        raise DocumentError(slug, "unsupported", f"no parser for {suffix or 'a name without suffix'}", corpus.CONVERT)
    data = _read(path, slug)
    if kind := sniff.mislabelled(data, suffix):
        remedy = "give it the suffix of what it is, or export it again"
        raise DocumentError(slug, "mislabelled", f"named {suffix} but it is {kind}", remedy)
    document: Document = import_module(f"ragkit.ingest.{PARSERS[suffix]}").parse(data, slug)
    return document


def _read(path: Path, slug: str) -> bytes:
    try:
        if (size := path.stat().st_size) > MAX_BYTES:
            found = f"{size:,} bytes; up to {MAX_BYTES:,} are read"
            raise DocumentError(slug, "too-large", found, "split it, or take it out of the corpus")
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(
            slug, "unreadable", error.strerror or str(error), "check the file and its permissions"
        ) from error
    if not data.strip():
        raise DocumentError(
            slug, "empty", f"{len(data)} bytes, no text", "write something or take the file out of the corpus"
        )
    return data
