"""The parsed corpus, ready to be looked through: documents by slug, blocks folded once, when needed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragkit.records import Block, Document
from ragkit.text import Folded, fold

MANY = 2_000
"""Documents from which misspelt slugs are no longer compared with every known one, which would take seconds."""


@dataclass(frozen=True, slots=True)
class Found:
    """A quote where it stands: document offsets, end exclusive."""

    slug: str
    block: Block
    start: int
    end: int

    def __str__(self) -> str:
        return describe(self.block)


def describe(block: Block) -> str:
    """`block 7, page 2 (Operation > Limits)`"""
    page = f", page {block.page}" if block.page is not None else ""
    crumbs = f" ({' > '.join(block.breadcrumb)})" if block.breadcrumb else ""
    return f"block {block.order}{page}{crumbs}"


class Index:
    """Looks up documents and quotes. Nothing is folded before it is asked for, and nothing twice."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = {document.slug: document for document in sorted(documents, key=lambda each: each.slug)}
        self._folded: dict[tuple[str, int], Folded] = {}
        self._joined: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        self._near: dict[str, list[str]] = {}

    def folded(self, slug: str, block: Block) -> Folded:
        key = (slug, block.order)
        if key not in self._folded:
            self._folded[key] = Folded(block.text)
        return self._folded[key]

    def in_block(self, slug: str, block: Block, quote: str) -> list[Found]:
        """Every occurrence in one block."""
        spans = self.folded(slug, block).find_all(quote)
        return [Found(slug, block, block.start + start, block.start + end) for start, end in spans]

    def in_document(self, slug: str, quote: str) -> list[Found]:
        """Every occurrence in one document, in block order."""
        document = self.documents[slug]
        if slug not in self._joined:
            # A folded text has no line feed, so no quote can be found across the seam of two blocks.
            self._joined[slug] = "\n".join(self.folded(slug, block).text for block in document.blocks)
        if fold(quote) not in self._joined[slug]:
            return []
        return [found for block in document.blocks for found in self.in_block(slug, block, quote)]

    def everywhere(self, quote: str) -> Iterator[Found]:
        """Every occurrence in the corpus, by slug and block order."""
        for slug in self.documents:
            yield from self.in_document(slug, quote)

    def near(self, slug: str) -> list[str]:
        """Known slugs that an unknown one may mean: the same file name elsewhere, else similar spelling."""
        if not self._names:
            for known in self.documents:
                self._names.setdefault(_file_name(known), []).append(known)
        if slug not in self._near:
            same = self._names.get(_file_name(slug), [])
            spelt = difflib.get_close_matches(slug, self.documents, n=3) if len(self.documents) <= MANY else []
            self._near[slug] = (same or spelt)[:3]
        return self._near[slug]


def _file_name(slug: str) -> str:
    return slug.rpartition("/")[2].casefold()
