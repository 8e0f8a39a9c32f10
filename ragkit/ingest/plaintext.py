"""Plain text: paragraphs between blank lines, and the structure that can be told for sure.

When in doubt it is a paragraph. The rules, for the lines between two blank lines (or form feeds):

* Heading: a line underlined by `===` (level 1), `---` (2) or `~~~`, `^^^`, `***`, `###` (3), the
  underline at least half as long; alone between blank lines also a line of capitals (level 2) and a
  number with a point inside and a capital (`2.1 Scope`, level 1 + the parts of the number). Such a
  line has at most 80 characters, does not end like a sentence, and something follows it.
* List item: begins with `-`, `*`, `+`, a bullet, `1.`, `1)` or `a)`; the list starts at the group's
  first line or after a line that ends in a colon. Lines without a marker continue an item.
* Table: every line has the same number (2 or more) of cells, separated by tabs, by `|`, or by two
  or more spaces so that the columns align; rules made of dashes are left out.
* Code: at least two lines, all indented by four spaces or a tab.
* A line made of dashes, stars or the like alone is left out.

A word hyphenated at a line end is joined where the document has the joined word elsewhere and not the
hyphenated one; otherwise the hyphen stays, without a space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from ragkit.ingest.builder import DocumentBuilder
from ragkit.ingest.encoding import decode
from ragkit.records import Document

_LINE_END = re.compile("\r\n?|[\x0b\x85\u2028]")
_PARAGRAPH_END = re.compile("\f|\u2029")
_UNDERLINES = {"=": 1, "-": 2, "~": 3, "^": 3, "*": 3, "#": 3}
_RULE = re.compile(r"(?:[-=*_~^#+.|:]\s*){3,}")
_MARKER = re.compile(r"\s*(?:[-*+•‣◦▪·]|[0-9]{1,3}[.)]|[a-z]\))\s+(?=\S)")
_NUMBERED = re.compile(r"([0-9]+(?:\.[0-9]+)+)\.?\s+[^\W\d_a-z]")
_SENTENCE_END = re.compile(r"[.,;:!?]$")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)")
_CELL = re.compile(r"\S+(?: \S+)*")  # as far as the next two spaces
_HEADING_LENGTH = 80
_JOINT = re.compile(r"(?<=[^\W\d_])([-\u2010\u00ad])\n\s*(?=[^\W\d_])")
_LAST_LETTERS = re.compile(r"[^\W\d_]+$")
_LETTERS = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_LONGEST_WORD = 64


def parse(data: bytes, slug: str) -> Document:
    """The document in a text file; its title is its first heading, else the file's name.

    Raises `DocumentError`: `encoding`, `binary`, `empty`.
    """
    text = _PARAGRAPH_END.sub("\n\n", _LINE_END.sub("\n", decode(data, slug)))
    builder = DocumentBuilder(slug, "text", data)
    reader = _Reader(builder, text)
    groups = list(_groups(_dedented(text.split("\n"))))
    for number, lines in enumerate(groups, start=1):
        reader.read(lines, followed=number < len(groups))
    return builder.build()


def _dedented(lines: list[str]) -> list[str]:
    """Without the indentation that all lines share, and without trailing spaces."""
    margin = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return [line[margin:].rstrip() for line in lines]


def _groups(lines: Iterable[str]) -> Iterator[list[str]]:
    """Runs of lines that aren't blank."""
    group: list[str] = []
    for line in lines:
        if line:
            group.append(line)
        elif group:
            yield group
            group = []
    if group:
        yield group


class _Reader:
    """Reads groups of lines into blocks; `text` is the whole document, for its words."""

    def __init__(self, builder: DocumentBuilder, text: str) -> None:
        self._builder = builder
        self._document = text

    def read(self, lines: list[str], *, followed: bool) -> None:
        """Add a group's blocks; `followed` when it isn't the last group."""
        if rows := _table(lines):
            self._builder.table(rows)
            return
        lines = self._headings(lines)
        if not lines:
            return
        if len(lines) == 1 and followed and (level := _heading_level(lines[0].strip())):
            self._builder.heading(lines[0], level)
        elif _MARKER.match(lines[0]):
            self._list(lines)
        elif len(lines) > 1 and all(map(_INDENTED.match, lines)):
            self._builder.code("\n".join(_dedented([line.expandtabs(4) for line in lines])))
        else:
            self._paragraph(lines)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.casefold() for word in _WORD.findall(self._document))

    def _headings(self, lines: list[str]) -> list[str]:
        """Take the underlined headings and the rules that a group begins with; the lines that are left."""
        at = 0
        while at < len(lines):
            title = lines[at].strip()
            underline = lines[at + 1].strip() if at + 1 < len(lines) else ""
            if _RULE.fullmatch(title):
                at += 1
            elif _is_underline(underline, title):
                self._builder.heading(title, _UNDERLINES[underline[0]])
                at += 2
            else:
                break
        return lines[at:]

    def _list(self, lines: list[str]) -> None:
        item: list[str] = []
        for line in lines:
            marker = _MARKER.match(line)
            if marker and item:
                self._builder.list_item(self._running(item))
                item = []
            item.append(line[marker.end() :] if marker else line)
        self._builder.list_item(self._running(item))

    def _paragraph(self, lines: list[str]) -> None:
        """A paragraph, and the list that its colon announces."""
        for number, line in enumerate(lines[:-1], start=1):
            if line.endswith(":") and _MARKER.match(lines[number]):
                self._builder.paragraph(self._running(lines[:number]))
                self._list(lines[number:])
                return
        self._builder.paragraph(self._running(lines))

    def _running(self, lines: list[str]) -> str:
        """Lines as one running text, hyphenation undone where that is sure."""
        return _JOINT.sub(self._joint, "\n".join(line for line in lines if not _RULE.fullmatch(line.strip())))

    def _joint(self, found: re.Match[str]) -> str:
        hyphen = found[1]
        if hyphen == "\u00ad":
            return ""
        before = _LAST_LETTERS.search(found.string[max(0, found.start() - _LONGEST_WORD) : found.start()])
        after = _LETTERS.match(found.string, found.end())
        if not before or not after or not after[0][0].islower():
            return hyphen
        joined, compound = (f"{before[0]}{mark}{after[0]}".casefold() for mark in ("", hyphen))
        return "" if joined in self._words and compound not in self._words else hyphen


def _is_underline(line: str, title: str) -> bool:
    return (
        line[:1] in _UNDERLINES
        and len(line) > 2
        and not line.strip(line[0])
        and len(title) <= _HEADING_LENGTH
        and len(line) * 2 >= len(title)
    )


def _heading_level(line: str) -> int:
    """The level of a heading that stands alone; 0 when it is none."""
    if len(line) > _HEADING_LENGTH or _SENTENCE_END.search(line):
        return 0
    if numbered := _NUMBERED.match(line):
        return 2 + numbered[1].count(".")
    letters = sum(map(str.isalpha, line))
    return 2 if line.isupper() and letters > 2 and letters * 2 > len(line) else 0


def _table(lines: list[str]) -> list[list[str]]:
    """Rows of cells, none when the lines aren't a table."""
    lines = [line for line in lines if not _RULE.fullmatch(line.strip())]
    if len(lines) < 2 or _MARKER.match(lines[0]):
        return []
    for separator in ("\t", "|"):
        rows = [line.strip(" \t|").split(separator) for line in lines]
        if _is_regular(rows):
            return rows
    cells = [list(_CELL.finditer(line)) for line in lines]
    if not _is_regular(cells) or not all(map(_is_aligned, zip(*cells, strict=True))):
        return []
    return [[cell[0] for cell in row] for row in cells]


def _is_regular(rows: Sequence[Sequence[object]]) -> bool:
    return len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)


def _is_aligned(column: tuple[re.Match[str], ...]) -> bool:
    """Whether the cells begin, or end, at the same place."""
    return len({cell.start() for cell in column}) == 1 or len({cell.end() for cell in column}) == 1
