"""Cut a text at the coarsest separator that gives pieces small enough; join neighbours up to the size.

The text is cut after every occurrence of the first separator, so that a separator stays with the
piece before it. A piece longer than `size` is cut by the remaining separators in the same way; pieces
between two such long ones are joined greedily into chunks of at most `size` characters, and a chunk
repeats as many whole pieces of the one before it as fit into `overlap`. The empty separator cuts
between any two characters.

The chunks are those of LangChain's `RecursiveCharacterTextSplitter(keep_separator="end",
length_function=len)` except that

* a chunk which another one holds entirely is left out (LangChain returns it when what it adds to its
  overlap is only white space);
* a chunk is a range of the text, so a repeated passage can't be mistaken for its twin;
* what is longer than `size` and has no separator left is cut between characters, because a
  configuration's separators end with the empty one.

Only cut positions are handled, as sorted sequences, and each chunk is found in them by bisection:
pieces are never copied or joined.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile

from ragkit.chunking.parts import Part, Range
from ragkit.config import OverlappingChunking


def split_part(part: Part, config: OverlappingChunking) -> Iterator[Range]:
    """The chunks of a part of a document."""
    return split_range(part.text, part.start, part.end, config)


def split_range(text: str, start: int, end: int, config: OverlappingChunking) -> Iterator[Range]:
    """The chunks of `text[start:end]`, as ranges of `text`."""
    for first, last in split(text[start:end], config.chunk_size, config.chunk_overlap, config.separators):
        yield start + first, start + last


def split(text: str, size: int, overlap: int, separators: Sequence[str]) -> list[tuple[int, int]]:
    """The chunks of `text` as ranges `[start, end)`, in characters.

    `0 <= overlap < size`. A range is at most `size` long and neither begins nor ends with white space;
    its start and end lie after those of the range before it, with which it shares at most `overlap`
    characters. Every character that isn't white space is in a range.
    """
    patterns = [re.compile(re.escape(separator)) for separator in takewhile(bool, separators)]
    chunks: list[tuple[int, int]] = []
    for start, end in _cut(text, 0, len(text), patterns, size, overlap):
        while start < end and text[end - 1].isspace():
            end -= 1
        while start < end and text[start].isspace():
            start += 1
        if start == end or (chunks and end == chunks[-1][1]):
            continue
        if chunks and start == chunks[-1][0]:
            chunks.pop()
        chunks.append((start, end))
    return chunks


def _cut(
    text: str, start: int, end: int, separators: Sequence[re.Pattern[str]], size: int, overlap: int
) -> Iterator[tuple[int, int]]:
    """Chunks of `text[start:end]`, white space at their ends not yet removed."""
    cuts, finer = _cuts(text, start, end, separators)
    first, last = 0, len(cuts) - 1
    while first < last:
        stop = bisect_right(cuts, cuts[first] + size) - 1
        if stop == first:  # not even one piece fits
            yield from _cut(text, cuts[first], cuts[first + 1], finer, size, overlap)
            first += 1
            continue
        yield cuts[first], cuts[stop]
        if stop == last:
            return
        # Go back over what may be repeated, as long as the next piece has room; before a long one not at all.
        first = bisect_left(cuts, max(cuts[stop] - overlap, cuts[stop + 1] - size), first + 1, stop)


def _cuts(
    text: str, start: int, end: int, separators: Sequence[re.Pattern[str]]
) -> tuple[Sequence[int], Sequence[re.Pattern[str]]]:
    """Where the pieces of `text[start:end]` begin and end, and the separators left for the long ones."""
    for level, separator in enumerate(separators, 1):
        cuts = [start, *map(re.Match.end, separator.finditer(text, start, end))]
        if len(cuts) > 1:
            if cuts[-1] < end:
                cuts.append(end)
            return cuts, separators[level:]
    return range(start, end + 1), ()
