"""A document as one line of JSON: how workers answer, and what is kept of them for the next run."""

from __future__ import annotations

import json
from typing import Any

from ragkit.records import Block, Document


def dumps(document: Document) -> str:
    """The line, without its end. Blocks are places in the text, which is written once."""
    blocks = [(b.kind, b.page, b.breadcrumb, b.start, b.end) for b in document.blocks]
    head = (document.slug, document.format, document.title, document.text, document.pages, document.sha256)
    return json.dumps({"head": head, "blocks": blocks})


def loads(entries: dict[str, Any]) -> Document:
    """The document whose line has been read as JSON."""
    slug, format_, title, text, pages, sha256 = entries["head"]
    blocks = tuple(
        Block(order, kind, page, tuple(breadcrumb), text[start:end], start, end)
        for order, (kind, page, breadcrumb, start, end) in enumerate(entries["blocks"])
    )
    return Document(slug, format_, title, text, blocks, pages, sha256)
