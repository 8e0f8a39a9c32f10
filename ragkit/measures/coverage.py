"""Which chunk covers which judgment: the rule `coverage-1`.

Lengths are in non-whitespace characters (`str.isspace` decides), so that line wrapping and table
padding weigh nothing. A chunk covers

* a **quote** when its spans hold the whole quote;
* a **block** when they hold at least min(half the block, 200) characters, so that every block can be
  covered and the overlap tail of a neighbouring chunk does not count;
* a **page** by the same rule over all blocks of the page together;
* a **document** always, if it is a chunk of it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import not_
from typing import Final

from ragkit.records import Chunk, Document, Span, Target

ENOUGH: Final = 200
"""Characters of a block or page that suffice, however long it is."""

Interval = tuple[int, int]
"""`[start, end)` in a document's text."""


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The union as disjoint, sorted intervals; touching ones become one.

    >>> merged([(5, 9), (0, 3), (2, 5)])
    [(0, 9)]
    """
    union: list[Interval] = []
    for start, end in sorted(intervals):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((start, end))
    return union


def intervals_of(spans: Iterable[Span]) -> list[Interval]:
    return [(span.start, span.end) for span in spans]


class Coverage:
    """Answers coverage questions about one parsed corpus; prefix sums, made of a document when it is first
    asked for, make each answer quick.
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._texts = {document.slug: document.text for document in documents}
        self._sums: dict[str, array[int]] = {}

    def __contains__(self, slug: str) -> bool:
        return slug in self._texts

    def _before(self, slug: str) -> array[int]:
        """How many non-whitespace characters stand before each place."""
        if slug not in self._sums:
            visible = map(not_, map(str.isspace, self._texts[slug]))
            self._sums[slug] = array("I", accumulate(visible, initial=0))
        return self._sums[slug]

    def length(self, slug: str, intervals: Iterable[Interval]) -> int:
        """Non-whitespace characters in the intervals, which should not overlap."""
        before = self._before(slug)
        return sum(before[end] - before[start] for start, end in intervals)

    def common(self, slug: str, left: Sequence[Interval], right: Sequence[Interval]) -> int:
        """Non-whitespace characters that two sets of disjoint intervals share."""
        shared = ((max(a, c), min(b, d)) for a, b in left for c, d in right if a < d and c < b)
        return self.length(slug, shared)

    def needed(self, target: Target) -> int:
        """How many of the target's characters have to be held; 0 for a document."""
        whole = self.length(target.slug, intervals_of(target.spans))
        return whole if target.kind == "quote" else min((whole + 1) // 2, ENOUGH)

    def holds(self, intervals: Sequence[Interval], target: Target) -> bool:
        """Whether intervals of the target's document, overlapping or not, together cover it.

        Nothing covers nothing: a document needs at least one interval, and a target without a single
        non-whitespace character is never covered.
        """
        if target.kind == "document":
            return bool(intervals)
        held = self.common(target.slug, merged(intervals), intervals_of(target.spans))
        return held > 0 and held >= self.needed(target)

    def covers(self, chunk: Chunk, target: Target) -> bool:
        """Whether this one chunk covers the target. A quote cut in two by the chunker is not covered."""
        return chunk.slug == target.slug and self.holds(intervals_of(chunk.spans), target)

    def covered_groups(self, chunk: Chunk, targets: Iterable[Target]) -> tuple[int, ...]:
        """Groups of which the chunk covers at least one member, ascending."""
        return tuple(sorted({target.group for target in targets if self.covers(chunk, target)}))


class ChunkIndex:
    """All chunks of a run, found by where they are. Positions are indices into `chunks`."""

    def __init__(self, coverage: Coverage, chunks: Sequence[Chunk]) -> None:
        self.chunks = tuple(chunks)
        self._coverage = coverage
        self._position = {(chunk.slug, chunk.index): i for i, chunk in enumerate(self.chunks)}
        self._of: dict[str, list[int]] = defaultdict(list)
        for i in sorted(range(len(self.chunks)), key=lambda i: self.chunks[i].start):
            self._of[self.chunks[i].slug].append(i)
        self._longest = max((chunk.end - chunk.start for chunk in self.chunks), default=0)

    def position(self, chunk: Chunk) -> int:
        return self._position[chunk.slug, chunk.index]

    def of_document(self, slug: str) -> Sequence[int]:
        """Positions of the document's chunks, by start."""
        return self._of.get(slug, ())

    def overlapping(self, target: Target) -> list[int]:
        """Positions of the chunks that hold any part of the target; all of a document's for a document."""
        mine = self.of_document(target.slug)
        if target.kind == "document":
            return list(mine)
        start, end = target.spans[0].start, target.spans[-1].end
        first = bisect_left(mine, start - self._longest, key=lambda i: self.chunks[i].start)
        last = bisect_left(mine, end, lo=first, key=lambda i: self.chunks[i].start)
        return [i for i in mine[first:last] if self.chunks[i].end > start]

    def covering(self, target: Target) -> list[int]:
        """Positions of the chunks that cover the target on their own."""
        return [i for i in self.overlapping(target) if self._coverage.covers(self.chunks[i], target)]
