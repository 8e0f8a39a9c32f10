"""Sections: a heading and what follows, up to the next one.

A heading with nothing of its own beneath goes with the section that follows it, so that no chunk is a
bare title.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragkit.chunking.parts import Part, Range
from ragkit.chunking.recursive import split_range
from ragkit.config import HeadingChunking


def split(part: Part, config: HeadingChunking) -> Iterator[Range]:
    """The sections of a part; one longer than `chunk_size` is split recursively, on its own."""
    start = end = part.start
    said_something = False
    for block in part.blocks:
        if block.kind != "heading":
            said_something = True
        elif said_something:
            yield from split_range(part.text, start, end, config)
            start, said_something = block.start, False
        end = block.end
    yield from split_range(part.text, start, part.end, config)
