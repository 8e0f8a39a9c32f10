"""Small documents and chunks whose coverage can be counted by hand."""

from collections.abc import Callable

import pytest

from ragkit.records import Block, Chunk, Document, Judgment, Question, Span, Target


def _document(slug: str, *texts: str, pages: tuple[int, ...] | None = None) -> Document:
    blocks: list[Block] = []
    text = ""
    for order, block in enumerate(texts):
        text += "\n\n" if text else ""
        page = pages[order] if pages else None
        blocks.append(Block(order, "paragraph", page, (), block, len(text), len(text) + len(block)))
        text += block
    return Document(slug, "text", slug, text, tuple(blocks), max(pages) if pages else None, "0")


def _chunk(document: Document, start: int, end: int, index: int = 0) -> Chunk:
    spans = tuple(
        Span(block.order, max(start, block.start), min(end, block.end))
        for block in document.blocks
        if block.start < end and start < block.end
    )
    return Chunk(document.slug, index, start, end, document.text[start:end], spans)


def _target(document: Document, kind: str, where: int | str | None = None, *, group: int = 0, grade: int = 1) -> Target:
    """`where`: the quote, the block's order or the page."""
    if kind == "quote":
        assert isinstance(where, str)
        start = document.text.index(where)
        block = next(block for block in document.blocks if block.start <= start < block.end)
        spans: tuple[Span, ...] = (Span(block.order, start, start + len(where)),)
    else:
        chosen = {
            "block": lambda block: block.order == where,
            "page": lambda block: block.page == where,
            "document": lambda block: False,
        }[kind]
        spans = tuple(Span(b.order, b.start, b.end) for b in document.blocks if chosen(b))
    return Target(document.slug, kind, spans, grade, group)  # type: ignore[arg-type]  # a literal by construction


def _question(*judgments: Judgment, name: str = "q", kind: str | None = None) -> Question:
    return Question(name, "what?", judgments, None, kind, bool(judgments), 1)


@pytest.fixture(scope="session")
def document() -> Callable[..., Document]:
    """`document(slug, *block_texts, pages=(1, 1, 2))`."""
    return _document


@pytest.fixture(scope="session")
def chunk() -> Callable[..., Chunk]:
    """`chunk(document, start, end, index=0)`: a slice of the document's text with its block spans."""
    return _chunk


@pytest.fixture(scope="session")
def target() -> Callable[..., Target]:
    """`target(document, kind, where, group=0, grade=1)`."""
    return _target


@pytest.fixture(scope="session")
def question() -> Callable[..., Question]:
    """`question(*judgments, name="q", kind=None)`."""
    return _question


@pytest.fixture(scope="session")
def letters() -> Callable[[str], list[tuple[int, int]]]:
    """A tokenizer with one token per non-whitespace character."""
    return lambda text: [(i, i + 1) for i, character in enumerate(text) if not character.isspace()]
