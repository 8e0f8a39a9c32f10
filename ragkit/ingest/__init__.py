"""From files to documents: a parser per format, one canonical text, blocks with an identity.

::

    read_corpus(root)             every document of a folder, or all problems at once
      corpus.scan(root)           which files, under which slugs; what may not be in a corpus
      parse_document(path, slug)  one file: a small text here, any other in a process that has limits
        cache.DocumentCache       unless it was read before
        worker.Workers            their time and memory are bounded
        document.parse            the content must be what the suffix says
          markdown | html | plaintext | pdf | office    parse(data, slug) -> Document
            builder.DocumentBuilder   pieces of text -> canonical text and blocks

Each parser module offers `parse(data: bytes, slug: str) -> Document`: the file's bytes in, a document
built by a `DocumentBuilder` out. It raises nothing but `DocumentError`, naming `slug` as the path;
`document.parse` puts the real path in its place. The same bytes give the same document on every
machine, LF and CRLF files the same blocks. Parser modules are imported when a file needs them.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from ragkit.errors import DataError, DocumentError
from ragkit.ingest import corpus, document
from ragkit.ingest.cache import DocumentCache
from ragkit.ingest.worker import Workers
from ragkit.records import Document, Progress

__all__ = ["SUFFIXES", "DocumentCache", "parse_document", "read_corpus", "walk"]

SUFFIXES: frozenset[str] = frozenset(document.PARSERS)
"""The suffixes of files that can be parsed, in lower case; a file's own may be in any case."""
_SMALL = 256 << 10  # bytes of text: whatever it says, reading it takes seconds at most
_WORTH_A_WORKER = 6  # documents; starting one takes about as long as reading a few


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
    `empty`, `mislabelled`, `encoding`, `binary`, `missing-extra`, `too-large`, `too-slow`, `unparsable`, or
    one of the format's own (`encrypted`, `scanned`, `damaged`...).
    """
    if _is_harmless(path, slug):
        return document.parse(path, slug)
    with Workers(1) as workers:
        return workers.submit(path, slug).result()


def read_corpus(root: Path, progress: Progress | None = None, cache: DocumentCache | None = None) -> list[Document]:
    """Every document under `root`, sorted by slug.

    Raises `DataError` with the problems of the walk and of all files together, never only the first.
    `progress` is called with 1 after each file. `cache` gives the documents that were read before.
    """
    files, problems = corpus.scan(root, SUFFIXES)
    read = {slug: kept for slug, path in files if cache and (kept := cache.find(path, slug))}
    hard = [(slug, path) for slug, path in files if slug not in read and not _is_harmless(path, slug)]
    with Workers(min(1 + len(hard) // _WORTH_A_WORKER, os.cpu_count() or 1)) as workers:
        # All that workers read is handed out first, so that they are at it while small texts are read here.
        pending = {slug: workers.submit(path, slug) for slug, path in hard}
        for slug, path in files:
            if slug not in read:
                try:
                    read[slug] = pending[slug].result() if slug in pending else document.parse(path, slug)
                    if cache:
                        cache.keep(read[slug])
                except DocumentError as error:
                    problems.extend(error.problems)
            if progress:
                progress(1)
    if cache:
        cache.flush()
    if problems:
        raise DataError(problems)
    return [read[slug] for slug, _ in files]


def _is_harmless(path: Path, slug: str) -> bool:
    """Whether a file is read here: a small text, or none that a parser would get to see."""
    suffix = PurePosixPath(slug).suffix.lower()
    if suffix not in document.PARSERS:
        return True
    try:
        return suffix in document.TEXT_PARSERS and path.stat().st_size <= _SMALL
    except OSError:
        return True
