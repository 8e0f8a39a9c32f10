"""TREC run files read as blocks of arrays: no object for any hit, and one block in memory at a time.

What is accepted is exactly what `trec.read_run` accepts. A file that is refused here is read by it again: it says
what is wrong with each line.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import FileError
from ragkit.interop import trec
from ragkit.interop.fields import PADDING, Column, padded, split

BLOCK: Final = 1 << 20
"""Bytes that are read at once."""

_KEPT: Final = 8 * BLOCK
"""Bytes of an array that is made and freed before a file is read. From then on glibc keeps up to twice as many freed
bytes (mallopt(3), M_MMAP_THRESHOLD); else it gives every block's arrays back to the system, and getting them again
costs more than filling them."""

_BOM: Final = b"\xef\xbb\xbf"
_COLUMNS: Final = 6
_WANTED: Final = (0, 2, 4)
"""Question, document, score."""
_MULTIPLIER: Final = np.uint64(0xD6E8FEB86659FD93)
_LAST_SLOT: Final = np.uint64((1 << 16) - 1)


class _RefusedError(Exception):
    """A line is wrong."""


class _ScatteredError(Exception):
    """The lines of a question don't stand together."""


@dataclass(frozen=True, eq=False, slots=True)
class HitBlock:
    """All hits of some questions: rows `bounds[i]:bounds[i + 1]` are those of `questions[i]`, in file order.

    `keys` are hashes of question and document. What is equal by key is compared by bytes before it counts.
    """

    questions: tuple[str, ...]
    bounds: NDArray[np.int64]
    documents: Column
    scores: NDArray[np.float32]
    keys: NDArray[np.uint64]

    def find(self, questions: Sequence[int], documents: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """The scores of `documents[i]` among the hits of question `questions[i]`, one array for all; NaN: no hit."""
        owners = np.repeat(np.array(questions, dtype=np.int64), [len(some) for some in documents])
        wanted = Column.of(list(chain.from_iterable(documents)))
        keys = _keys(owners, wanted)
        slots = np.zeros(int(_LAST_SLOT) + 1, dtype=np.bool_)
        slots[keys & _LAST_SLOT] = True
        rows = np.flatnonzero(slots[self.keys & _LAST_SLOT])  # no other row can be wanted
        order = np.argsort(keys)
        first = np.searchsorted(keys[order], self.keys[rows])
        count = np.searchsorted(keys[order], self.keys[rows], side="right") - first
        rows, first = np.repeat(rows, count), np.repeat(first - np.cumsum(count) + count, count)
        found = order[first + np.arange(len(rows))]
        same = np.searchsorted(self.bounds, rows, side="right") - 1 == owners[found]
        same &= self.documents[rows].same(wanted[found])
        scores = np.full(len(wanted), np.nan, dtype=np.float32)
        scores[found[same]] = self.scores[rows[same]]
        return scores

    def with_score(self, question: int, score: np.float32) -> list[str]:
        """The documents that have this score."""
        first, last = self.bounds[question : question + 2]
        rows = first + np.flatnonzero(self.scores[first:last] == score)
        return self.documents[rows].texts()


def read_blocks(path: Path) -> Iterator[HitBlock]:
    """The hits of a run file, some questions at a time.

    When the lines of a question turn out not to stand together, all blocks are yielded anew from the file put in
    order, which then is in memory as a whole: of two blocks with a question the last one counts. Raises `DataError`
    with every bad line and `FileError` as `trec.read_run` does.
    """
    np.empty(_KEPT, dtype=np.uint8)
    try:
        with path.open("rb") as stream:
            if stream.read(len(_BOM)) != _BOM:
                stream.seek(0)
            start = stream.tell()
            try:
                yield from _blocks(iter(lambda: stream.read(BLOCK), b""))
            except _ScatteredError:
                stream.seek(start)
                yield from _blocks(_by_question(stream))
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from error
    except (_RefusedError, UnicodeDecodeError) as error:
        trec.read_run(path)
        raise FileError(f"{path}: changed while it was read") from error


def _by_question(lines: BinaryIO) -> Iterator[bytes]:
    groups: dict[bytes, list[bytes]] = defaultdict(list)
    for line in lines:
        if fields := line.split(None, 1):
            groups[fields[0]].append(line if line.endswith(b"\n") else line + b"\n")
    ordered = b"".join(chain.from_iterable(groups.values()))
    del groups
    for place in range(0, len(ordered), BLOCK):
        yield ordered[place : place + BLOCK]


def _blocks(chunks: Iterable[bytes]) -> Iterator[HitBlock]:
    """Whole questions, as soon as the lines after them are there."""
    seen: set[str] = set()
    waiting: list[bytes] = []
    enough = 0
    for chunk in chain(chunks, [b""]):
        waiting.append(chunk)
        if chunk and sum(map(len, waiting)) < enough:
            continue
        data = b"".join(waiting)
        lines = data.rpartition(b"\n")[0] if chunk else data
        if not lines.isascii():
            lines.decode()  # raises for what isn't UTF-8
        columns = split(padded(lines), _COLUMNS, _WANTED)
        if columns is None:
            raise _RefusedError
        questions, documents, scores = columns
        firsts = questions.firsts()
        bounds = firsts if chunk else np.append(firsts, len(questions))  # without the last question, if there is more
        if len(bounds) > 1:
            block = _block(questions, documents, scores, bounds)
            if not seen.isdisjoint(block.questions) or len(set(block.questions)) < len(block.questions):
                raise _ScatteredError
            seen.update(block.questions)
            yield block
            data = data[int(questions.starts[bounds[-1]]) - PADDING :] if chunk else b""
        waiting, enough = [data], 2 * len(data)  # doubling, or a question of many chunks would be split anew by each


def _block(questions: Column, documents: Column, scores: Column, bounds: NDArray[np.int64]) -> HitBlock:
    rows = slice(0, int(bounds[-1]))
    documents = documents[rows]
    keys = _keys(np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), documents)
    _check_no_document_comes_twice(keys, bounds, documents)
    return HitBlock(tuple(questions[bounds[:-1]].texts()), bounds, documents, _scores(scores[rows]), keys)


def _keys(questions: NDArray[np.int64], documents: Column) -> NDArray[np.uint64]:
    return documents.fingerprints() ^ (questions.astype(np.uint64) * _MULTIPLIER)


def _check_no_document_comes_twice(keys: NDArray[np.uint64], bounds: NDArray[np.int64], documents: Column) -> None:
    ordered = np.sort(keys)
    doubtful = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(doubtful):
        return
    rows = np.flatnonzero(np.isin(keys, doubtful))
    owners = np.searchsorted(bounds, rows, side="right")
    hits = {(owner, documents.field(row)) for owner, row in zip(owners.tolist(), rows.tolist(), strict=True)}
    if len(hits) < len(rows):
        raise _RefusedError


def _scores(column: Column) -> NDArray[np.float32]:
    values = column.numbers()
    for row in np.flatnonzero(np.isnan(values)).tolist():
        value = trec.finite_number(column.field(row))
        if value is None:
            raise _RefusedError
        values[row] = value
    with np.errstate(over="ignore"):  # beyond its range all are equal, as in trec_eval
        return values.astype(np.float32)
