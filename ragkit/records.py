"""The nouns of the package, as frozen types. No behaviour beyond what a field's meaning needs.

Offsets are characters (code points) in `Document.text`, end exclusive, everywhere. Identity is the
slug and the block order; ids that exist only inside a database never appear here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["heading", "paragraph", "list_item", "table", "code"]
TargetKind = Literal["quote", "block", "page", "document"]
Role = Literal["query", "passage"]
Progress = Callable[[int], None]
"""Called with the number of items done since the last call."""


@dataclass(frozen=True, slots=True)
class Block:
    """One structural unit of a document: `document.text[start:end] == text`.

    `order` is 0-based and contiguous in the document, in reading order. `page` is 1-based in paginated
    formats and `None` elsewhere; a block that runs over a page break belongs to the page it starts on.
    `breadcrumb` has the headings above it, outermost first, its own text not included for a heading.
    A table is one block (per page): a line per row, cells joined by " | ".
    """

    order: int
    kind: BlockKind
    page: int | None
    breadcrumb: tuple[str, ...]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """One parsed file of the corpus.

    `slug` is the path relative to the corpus root (POSIX, NFC). `text` is the canonical text: NFC, the
    blocks in order with a blank line between them. `pages` is `None` in formats without pages.
    `sha256` is that of the file's bytes, in hexadecimal.
    """

    slug: str
    format: str
    title: str
    text: str
    blocks: tuple[Block, ...]
    pages: int | None
    sha256: str


@dataclass(frozen=True, slots=True)
class Span:
    """The part `[start, end)` of block `block` that a chunk holds; document offsets, never empty."""

    block: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is embedded and returned.

    `text == document.text[start:end]`; `spans` are its blocks' parts, in order, without the blank
    lines between them. `index` is 0-based in its document. `context` (a breadcrumb, say) is put before
    the text when it is embedded and is never quoted.
    """

    slug: str
    index: int
    start: int
    end: int
    text: str
    spans: tuple[Span, ...]
    context: str = ""

    @property
    def embedded_text(self) -> str:
        return self.context + self.text


@dataclass(frozen=True, slots=True)
class Judgment:
    """One relevant location of a question, as its author wrote it.

    `page` is 1-based, `block` is a block order, both `None` when not given. `quote` is at most 200
    characters. `grade` is 1 to 3. Judgments of one question that share a `group` state the same fact.
    """

    document: str
    page: int | None = None
    block: int | None = None
    quote: str | None = None
    grade: int = 1
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """One line of `questions.jsonl`; `line` is where it stands (1-based), for messages only."""

    id: str
    question: str
    relevant: tuple[Judgment, ...]
    gold_answer: str | None
    type: str | None
    answerable: bool
    line: int


@dataclass(frozen=True, slots=True)
class Target:
    """A judgment, resolved in the parsed corpus.

    `spans` is where it is: the quote's one span; the block's; one per block of the page; none for a
    document. `group` is the 0-based index of its group within the question, in label order.
    """

    slug: str
    kind: TargetKind
    spans: tuple[Span, ...]
    grade: int
    group: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved chunk; a larger `score` is better, `rank` is 1-based."""

    chunk: Chunk
    score: float
    rank: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What one question went through; every stage is a ranking by (score desc, slug, start).

    `candidates`: the first stage's best `candidate_k`. `kept`: those at or above the threshold, before
    any cut at k. `hits`: the final order of `kept`, after reranking if there is any.
    """

    candidates: tuple[Hit, ...]
    kept: tuple[Hit, ...]
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` questions with its 95 % interval; `chance` where random order has a level."""

    mean: float
    low: float
    high: float
    n: int
    chance: float | None = None
