"""What a strategy is given to cut: a whole document, or a page of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ragkit.records import Block, Document

Range = tuple[int, int]
"""`[start, end)` in characters of a document's text."""


@dataclass(frozen=True, slots=True)
class Part:
    """`[start, end)` of document `slug`, whose whole text is `text`, and the blocks in it."""

    slug: str
    text: str
    start: int
    end: int
    blocks: tuple[Block, ...]


def parts_of(document: Document, *, across_pages: bool) -> Iterator[Part]:
    """The document in one part, or one for each page (a block that runs over a page's end stays whole)."""
    slug, text = document.slug, document.text
    if across_pages:
        yield Part(slug, text, 0, len(text), document.blocks)
        return
    for _, group in groupby(document.blocks, key=lambda block: block.page):
        blocks = tuple(group)
        yield Part(slug, text, blocks[0].start, blocks[-1].end, blocks)
