"""From ranges of a document's text to chunks that know which blocks they hold."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from ragkit.records import Block, Chunk, Document, Span


def chunks_of(document: Document, ranges: Iterable[tuple[int, int]]) -> list[Chunk]:
    """One chunk for each range `[start, end)` of `document.text`, with the spans of its blocks."""
    slug, text, blocks = document.slug, document.text, document.blocks
    ends = [block.end for block in blocks]
    return [
        Chunk(slug, index, start, end, text[start:end], _spans(blocks, bisect_right(ends, start), start, end))
        for index, (start, end) in enumerate(ranges)
    ]


def _spans(blocks: tuple[Block, ...], at: int, start: int, end: int) -> tuple[Span, ...]:
    """What `[start, end)` holds of each block, from `blocks[at]` on, the first that ends after `start`."""
    spans = []
    while at < len(blocks) and (block := blocks[at]).start < end:
        if block.start < block.end:
            spans.append(Span(block.order, max(block.start, start), min(block.end, end)))
        at += 1
    return tuple(spans)
