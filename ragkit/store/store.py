"""Documents go in with random ids, as in an application; nearest chunks come out by corpus identity."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import DataError, EncodingError, Problem, UsageError
from ragkit.records import Chunk, Document, Hit, Span
from ragkit.store import database
from ragkit.store.terms import terms

_NORM_TOLERANCE = 1e-3
_REACH = 3 * _NORM_TOLERANCE  # two lengths that differ as far as they may, and what sums of float32 lose
_IN_MEMORY = 256 << 20
"""Bytes of vectors that are kept in memory for searching; more are read from the database for every question."""


class Store:
    """A throwaway database: filled document by document, then only read; a context manager.

    `path` is a file that must not exist yet, or `None` for memory. `dimension` is that of the vectors.
    `index_bytes` is how large each index has become. One thread at a time. Every method raises `FileError` when the database fails: locked, damaged, on a
    full disk.
    """

    def __init__(self, path: Path | None, dimension: int) -> None:
        self.path = path
        self.dimension = dimension
        self.chunk_count = 0
        self.index_bytes = {"vectors": 0, "words": 0, "tokens": 0}
        self._vectors: NDArray[np.float32] | None = None  # of the chunks, once they are asked for
        self._known: dict[int, Chunk] = {}  # read from the database once: a question's candidates are many
        self._connection = database.create(path, dimension)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the database; a file stays where it is."""
        database.close(self._connection)

    def add(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        vectors: NDArray[np.float32],
        parts: Sequence[NDArray[np.int8]] = (),
    ) -> str:
        """Put in a document with its chunks and their vectors; returns its random runtime id.

        `vectors` is float32, (chunks, dimension), every row finite and of length 1, else `EncodingError`
        names the chunk. `parts` are those of parts of each chunk, (parts, dimension), kept for answers. A
        second document of one slug is a `DataError`. All goes in or nothing does.
        """
        _check(vectors, (len(chunks), self.dimension), lambda row: _name(chunks[row]))
        document_id = uuid.uuid4().hex
        first = self.chunk_count + 1
        connection = self._connection
        with database.transaction(connection, self.path):
            if self._rows("select 1 from documents where slug = ?", document.slug):
                raise DataError([Problem(document.slug, 0, "duplicate-document", "is in the database already")])
            connection.execute("insert into documents values (?, ?)", (document_id, document.slug))
            connection.executemany(
                "insert into blocks values (?, ?, ?)",
                ((_block_id(document_id, block.order), document_id, block.order) for block in document.blocks),
            )
            connection.executemany(
                "insert into chunks values (?, ?, ?, ?, ?, ?, ?)",
                (
                    (number, document_id, chunk.index, chunk.start, chunk.end, chunk.text, chunk.context)
                    for number, chunk in enumerate(chunks, first)
                ),
            )
            connection.executemany(
                "insert into chunk_spans values (?, ?, ?, ?)",
                (
                    (number, span.start, span.end, _block_id(document_id, span.block))
                    for number, chunk in enumerate(chunks, first)
                    for span in chunk.spans
                ),
            )
            connection.executemany(
                "insert into parts values (?, ?)",
                ((number, own.tobytes()) for number, own in enumerate(parts, first)),
            )
            connection.executemany(
                "insert into vectors (rowid, embedding) values (?, ?)",
                ((number, vector.tobytes()) for number, vector in enumerate(vectors, first)),
            )
        self._vectors = None
        self.chunk_count += len(chunks)
        self.index_bytes["vectors"] += vectors.nbytes
        return document_id

    @contextmanager
    def together(self) -> Iterator[None]:
        """What is added inside goes in at once, or nothing of it.

        A document alone touches pages of every table and index, 0.7 MB to write for 16 KB of its own.
        """
        count, sizes = self.chunk_count, dict(self.index_bytes)
        try:
            with database.transaction(self._connection, self.path):
                yield
        except BaseException:
            self.chunk_count, self.index_bytes = count, sizes
            self._vectors, self._known = None, {}
            raise

    def index_words(self) -> None:
        """Make all chunks, with their context, searchable by `matching`; once, when they are all in."""
        connection = self._connection
        with database.transaction(connection, self.path):
            connection.execute(database.WORDS)
            connection.executemany(
                "insert into words (rowid, terms) values (?, ?)",
                (
                    (number, " ".join(terms(context + text)))
                    for number, context, text in self._rows("select id, context, text from chunks order by id")
                ),
            )
        self.index_bytes["words"] = self._rows("select sum(length(block)) from words_data")[0][0]

    def index_tokens(self, chunks: Sequence[Chunk], tokens: Sequence[NDArray[np.int8]]) -> None:
        """Keep the vectors of the tokens, (tokens, dimension), of chunks that are in; a chunk only once."""
        connection = self._connection
        with database.transaction(connection, self.path):
            connection.execute(database.TOKENS)
            connection.executemany(
                "insert into tokens values (?, ?)",
                ((number, own.tobytes()) for number, own in zip(self._numbers(chunks), tokens, strict=True)),
            )
        self.index_bytes["tokens"] += sum(own.nbytes for own in tokens)

    def document_ids(self) -> dict[str, str]:
        """The runtime id of every slug, in slug order."""
        return dict(self._rows("select slug, id from documents order by slug"))

    def block_ids(self, document_id: str) -> dict[int, str]:
        """The runtime id of every block order of a document; empty for an unknown document."""
        # The primary key holds the document's id, so its blocks are one range of it ("`" follows "_").
        low, high = f"blk_{document_id}_", f"blk_{document_id}`"
        found = self._rows("select block_order, id from blocks where id >= ? and id < ?", low, high)
        return dict(sorted(found))

    def locate_block(self, block_id: str) -> tuple[str, int]:
        """Slug and block order behind a runtime block id. Raises `KeyError` if there is no such block."""
        found = self._rows(
            "select slug, block_order from blocks join documents on documents.id = document_id where blocks.id = ?",
            block_id,
        )
        if not found:
            raise KeyError(block_id)
        slug, order = found[0]
        return slug, order

    def chunks(self) -> list[Chunk]:
        """All chunks in canonical order: by slug (code points), then start."""
        return sorted(self._load(range(1, self.chunk_count + 1)).values(), key=lambda chunk: (chunk.slug, chunk.start))

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[Hit]:
        """The `k` chunks of the greatest cosine to `vector`, or all if there are fewer.

        `vector` is float32, (dimension,), finite and of length 1, else `EncodingError`. The score is the
        cosine, 1 - distance, in [-1, 1]. Chunks of equal score stand by slug, then start, and that order
        also decides which of them make the cut, so results do not depend on what was put in first.
        """
        if k < 1:
            raise UsageError(f"k must be at least 1, found {k}")
        _check(vector, (self.dimension,), lambda _: "the question")
        distances = self._within_reach(vector, k)
        found = self._load(distances)
        ranked = sorted((distances[number], chunk.slug, chunk.start, number) for number, chunk in found.items())
        return [Hit(found[number], 1.0 - distance, rank) for rank, (distance, _, _, number) in enumerate(ranked[:k], 1)]

    def matching(self, question: str, k: int) -> list[Hit]:
        """The `k` chunks of the greatest BM25 score among those that share a term with the question.

        The score is FTS5's (k1 = 1.2, b = 0.75) without its sign, above 0. Order as in `nearest`.
        """
        wanted = " OR ".join(f'"{term}"' for term in dict.fromkeys(terms(question)))
        if not wanted:
            return []
        scored = self._rows(
            "select chunks.id, -bm25(words) from words cross join chunks on chunks.id = words.rowid"
            " join documents on documents.id = document_id"
            " where words match ? order by bm25(words), slug, start limit ?",
            wanted,
            k,
        )
        found = self._load(number for number, _ in scored)
        return [Hit(found[number], score, rank) for rank, (number, score) in enumerate(scored, 1)]

    def vectors(self, chunks: Sequence[Chunk]) -> NDArray[np.float32]:
        """The vectors of chunks that are in, (chunks, dimension)."""
        blobs = self._blobs(
            "select value, embedding from json_each(?) cross join vectors on vectors.rowid = value", chunks
        )
        return np.frombuffer(b"".join(blobs), np.float32).reshape(-1, self.dimension)

    def parts(self, chunks: Sequence[Chunk]) -> list[NDArray[np.int8]]:
        """What `add` kept of each chunk's parts, (parts, dimension)."""
        blobs = self._blobs(
            "select chunk_id, vectors from parts where chunk_id in (select value from json_each(?))", chunks
        )
        return [np.frombuffer(blob, np.int8).reshape(-1, self.dimension) for blob in blobs]

    def tokens(self, chunks: Sequence[Chunk]) -> list[NDArray[np.int8]]:
        """What `index_tokens` kept of each chunk, (tokens, dimension)."""
        blobs = self._blobs(
            "select chunk_id, vectors from tokens where chunk_id in (select value from json_each(?))", chunks
        )
        return [np.frombuffer(blob, np.int8).reshape(-1, self.dimension) for blob in blobs]

    def _blobs(self, statement: str, chunks: Sequence[Chunk]) -> list[bytes]:
        numbers = self._numbers(chunks)
        found = dict(self._rows(statement, json.dumps(numbers)))
        return [found[number] for number in numbers]

    def _numbers(self, chunks: Sequence[Chunk]) -> list[int]:
        """The row of each chunk."""
        rows = self._rows(
            "select key, chunks.id from json_each(?) join documents on slug = value ->> 0"
            " join chunks on document_id = documents.id and chunk_index = value ->> 1",
            json.dumps([(chunk.slug, chunk.index) for chunk in chunks]),
        )
        return [number for _, number in sorted(rows)]

    def _within_reach(self, vector: NDArray[np.float32], k: int) -> dict[int, float]:
        """Distance of every chunk that is as near as the k-th nearest: its whole tie group, nothing beyond.

        Exact: products say which chunks can be among them, and vec0's distance, whose bits depend on
        nothing but the two vectors, decides.
        """
        with database.translated(self.path):
            products = self._products(vector)[: self.chunk_count]
        if not products.size:
            return {}
        kth = max(len(products) - k, 0)
        near = np.flatnonzero(products >= np.partition(products, kth)[kth] - _REACH)
        distances = self._distances(near, vector)
        limit = sorted(distances)[min(k, len(distances)) - 1]
        return {
            number: distance
            for number, distance in zip((near + 1).tolist(), distances, strict=True)
            if distance <= limit
        }

    def _distances(self, places: NDArray[np.intp], vector: NDArray[np.float32]) -> list[float]:
        """vec0's distance of the rows at `places` (0-based) to `vector`, in their order."""
        if self._vectors is not None:
            # Out of memory: finding a row in vec0 takes three times as long as comparing it.
            statement = "select vec_distance_cosine(substr(?1, 1 + key * ?2, ?2), ?3) from json_each(?4) order by key"
            size = vector.nbytes
            found = self._rows(statement, self._vectors[places].tobytes(), size, vector.tobytes(), _numbers(places))
        else:
            found = self._rows(
                "select vec_distance_cosine(embedding, ?)"
                " from json_each(?) cross join vectors on vectors.rowid = value order by key",
                vector.tobytes(),
                _numbers(places + 1),
            )
        return [distance for (distance,) in found]

    def _products(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        if self._vectors is None and self.index_bytes["vectors"] <= _IN_MEMORY:
            self._vectors = database.vectors(self._connection, self.dimension)
        if self._vectors is None:
            return database.products(self._connection, vector)
        found: NDArray[np.float32] = self._vectors @ vector
        return found

    def _load(self, numbers: Iterable[int]) -> dict[int, Chunk]:
        """Chunks by number."""
        wanted = list(numbers)
        missing = [number for number in wanted if number not in self._known]
        if missing:
            self._known |= self._read(json.dumps(missing))
        return {number: self._known[number] for number in wanted}

    def _read(self, wanted: str) -> dict[int, Chunk]:
        spans: dict[int, list[Span]] = {}
        for number, order, start, end in self._rows(
            "select chunk_id, block_order, start, end from chunk_spans join blocks on blocks.id = block_id"
            " where chunk_id in (select value from json_each(?)) order by chunk_id, start",
            wanted,
        ):
            spans.setdefault(number, []).append(Span(order, start, end))
        rows = self._rows(
            "select chunks.id, slug, chunk_index, start, end, text, context"
            " from chunks join documents on documents.id = document_id"
            " where chunks.id in (select value from json_each(?))",
            wanted,
        )
        return {
            number: Chunk(slug, index, start, end, text, tuple(spans.get(number, ())), context)
            for number, slug, index, start, end, text, context in rows
        }

    def _rows(self, statement: str, *values: Any) -> list[Any]:
        with database.translated(self.path):
            return self._connection.execute(statement, values).fetchall()


def _numbers(rows: NDArray[np.intp]) -> str:
    return json.dumps(rows.tolist())


def _block_id(document_id: str, order: int) -> str:
    return f"blk_{document_id}_{order}"


def _name(chunk: Chunk) -> str:
    return f"{chunk.slug}, chunk {chunk.index} (characters {chunk.start} to {chunk.end})"


def _check(vectors: NDArray[np.float32], shape: tuple[int, ...], name: Callable[[int], str]) -> None:
    """Refuse what vec0 would store or compare without a word; `name` says whose vector a row is."""
    if vectors.dtype != np.float32:
        raise EncodingError(f"vectors must be float32, found {vectors.dtype}: convert them with astype")
    if vectors.shape != shape:
        raise EncodingError(f"vectors must have the shape {shape}, found {vectors.shape}: one for each text")
    rows = vectors.reshape(-1, shape[-1])
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    wrong = np.flatnonzero(~(np.abs(norms - 1.0) <= _NORM_TOLERANCE))  # so written that NaN is wrong
    if wrong.size:
        row = int(wrong[0])
        if not np.isfinite(norms[row]):
            raise EncodingError(f"{name(row)}: its vector is not finite: check the model and the text")
        raise EncodingError(f"{name(row)}: its vector must have length 1, found {norms[row]:.6g}: normalise it")
