"""Blocks as they are, one by one or a few neighbours together."""

from __future__ import annotations

from collections.abc import Iterator

from ragkit.chunking.parts import Part, Range
from ragkit.chunking.recursive import split_range
from ragkit.config import BlockChunking


def split(part: Part, config: BlockChunking) -> Iterator[Range]:
    """Up to `config.blocks` neighbours that fit into `chunk_size`; a longer block is split recursively."""
    start = end = part.start
    count = 0
    for block in part.blocks:
        if count and (count == config.blocks or block.end - start > config.chunk_size):
            yield from split_range(part.text, start, end, config)
            start, count = block.start, 0
        end = block.end
        count += 1
    yield from split_range(part.text, start, part.end, config)
