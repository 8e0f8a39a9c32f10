"""Windows of whole sentences."""

from __future__ import annotations

from collections.abc import Iterator

from ragkit.chunking import recursive
from ragkit.chunking.parts import Part, Range
from ragkit.config import SentenceChunking
from ragkit.sentences import split_block


def _units(part: Part, size: int, separators: tuple[str, ...]) -> list[Range]:
    """The sentences of a part, those longer than `size` characters in pieces."""
    return [
        (found.start + start, found.start + end)
        for block in part.blocks
        for found in split_block(part.slug, block)
        for start, end in recursive.split(part.text[found.start : found.end], size, 0, separators)
    ]


def _windows(units: list[Range], count: int, overlap: int, size: int) -> Iterator[Range]:
    """Up to `count` units within `size` characters, repeating up to `overlap` of the window before.

    What is repeated gives way where the next unit needs the room.
    """
    first = last = 0  # units[first:last] is the window
    while last < len(units):
        stop = first
        while stop < min(first + count, len(units)) and units[stop][1] - units[first][0] <= size:
            stop += 1
        if stop > last:  # else what is repeated left no room for anything new
            yield units[first][0], units[stop - 1][1]
            last, first = stop, max(first + 1, stop - overlap)
        else:
            first += 1


def split(part: Part, config: SentenceChunking) -> Iterator[Range]:
    """Windows over the sentences of a part, which may run from one block into the next."""
    units = _units(part, config.chunk_size, config.separators)
    return _windows(units, config.sentences, config.sentence_overlap, config.chunk_size)
