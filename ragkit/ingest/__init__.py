"""From files to documents: a parser per format, one canonical text, blocks with an identity.

::

    read_corpus(root)             every document of a folder, or all problems at once
      corpus.scan(root)           which files, under which slugs; what may not be in a corpus
      parse_document(path, slug)  one file
        sniff.mislabelled         the content must be what the suffix says
        markdown | html | plaintext | pdf | office    parse(data, slug) -> Document
          builder.DocumentBuilder   pieces of text -> canonical text and blocks

Each parser module offers `parse(data: bytes, slug: str) -> Document`: the file's bytes in, a document
built by a `DocumentBuilder` out. It raises nothing but `DocumentError`, naming `slug` as the path;
`parse_document` puts the real path in its place. The same bytes give the same document on every
machine, LF and CRLF files the same blocks. Parser modules are imported when a file needs them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path, PurePosixPath

from ragkit.errors import DataError, DocumentError
from ragkit.ingest import corpus, sniff
from ragkit.records import Document, Progress

__all__ = ["SUFFIXES", "parse_document", "read_corpus", "walk"]

_PARSERS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".txt": "plaintext",
    ".text": "plaintext",
    ".pdf": "pdf",
    ".docx": "office",
    ".pptx": "office",
    ".xlsx": "office",
}
SUFFIXES: frozenset[str] = frozenset(_PARSERS)
"""The suffixes of files that can be parsed, in lower case; a file's own may be in any case."""


def walk(root: Path) -> list[tuple[str, Path]]:
    """Every document file under `root` as `(slug, path)`, sorted by the slugs' code points.

    Hidden files and folders (a leading dot, Office's `~$` lock files) are skipped. Raises `DataError`
    with all problems: unsupported suffixes, slugs that aren't portable or collide, symbolic links,
    special and unreadable files, no document at all.
    """
    files, problems = corpus.scan(root, SUFFIXES)
    if problems:
        raise DataError(problems)
    return files


def parse_document(path: Path, slug: str) -> Document:
    """The document in the file at `path`, to be known as `slug`.

    Raises `DocumentError`, whose rule says what is the matter: `slug`, `unsupported`, `unreadable`,
    `empty`, `mislabelled`, `encoding`, `binary`, `missing-extra`, or one of the format's own
    (`encrypted`, `scanned`, `damaged`...).
    """
    try:
        return _parse(path, slug)
    except DocumentError as error:
        (problem,) = error.problems
        raise DocumentError(str(path), problem.rule, problem.found, problem.remedy) from error


def read_corpus(root: Path, progress: Progress | None = None) -> list[Document]:
    """Every document under `root`, sorted by slug.

    Raises `DataError` with the problems of the walk and of all files together, never only the first.
    `progress` is called with 1 after each file.
    """
    files, problems = corpus.scan(root, SUFFIXES)
    documents: list[Document] = []
    for slug, path in files:
        try:
            documents.append(parse_document(path, slug))
        except DocumentError as error:
            problems.extend(error.problems)
        if progress:
            progress(1)
    if problems:
        raise DataError(problems)
    return documents


def _parse(path: Path, slug: str) -> Document:
    if fault := corpus.slug_fault(slug):
        raise DocumentError(slug, "slug", fault, "name the file by a plain relative path")
    suffix = PurePosixPath(slug).suffix.lower()
    if suffix not in _PARSERS:
        raise DocumentError(slug, "unsupported", f"no parser for {suffix or 'a name without suffix'}", corpus.CONVERT)
    data = _read(path, slug)
    if kind := sniff.mislabelled(data, suffix):
        remedy = "give it the suffix of what it is, or export it again"
        raise DocumentError(slug, "mislabelled", f"named {suffix} but it is {kind}", remedy)
    document: Document = import_module(f"ragkit.ingest.{_PARSERS[suffix]}").parse(data, slug)
    return document


def _read(path: Path, slug: str) -> bytes:
    try:
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
