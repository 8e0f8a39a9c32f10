"""Fixtures shared by all tests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import pytest

from ragkit.records import Block, BlockKind, Document


def build_document(
    slug: str,
    texts: Sequence[str],
    pages: Sequence[int] | None = None,
    *,
    page_count: int | None = None,
    kinds: Sequence[BlockKind] | None = None,
    breadcrumb: tuple[str, ...] = (),
) -> Document:
    """A parsed document with one block per text; `pages` gives each block's page (None: unpaged).

    `page_count` makes the document longer than its last block's page. Blocks are joined by a blank
    line, as ingestion does, so `document.text[b.start:b.end] == b.text`.
    """
    blocks = []
    start = 0
    for order, text in enumerate(texts):
        kind = kinds[order] if kinds else "paragraph"
        page = pages[order] if pages else None
        blocks.append(Block(order, kind, page, breadcrumb, text, start, start + len(text)))
        start += len(text) + 2
    text = "\n\n".join(texts)
    total = None if pages is None else page_count or max(pages, default=0)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Document(slug, "text" if pages is None else "pdf", slug, text, tuple(blocks), total, sha256)


@pytest.fixture
def make_document() -> Callable[..., Document]:
    """`make_document(slug, [texts], pages=[page of each block])`, see `build_document`."""
    return build_document
