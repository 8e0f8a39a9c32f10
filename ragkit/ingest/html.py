"""HTML: what a reader of the page sees, as blocks.

libxml2 reports tags and text as they come (no tree is built, so depth and size cost nothing), and
`_Page` keeps what is open. The rules:

* Dropped: scripts, styles, templates, `noscript`, pictures (their alternative text stays), form
  controls, embedded media; whatever is hidden by `hidden`, `aria-hidden` or an inline style.
* Page furniture is dropped: `nav` anywhere; `header` and `footer` (also as roles) outside `main`,
  `article`, `section` and `aside`. A header that has the `h1` is the document's title block: it is kept
  from the `h1` on, since edition, date and author stand there.
* `h1` to `h6` are headings, but inside a list item, block quote or table cell they are text there.
* `li`, `dt`, `dd` are list items; what a nested list interrupts goes on as an item of its own.
* A table is one block. A table that holds another one is layout: from there on its cells are read as
  running text. A caption is the paragraph before its table.
* Everything else is paragraphs, cut at block-level tags. Raised digits become Unicode superscripts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lxml import etree

from ragkit.errors import DocumentError
from ragkit.ingest.builder import DocumentBuilder, superscript
from ragkit.ingest.encoding import decode
from ragkit.records import Document


def _tags(names: str) -> frozenset[str]:
    return frozenset(names.split())


_DROPPED = _tags("script style template noscript svg iframe canvas audio video object embed textarea select button nav")
_SECTIONS = _tags("main article section aside")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ITEMS = _tags("li dt dd")
_BLOCKS = _tags(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure"
    " footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary"
    " table tbody td tfoot th thead tr ul"
)
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_TAG = re.compile("<[a-zA-Z!/]")
_META = re.compile(rb"""<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([^\s"'/>;]+)""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml\b[^>]*?\bencoding\s*=\s*["']([^"']+)""")
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_PRESCAN = 4096
_SUPERSCRIPT_PIECES = 4

_Kind = Literal["paragraph", "heading", "list_item", "code", "cell", "title"]


def parse(data: bytes, slug: str) -> Document:
    """The document in an HTML file; its title is the page's `title`, else a heading.

    Raises `DocumentError`: `encoding`, `binary`, `empty`, and `mislabelled` for text without any tag.
    """
    text = decode(data, slug, _declared(data[:_PRESCAN]))
    if not _TAG.search(text):
        raise DocumentError(slug, "mislabelled", "named as HTML but it has no tag", "give it the suffix .txt or .md")
    builder = DocumentBuilder(slug, "html", data)
    return builder.build(_read(text, builder, _Page(builder)))


def read_fragment(text: str, builder: DocumentBuilder) -> None:
    """Add what a piece of HTML inside another format shows. Never raises."""
    page = _Page(builder)
    page.sections = 1  # a piece has no page furniture
    _read(text, builder, page)


def _declared(head: bytes) -> str | None:
    head = _COMMENT.sub(b"", head)
    found = _META.search(head) or _XML.match(head)
    return found[1].decode("ascii", "replace") if found else None


def _read(text: str, builder: DocumentBuilder, page: _Page) -> str:
    target: Any = page  # etree's protocol asks for methods that are optional
    parser = etree.HTMLParser(target=target, huge_tree=True, encoding="utf-8")
    try:
        parser.feed(text.encode("utf-8", "replace"))
        parser.close()
    except etree.XMLSyntaxError as error:
        raise DocumentError(builder.slug, "damaged", f"not readable as HTML: {error}", "export it again") from error
    return page.title


@dataclass
class _Table:
    """Rows of cells, as far as they were read; none once the table turned out to be layout."""

    layout: bool
    rows: list[list[str]] = field(default_factory=list)


class _Page:
    """A SAX target; `start`, `end`, `data` and `close` are called by lxml.

    `_contexts` says what the text being collected will be, innermost last; `_open` says for each
    open element what its end has to do.
    """

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self.title = ""
        self._text: list[str] = []
        self._contexts: list[tuple[_Kind, int]] = [("paragraph", 0)]
        self._open: list[tuple[str, int]] = []
        self._tables: list[_Table] = []
        self._dropped = 0
        self._banners = 0
        self._titled = False  # inside a banner: its h1 has begun
        self._quotes = 0
        self.sections = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._dropped:
            self._dropped += 1
            return
        if tag in _BLOCKS:
            self._break()
        if tag in _DROPPED or self._is_out_of_place(tag) or _is_hidden(tag, attributes):
            self._dropped = 1
            return
        self._open.append(self._enter(tag, attributes))

    def data(self, text: str) -> None:
        if not self._dropped and (not self._banners or self._titled):
            self._text.append(text)

    def end(self, tag: str) -> None:
        if self._dropped:
            self._dropped -= 1
            return
        action, number = self._open.pop()
        if action == "context":
            self._leave()
        elif action == "superscript":
            if len(self._text) - number <= _SUPERSCRIPT_PIECES:
                self._text[number:] = [superscript("".join(self._text[number:]))]
        elif action == "section":
            self.sections -= 1
        elif action == "banner":
            self._banners -= 1
            self._titled = self._titled and self._banners > 0
        elif action == "quote":
            self._break()
            self._quotes -= 1
        elif action == "table":
            self._leave()
            self._builder.table(self._tables.pop().rows)
        if tag in _BLOCKS:
            self._break()

    def close(self) -> None:
        self._flush()

    def _is_out_of_place(self, tag: str) -> bool:
        """A footer of the page itself, or a title in the middle of a block."""
        if tag == "footer":
            return not self.sections
        return tag == "title" and self._contexts[-1][0] != "paragraph"

    def _enter(self, tag: str, attributes: Mapping[str, str]) -> tuple[str, int]:
        """Do what an element's start asks for; what its end has to do."""
        kind = self._contexts[-1][0]
        role = attributes.get("role")
        if tag == "br":
            self._text.append("\n" if kind == "code" else " ")
        elif tag == "img":
            self.data(attributes.get("alt", ""))
        elif tag == "sup":
            return ("superscript", len(self._text))
        elif tag == "title":
            return self._collect("title")
        elif tag == "table":
            return self._enter_table(layout=role in ("presentation", "none"))
        elif kind in ("cell", "heading", "title"):
            return ("", 0)  # only inline content there, whatever the tags say
        elif tag in _HEADINGS:
            if kind == "paragraph" and not self._quotes:
                self._titled = self._titled or (tag == "h1" and self._banners > 0)
                return self._collect("heading", _HEADINGS[tag])
        elif tag in _ITEMS:
            return self._collect("list_item")
        elif tag in ("ul", "ol", "dl", "caption"):
            return self._collect("paragraph")
        elif tag == "pre":
            return self._collect("code")
        elif tag == "tr":
            if self._tables and not self._tables[-1].layout:
                self._tables[-1].rows.append([])
        elif tag in ("td", "th"):
            if self._tables and not self._tables[-1].layout:
                return self._collect("cell")
        elif tag in _SECTIONS or role == "main":
            self.sections += 1
            return ("section", 0)
        elif tag == "blockquote":
            self._quotes += 1
            return ("quote", 0)
        elif not self.sections and (tag == "header" or role == "banner"):
            self._banners += 1
            return ("banner", 0)
        return ("", 0)

    def _collect(self, kind: _Kind, level: int = 0) -> tuple[str, int]:
        self._flush()
        self._contexts.append((kind, level))
        return ("context", 0)

    def _leave(self) -> None:
        self._flush()
        self._contexts.pop()

    def _enter_table(self, *, layout: bool) -> tuple[str, int]:
        if self._contexts[-1][0] == "cell":
            outer = self._tables[-1]
            self._contexts[-1] = ("paragraph", 0)
            self._builder.table(outer.rows[:-1])
            for cell in outer.rows[-1] if outer.rows else ():
                self._builder.paragraph(cell)
            outer.layout, outer.rows = True, []
        self._collect("paragraph")
        self._tables.append(_Table(layout))
        return ("table", 0)

    def _break(self) -> None:
        """A block-level tag begins or ends."""
        kind = self._contexts[-1][0]
        if kind == "paragraph":
            self._flush()
        elif kind == "code":
            if self._text and not self._text[-1].endswith("\n"):
                self._text.append("\n")
        elif self._text:
            self._text.append(" ")

    def _flush(self) -> None:
        """Hand on what was collected, as what the context says."""
        kind, level = self._contexts[-1]
        text = "".join(self._text)
        self._text.clear()
        if kind == "cell":
            rows = self._tables[-1].rows
            if not rows:
                rows.append([])
            rows[-1].append(text)
        elif kind == "title":
            self.title = self.title or text.strip()
        elif kind == "heading":
            self._builder.heading(text, level)
        elif kind == "list_item":
            self._builder.list_item(text)
        elif kind == "code":
            self._builder.code(text)
        else:
            self._builder.paragraph(text)


def _is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Hidden by its attributes, or page furniture by its role."""
    if not attributes:
        return tag == "dialog"
    if tag == "dialog" and "open" not in attributes:
        return True
    if "hidden" in attributes and attributes["hidden"] != "until-found":
        return True
    if attributes.get("aria-hidden") == "true" or attributes.get("role") in ("navigation", "search", "contentinfo"):
        return True
    return bool(_UNSEEN.search(attributes.get("style", "")))
