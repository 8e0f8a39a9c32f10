"""The blocks that a label should point to, for some words: so that nobody counts blocks by hand.

Reading only: no index, no model and no ranking function takes part, so labels owe nothing to a retriever.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragkit.dataset.index import Index
from ragkit.dataset.model import MAX_QUOTE
from ragkit.records import Block, BlockKind, Document
from ragkit.text import fold

SNIPPET = 160
"""Characters of a snippet."""
NEAR = 0.5
"""Share of a quote's words that its nearest block must have to be worth naming."""

# Han, kana, Hangul, Thai and their neighbours are written without spaces: pairs of characters are the words.
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_WORD = re.compile(rf"([{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class Place:
    """A block and how well it fits.

    `exact`: the words stand in it as one phrase, and `[start, end)` is where (document offsets, the first
    one); else `[start, end)` is the block. `share` of the distinct words is in the block, 0 to 1.
    `occurrences` of the phrase in the block: a quote must have one.
    """

    slug: str
    page: int | None
    order: int
    kind: BlockKind
    breadcrumb: tuple[str, ...]
    snippet: str
    start: int
    end: int
    exact: bool
    share: float
    occurrences: int
    quote: str | None

    def judgment(self) -> dict[str, Any]:
        """An entry for `relevant` that points here; quoted when the phrase can be."""
        entry: dict[str, Any] = {"document": self.slug, "page": self.page, "block": self.order}
        return entry | ({"quote": self.quote} if self.quote else {})


def locate(documents: Sequence[Document], words: str, limit: int = 10) -> list[Place]:
    """At most `limit` places: the exact phrase (folded, any case) first, then by share of words found.

    Ties go by slug and block order. Words that are nowhere, or no words at all, give an empty list.
    """
    phrase = fold(words)
    if not phrase:
        return []
    index = Index(documents)
    pattern = re.compile(f"(?={re.escape(phrase)})", re.IGNORECASE)
    wanted = frozenset(word_list(phrase))
    ranked = []
    for slug, document in index.documents.items():
        for block in document.blocks:
            text = index.folded(slug, block).text
            at = [match.start() for match in pattern.finditer(text)]
            share = 1.0 if at else _share(wanted, text)
            if share:
                ranked.append((not at, -share, slug, block.order, at))
    ranked.sort()
    return [
        _describe(index, phrase, slug, index.documents[slug].blocks[order], at, -share)
        for _, share, slug, order, at in ranked[: max(limit, 0)]
    ]


def nearest(index: Index, document: Document, quote: str) -> Block | None:
    """The block with the largest share of the quote's words, if it has at least half of them."""
    wanted = frozenset(word_list(fold(quote)))
    shares = [_share(wanted, index.folded(document.slug, block).text) for block in document.blocks]
    best = max(shares, default=0.0)
    return document.blocks[shares.index(best)] if best >= NEAR else None


def word_list(folded: str) -> list[str]:
    """Words in order, case folded; unspaced scripts give overlapping pairs of characters."""
    words: list[str] = []
    for match in _WORD.finditer(folded):
        run = match[0].casefold()
        if match[1] and len(run) > 1:
            words += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            words.append(run)
    return words


def _share(wanted: frozenset[str], folded: str) -> float:
    return len(wanted & set(word_list(folded))) / len(wanted) if wanted else 0.0


def _describe(index: Index, phrase: str, slug: str, block: Block, at: list[int], share: float) -> Place:
    folded = index.folded(slug, block)
    start, end, quote = block.start, block.end, None
    centre = 0
    if at:
        first, last = folded.span(at[0], at[0] + len(phrase))
        start, end, centre = block.start + first, block.start + last, at[0]
        quote = block.text[first:last] if len(at) == 1 and last - first <= MAX_QUOTE else None
    else:
        wanted = set(word_list(phrase))
        hits = (match.start() for match in _WORD.finditer(folded.text) if wanted & set(word_list(match[0])))
        centre = next(hits, 0)
    return Place(
        slug,
        block.page,
        block.order,
        block.kind,
        block.breadcrumb,
        _snippet(folded.text, centre),
        start,
        end,
        bool(at),
        share,
        len(at),
        quote,
    )


def _snippet(text: str, centre: int) -> str:
    start = max(0, min(centre - SNIPPET // 4, len(text) - SNIPPET))
    end = min(len(text), start + SNIPPET)
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")
