"""What the parser tests share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.errors import DocumentError
from ragkit.records import Document


class Shape:
    """Short forms of a document's blocks, to compare with by hand."""

    @staticmethod
    def texts(document: Document) -> list[tuple[str, str]]:
        """`(kind, text)` of every block."""
        return [(block.kind, block.text) for block in document.blocks]

    @staticmethod
    def crumbs(document: Document) -> dict[str, str]:
        """The breadcrumb of every block, by its text."""
        return {block.text: " / ".join(block.breadcrumb) for block in document.blocks}

    @staticmethod
    def check(document: Document) -> None:
        """What must hold for every document."""
        assert [block.order for block in document.blocks] == list(range(len(document.blocks)))
        assert all(document.text[block.start : block.end] == block.text != "" for block in document.blocks)
        document.text.encode()

    @staticmethod
    def outcome(parse: Callable[[bytes, str], Document], data: bytes, name: str) -> Document | str:
        """The document, or the rule it breaks; any other exception is a failure."""
        try:
            document = parse(data, name)
        except DocumentError as error:
            return error.problems[0].rule
        Shape.check(document)
        return document


@pytest.fixture(scope="session")
def shape() -> type[Shape]:
    return Shape
