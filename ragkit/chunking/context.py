"""What is put before a chunk's text when it is embedded, to say where it stands."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from ragkit.records import Chunk, Document

SEPARATOR = " > "


def breadcrumb(document: Document, chunk: Chunk) -> str:
    """The headings above all that the chunk holds, on a line; nothing if there is none in common."""
    above = (document.blocks[span.block].breadcrumb for span in chunk.spans)
    levels = zip(*above, strict=False)
    return _line(SEPARATOR.join(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)))


def title(document: Document, chunk: Chunk) -> str:
    """The document's title on a line."""
    return _line(document.title)


BUILDERS: dict[str, Callable[[Document, Chunk], str]] = {"breadcrumb": breadcrumb, "title": title}


def _line(text: str) -> str:
    return f"{text}\n" if text else ""
