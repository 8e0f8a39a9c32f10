"""SQLite through apsw, with sqlite-vec loaded; the one place that knows either library.

`sqlite3` is not used: many builds of Python can't load extensions into it. apsw brings one SQLite of
its own to every machine.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from pathlib import Path

import apsw
import numpy as np
from numpy.typing import NDArray

from ragkit.errors import FileError

Connection = apsw.Connection

_BLOCK = 256  # rows of vec0's blobs: of 384 dimensions 400 KB, which stay in a core's cache while they are multiplied

_SCHEMA = """
pragma page_size = 65536;        -- vectors lie in blobs of some 400 KB: fewer pages to chain, a third faster
pragma cache_size = -8000;       -- KB: what is added together, so that a page is written once
pragma locking_mode = exclusive;
pragma journal_mode = memory;    -- a failed `add` is rolled back; a killed process leaves nothing of worth
pragma synchronous = off;
pragma foreign_keys = on;

create table documents (
    id text primary key,
    slug text not null unique
) without rowid;

create table blocks (
    id text primary key,         -- blk_<document id>_<order>
    document_id text not null references documents,
    block_order integer not null
) without rowid;

create table chunks (
    id integer primary key,
    document_id text not null references documents,
    chunk_index integer not null,
    start integer not null,      -- characters in the document's text, end exclusive; so in chunk_spans
    end integer not null,
    text text not null,
    context text not null
);
create index chunk_places on chunks (document_id, chunk_index);

create table chunk_spans (
    chunk_id integer not null references chunks,
    start integer not null,
    end integer not null,
    block_id text not null references blocks,
    primary key (chunk_id, start)
) without rowid;

create table parts (
    chunk_id integer primary key references chunks,
    vectors blob not null        -- int8, a row for each part of the chunk that was embedded with it
);

create virtual table vectors using vec0(
    embedding float[{dimension}] distance_metric=cosine,
    chunk_size={block}
);
"""

WORDS = """
create virtual table words using fts5(
    terms,
    content = '',                -- the terms are made by `terms.py`; their text is of no use again
    tokenize = ascii             -- so this only has to cut at the spaces between them
);
"""
TOKENS = """
create table if not exists tokens (
    chunk_id integer primary key references chunks,
    vectors blob not null        -- int8, a row for each token
);
"""

_REASONS: dict[type[apsw.Error], str] = {
    apsw.BusyError: "another process has it open: close that one or name another file",
    apsw.LockedError: "another process has it open: close that one or name another file",
    apsw.CantOpenError: "cannot be opened: check that the folder exists and may be written",
    apsw.ReadOnlyError: "cannot be written: check the permissions",
    apsw.FullError: "the disk is full: free some space and run again",
    apsw.CorruptError: "damaged: remove it and run again",
    apsw.NotADBError: "damaged: remove it and run again",
}


def create(path: Path | None, dimension: int) -> Connection:
    """A new database, at `path` or in memory, with empty tables. Raises `FileError`."""
    if path is not None and path.exists():
        raise FileError(f"{path}: exists already, and a run's database is never used twice: remove it")
    with translated(path):
        connection = Connection(":memory:" if path is None else str(path))
        try:
            _load_sqlite_vec(connection)
            schema = _SCHEMA.format(dimension=dimension, block=_BLOCK)
            connection.execute(schema).fetchall()  # all of it: apsw stops at a row
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def translated(path: Path | None) -> Iterator[None]:
    """What SQLite raises inside becomes a `FileError` that names the database and what to do."""
    try:
        yield
    except apsw.Error as error:
        reason = next((text for kind, text in _REASONS.items() if isinstance(error, kind)), f"SQLite says: {error}")
        raise FileError(f"{path or 'database in memory'}: {reason}") from error


@contextmanager
def transaction(connection: Connection, path: Path | None) -> Iterator[None]:
    """All that is done inside or none of it, also inside another. Not apsw's own: that hides a full disk, which ends it early."""
    inner = connection.in_transaction
    with translated(path):
        connection.execute("savepoint inner_one" if inner else "begin")
        try:
            yield
            connection.execute("release inner_one" if inner else "commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback to inner_one; release inner_one" if inner else "rollback")
            raise


def products(connection: Connection, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The product of `vector`, (dimension,), with every row of `vectors`, in their order; what follows them is 0.

    vec0's own scan goes number by number, without SIMD, and takes several times as long. So its blobs are
    read as they are, one at a time into the same place, and multiplied by numpy.
    """
    block = np.empty((_BLOCK, len(vector)), np.float32)
    return np.array([block @ vector for _ in _blobs(connection, repeat(block))], np.float32).reshape(-1)


def vectors(connection: Connection, dimension: int) -> NDArray[np.float32]:
    """Every row of `vectors` and the zeros that follow them, (rows, dimension): what `products` multiplies."""
    ((count,),) = connection.execute("select count(*) from vectors_chunks")
    blocks = np.empty((count, _BLOCK, dimension), np.float32)
    for _ in _blobs(connection, blocks):
        pass
    return blocks.reshape(-1, dimension)


def _blobs(connection: Connection, into: Iterable[NDArray[np.float32]]) -> Iterator[None]:
    """Read vec0's blobs one after the other, each `into` the next place, and stop after each.

    vec0 fills them in the order of insertion, and nothing is ever deleted: place n holds row n + 1.
    """
    numbers = [number for (number,) in connection.execute("select chunk_id from vectors_chunks order by chunk_id")]
    if numbers:
        with connection.blob_open("main", "vectors_vector_chunks00", "vectors", numbers[0], False) as blob:
            for number, place in zip(numbers, into, strict=False):
                blob.reopen(number)
                blob.read_into(place.data)
                yield


def close(connection: Connection) -> None:
    """Close; what SQLite still wants to say is of no interest, nothing here is kept."""
    with suppress(apsw.Error):
        connection.close(True)


def _load_sqlite_vec(connection: Connection) -> None:
    # Not imported: the Python module of sqlite-vec imports `sqlite3`, which some builds of Python lack.
    package = importlib.util.find_spec("sqlite_vec")
    if package is None or not package.submodule_search_locations:
        raise FileError("sqlite-vec is not installed: pip install 'sqlite-vec>=0.1.9,<0.1.10'")
    connection.enable_load_extension(True)
    connection.load_extension(str(Path(package.submodule_search_locations[0]) / "vec0"))
    connection.enable_load_extension(False)
