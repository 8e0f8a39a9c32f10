"""PDF: pages to lines, lines to columns, columns to blocks.

::

    pages      PDFium's runs of text and drawn lines
    tables     cells between drawn lines are taken out first
    lines      the other runs become lines
    furniture  headers, footers and page numbers go
    columns    reading order
    aligned    tables without lines around the cells
    blocks     paragraphs, items, headings, footnotes
    words      hyphens and spaces where lines meet

Decisions: a paragraph that evidently continues in the next column or on the next page is one block of the page
it starts on; a table is one block per page. Footnotes follow the text of their page. Bullets go, numbers of
items and headings stay. Rotated text, annotations and form fields are not read. A single page that is a picture
without text makes the whole file an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragkit.ingest.builder import DocumentBuilder
from ragkit.ingest.pdf import aligned, blocks, columns, furniture, lines, pages, tables
from ragkit.ingest.pdf.blocks import Draft, Style
from ragkit.ingest.pdf.lines import Line
from ragkit.ingest.pdf.runs import Page
from ragkit.ingest.pdf.tables import Table
from ragkit.ingest.pdf.words import join, vocabulary, without_bullet
from ragkit.records import Document

_Items = list[Line | Table]
_NUMBERED = re.compile(r"(\d+(?:\.\d+)*)[.)]?\s")
_NUMBER = re.compile(r"^(\d+(?:\.\d+)*)(?=[\u3040-\u9fff])")  # of a heading, the gap after it being no space
_MARK = re.compile(r"^([\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)(?=\w)")  # of a footnote, set close to its text
_LEADERS = re.compile(r"(?:\s?[.\u2026\u00b7]){4,}\s*")


def parse(data: bytes, slug: str) -> Document:
    """The document in a PDF file. Raises `DocumentError`; see `pages.read` for its rules, and `empty`."""
    found, title = pages.read(data, slug)
    drafts = _drafts(found)
    builder = DocumentBuilder(slug, "pdf", data)
    known = vocabulary(_texts(drafts))
    levels = _levels([draft for draft in drafts if draft.kind == "heading"])
    depths = iter(levels)
    for draft in drafts:
        text = _LEADERS.sub(" \u2026 ", join((line.text for line in draft.lines), known))
        if draft.table:
            builder.table([[join(cell, known) for cell in row] for row in draft.table.rows], draft.page)
        elif draft.kind == "heading":
            builder.heading(_NUMBER.sub(r"\1 ", text), next(depths), draft.page)
        elif draft.kind == "item":
            builder.list_item(without_bullet(text), draft.page)
        elif draft.kind == "code":
            builder.code(_code(draft.lines), draft.page)
        else:
            builder.paragraph(_MARK.sub(r"\1 ", text), draft.page)
    return builder.build("" if levels else title, pages=len(found))


def _texts(drafts: Sequence[Draft]) -> Iterator[list[str]]:
    for draft in drafts:
        yield [line.text for line in draft.lines]
        if draft.table:
            yield from (cell for row in draft.table.rows for cell in row)


def _drafts(found: Sequence[Page]) -> list[Draft]:
    """The blocks of all pages in reading order, paragraphs joined across columns and pages."""
    ruled, loose = [], []
    for page in found:
        grids, rest = tables.ruled(page)
        ruled.append(grids)
        loose.append(lines.lines(rest))
    body = blocks.style(loose).size
    loose = furniture.without_furniture([(text, page.height) for text, page in zip(loose, found, strict=True)], body)
    regions: list[tuple[Page, list[_Items]]] = []
    for page, grids, text in zip(found, ruled, loose, strict=True):
        underlined, text = aligned.underlined(text, page.rules)
        regions.append((page, [_rows(region, page) for region in columns.ordered([*text, *grids, *underlined])]))
    usual = blocks.style([item for item in items if isinstance(item, Line)] for _, all_ in regions for items in all_)
    drafts: list[Draft] = []
    for page, all_ in regions:
        feet: list[Draft] = []
        for items in all_:
            text_blocks, notes = blocks.drafts(items, page.number, usual)
            feet += notes
            _append(drafts, blocks.gathered(text_blocks, usual), usual)
        drafts += feet
    return drafts


def _rows(region: Sequence[columns.Item], page: Page) -> _Items:
    """A column from top to bottom: its rows, tables among them."""
    items: _Items = []
    pieces = [item for item in region if isinstance(item, Line)]
    for table in sorted((item for item in region if isinstance(item, Table)), key=lambda table: table.top):
        above = [piece for piece in pieces if piece.baseline < table.top + 2]
        pieces = [piece for piece in pieces if piece.baseline >= table.top + 2]
        items += [*aligned.aligned(lines.rows(above), page.rules), table]
    return items + aligned.aligned(lines.rows(pieces), page.rules)


def _append(drafts: list[Draft], column: list[Draft], usual: Style) -> None:
    """Add the blocks of the next column; its first text may be the rest of the last paragraph so far.

    Tables and captions at the foot of the one column or the head of the other are passed over when the
    text goes on in lower case.
    """
    for draft in column:
        if blocks.is_heading(draft, usual):
            draft.kind = "heading"
    floating = [draft.kind in ("table", "note") or blocks.is_caption(draft) for draft in drafts]
    end = next((draft for draft, floats in zip(reversed(drafts), reversed(floating), strict=True) if not floats), None)
    start = next((draft for draft in column if draft.kind != "table" and not blocks.is_caption(draft)), None)
    if end and start and blocks.continues(end, start):
        direct = start is column[0] and (end is drafts[-1] or drafts[-1].kind == "note")
        if direct or start.lines[0].text[:1].islower():
            column.remove(start)
            end.lines += start.lines
            end.right = start.right
    drafts += column


def _levels(headings: Sequence[Draft]) -> list[int]:
    """The level of each heading: by size, bold before regular, then by the depth of its number."""
    styles = [(-round(draft.size * 2) / 2, not all(line.bold for line in draft.lines)) for draft in headings]
    depths = [match[1].count(".") if (match := _NUMBERED.match(draft.lines[0].text)) else None for draft in headings]
    least: dict[tuple[float, bool], int] = {}
    for style, depth in zip(styles, depths, strict=True):
        if depth is not None:
            least[style] = min(depth, least.get(style, depth))
    keys = [
        (style, least.get(style, 0) if depth is None else depth) for style, depth in zip(styles, depths, strict=True)
    ]
    order = sorted(set(keys))
    return [order.index(key) + 1 for key in keys]


def _code(text: Sequence[Line]) -> str:
    left = min(line.x0 for line in text)
    width = sum(line.x1 - line.x0 for line in text) / max(sum(len(line.text) for line in text), 1)
    return "\n".join(" " * round((line.x0 - left) / max(width, 1)) + line.text for line in text)
