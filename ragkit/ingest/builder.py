"""From pieces of text to a document: every parser hands its pieces to a `DocumentBuilder`.

The builder alone knows what canonical text is, so that all formats agree on it: NFC, ligatures
spelled out by `ragkit.text.LIGATURES`, no soft hyphens, invisible marks or control characters, single
spaces inside a block (code keeps its lines), a blank line between blocks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from ragkit.errors import DocumentError
from ragkit.files import sha256_bytes
from ragkit.records import Block, BlockKind, Document
from ragkit.text import LIGATURES, nfc

_CONTROLS = [*range(0x09), *range(0x0E, 0x1C), *range(0x7F, 0x85), *range(0x86, 0xA0)]
_CANONICAL = {
    **{ord(ligature): letters for ligature, letters in LIGATURES.items()},
    **dict.fromkeys([0xAD, 0x200B, 0x2060, 0xFEFF, *_CONTROLS], ""),
}
_TO_CLEAN = re.compile(f"[{''.join(re.escape(chr(code)) for code in _CANONICAL)}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_SUPERSCRIPTS = str.maketrans("0123456789+-\u2212", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_RAISED = re.compile("[0-9]+|[+\u2212-][0-9]+")
# Chinese and Japanese put no space between words, so a line end between two of their characters is nothing.
_UNSPACED = "\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_UNSPACED_LINE_END = re.compile(f"(?<=[{_UNSPACED}])[ \t]*\r?\n[ \t]*(?=[{_UNSPACED}])")


def canonical(text: str) -> str:
    """`text` in NFC, ligatures spelled out, invisible marks dropped; white space as it is.

    Lone surrogates, which no file can hold, become U+FFFD.
    """
    if _TO_CLEAN.search(text):
        text = text.translate(_CANONICAL)
    if text.isascii():
        return text
    return nfc(_SURROGATE.sub("\ufffd", text))


def superscript(text: str) -> str:
    """Raised digits as Unicode superscripts, so that 10² never reads 102; anything else unchanged."""
    stripped = text.strip()
    return stripped.translate(_SUPERSCRIPTS) if _RAISED.fullmatch(stripped) else text


class DocumentBuilder:
    """Collects the blocks of one document in reading order.

    A piece that has no visible text adds nothing. `page` is 1-based in paginated formats and `None`
    elsewhere.
    """

    def __init__(self, slug: str, format: str, data: bytes) -> None:  # noqa: A002 - the field's name
        self.slug = slug
        self._format = format
        self._sha256 = sha256_bytes(data)
        self._blocks: list[Block] = []
        self._headings: list[tuple[int, str]] = []
        self._title: tuple[int, str] | None = None
        self._length = 0

    def heading(self, text: str, level: int, page: int | None = None) -> None:
        """A heading of `level` 1 (outermost) or more; it closes all headings of its level and below.

        Levels may be skipped; a heading without text changes nothing.
        """
        text = _one_line(text)
        if not text:
            return
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        self._append("heading", text, page)
        self._headings.append((level, text))
        if self._title is None or (level == 1 and self._title[0] > 1):
            self._title = (level, text)

    def paragraph(self, text: str, page: int | None = None) -> None:
        """Running text; a line end inside it is a space, between Chinese or Japanese characters nothing."""
        self._append("paragraph", _one_line(text), page)

    def list_item(self, text: str, page: int | None = None) -> None:
        """One item of a list, without its marker and without the items nested in it."""
        self._append("list_item", _one_line(text), page)

    def table(self, rows: Iterable[Sequence[str]], page: int | None = None) -> None:
        """One table: a line per row, header row included, cells joined by " | "; empty rows dropped."""
        lines = (_one_line(" | ".join(map(_one_line, row))) for row in rows if any(cell.strip() for cell in row))
        self._append("table", "\n".join(lines), page)

    def code(self, text: str, page: int | None = None) -> None:
        """Text whose lines and indentation matter; blank lines around it and trailing spaces go."""
        lines = canonical(_LINE_END.sub("\n", text)).split("\n")
        self._append("code", "\n".join(line.rstrip() for line in lines).strip("\n"), page)

    def build(self, title: str = "", pages: int | None = None) -> Document:
        """The document; its title is `title`, else its first level-1 heading, else its first heading, else the file's name.

        Raises `DocumentError` with rule `empty` when no piece had any text.
        """
        if not self._blocks:
            raise DocumentError(
                self.slug, "empty", "no text in it", "write something or take the file out of the corpus"
            )
        first = self._title[1] if self._title else PurePosixPath(self.slug).stem
        return Document(
            slug=unicodedata.normalize("NFC", self.slug),
            format=self._format,
            title=_one_line(title) or first,
            text="\n\n".join(block.text for block in self._blocks),
            blocks=tuple(self._blocks),
            pages=pages,
            sha256=self._sha256,
        )

    def _append(self, kind: BlockKind, text: str, page: int | None) -> None:
        if not text:
            return
        start = self._length + (2 if self._blocks else 0)
        breadcrumb = tuple(heading for _, heading in self._headings)
        self._length = start + len(text)
        self._blocks.append(Block(len(self._blocks), kind, page, breadcrumb, text, start, self._length))


def _one_line(text: str) -> str:
    text = canonical(text)
    if not text.isascii():
        text = _UNSPACED_LINE_END.sub("", text)
    return " ".join(text.split())
