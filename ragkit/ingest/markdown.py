"""Markdown: CommonMark with GitHub's tables, strike-through, footnotes and front matter.

The rules:

* Text is what a reader sees: markup stripped, links by their text, images by their alternative text,
  raised digits (`<sup>2</sup>`) as Unicode superscripts. HTML blocks go through `ragkit.ingest.html`.
* A list item is one block, whatever its paragraphs; items nested in it are blocks of their own.
* Block quotes and footnotes are paragraphs where they stand. A heading inside a quote or a list is
  text there: it heads nothing.
* Front matter is a leading `---` block that reads like YAML keys; only its `title` is used.
* Deeper than `_DEPTH` levels of quotes and lists, and in stretches of more than `_STRETCH` characters
  without a blank line, markup may stay visible; text is never lost. (The library would drop the first
  and take quadratic time for the second.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin

from ragkit.ingest.builder import DocumentBuilder, superscript
from ragkit.ingest.encoding import decode
from ragkit.ingest.html import read_fragment
from ragkit.records import Document

_DEPTH = 60
_INLINE_DEPTH = 20  # links in links in emphasis...; what is deeper keeps its markup
_STRETCH = 10_000
_FRONT_MATTER = re.compile(
    r"---[ \t]*\n((?:(?:\w[\w .-]*:(?:[ \t].*)?|[ \t].*|-[ \t].*|#.*|)\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|$)"
)
_TITLE = re.compile(r"^title:[ \t]+(.*)$", re.MULTILINE)
_HTML_TAG = re.compile(r"<(/?)([A-Za-z]+)")
_UNSEEN = ("script", "style", "template")
_SILENT = frozenset(
    ["paragraph_open", "paragraph_close", "th_open", "th_close", "td_open", "td_close", "tr_close"]
)  # tokens that say nothing; a table has three of them for each of its cells
_MARKUP = re.compile(r"[\\`*_\[<&~]")  # what every inline rule begins with


def parse(data: bytes, slug: str) -> Document:
    """The document in a Markdown file; its title is the front matter's, else a heading.

    Raises `DocumentError`: `encoding`, `binary`, `empty`.
    """
    text = re.sub("\r\n?", "\n", decode(data, slug))
    title = ""
    if front := _FRONT_MATTER.match(text):
        title = _title(front[1])
        text = text[front.end() :]
    builder = DocumentBuilder(slug, "markdown", data)
    reader = _Reader(builder)
    reader.read(text)
    return builder.build(title)


def _title(front: str) -> str:
    found = _TITLE.search(front)
    value = found[1].strip() if found else ""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace("''", "'") if value[0] == "'" else value[1:-1].replace('\\"', '"')
    return "" if value[:1] in "|>[{&*!" else re.sub(r"[ \t]#.*", "", value)


class _Reader:
    """Turns markdown-it's flat token list into blocks."""

    def __init__(self, builder: DocumentBuilder) -> None:
        self._builder = builder
        self._markdown = MarkdownIt("commonmark", {"maxNesting": _DEPTH + 40})
        self._markdown.enable(["table", "strikethrough"]).use(footnote_plugin)
        self._markdown.core.ruler.enableOnly(["normalize", "block"])  # inline content is read piece by piece
        self._markdown.inline.ruler.disable("footnote_inline")
        self._markdown.block.ruler.before("table", "too_deep", _too_deep)
        self._markdown.block.ruler.before("table", "running_text", _running_text)
        self._environment: dict[str, Any] = {}
        self._item: list[str] = []
        self._lists = 0
        self._quotes = 0
        self._level = 0
        self._rows: list[list[str]] | None = None

    def read(self, text: str) -> None:
        tokens = self._markdown.parse(text, self._environment)
        self._markdown.options["maxNesting"] = _INLINE_DEPTH
        for token in tokens:
            if token.type not in _SILENT:
                self._read(token)
        self._end_item()

    def _read(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._text(self._visible(token.content))
        elif kind in ("list_item_open", "list_item_close"):
            self._end_item()
            self._lists += token.nesting
        elif kind in ("blockquote_open", "blockquote_close"):
            self._quotes += token.nesting
        elif kind == "heading_open":
            self._level = int(token.tag[1])
        elif kind == "heading_close":
            self._level = 0
        elif kind in ("fence", "code_block"):
            self._end_item()
            self._builder.code(token.content)
        elif kind == "html_block":
            self._end_item()
            read_fragment(token.content, self._builder)
        elif kind == "table_open":
            self._end_item()
            self._rows = []
        elif kind == "tr_open" and self._rows is not None:
            self._rows.append([])
        elif kind == "table_close" and self._rows is not None:
            self._builder.table(self._rows)
            self._rows = None

    def _text(self, text: str) -> None:
        if self._rows is not None:
            self._rows[-1].append(text)
        elif self._lists:
            self._item.append(text)
        elif self._level and not self._quotes:
            self._builder.heading(text, self._level)
        else:
            self._builder.paragraph(text)

    def _end_item(self) -> None:
        if self._item:
            self._builder.list_item(" ".join(self._item))
            self._item.clear()

    def _visible(self, source: str) -> str:
        """The text of inline Markdown, markup stripped, line ends kept."""
        if not _MARKUP.search(source):
            return source
        pieces: list[str] = []
        for stretch in _stretches(source):
            tokens: list[Token] = []
            self._markdown.inline.parse(stretch, self._markdown, self._environment, tokens)
            pieces.extend(_shown(tokens))
        return "".join(pieces)


def _shown(tokens: list[Token]) -> list[str]:
    pieces: list[str] = []
    unseen = ""
    raised = -1  # where the pieces of an open <sup> begin
    for token in _leaves(tokens):
        if token.type == "html_inline":
            if not (found := _HTML_TAG.match(token.content)):
                continue
            closing, tag = bool(found[1]), found[2].lower()
            if tag in _UNSEEN and unseen in ("", tag):
                unseen = "" if closing else tag
            elif tag == "br":
                pieces.append(" ")
            elif tag == "sup" and not closing:
                raised = len(pieces)
            elif tag == "sup" and raised >= 0:
                pieces[raised:] = [superscript("".join(pieces[raised:]))]
                raised = -1
        elif unseen:
            continue
        elif token.type == "softbreak":
            pieces.append("\n")
        elif token.type == "hardbreak":
            pieces.append(" ")
        else:
            pieces.append(token.content)  # empty for the marks around emphasis and links
    return pieces


def _leaves(tokens: list[Token]) -> Iterator[Token]:
    """All tokens in order, those of an image's alternative text in its place."""
    pending = tokens[::-1]
    while pending:
        token = pending.pop()
        if token.type == "image":
            pending.extend((token.children or [])[::-1])
        else:
            yield token


def _stretches(source: str) -> Iterator[str]:
    """`source` in parts of at most `_STRETCH` characters, cut after line ends, else at spaces."""
    start = 0
    while len(source) - start > _STRETCH:
        limit = start + _STRETCH
        cut = source.rfind("\n", start, limit) + 1 or source.rfind(" ", start, limit) + 1
        cut = cut if cut > start else limit
        yield source[start:cut]
        start = cut
    yield source[start:]


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A block rule that reads what is nested too deeply as one paragraph."""
    if state.level < _DEPTH:
        return False
    if not silent:
        state.push("paragraph_open", "p", 1)
        inline = state.push("inline", "", 0)
        inline.content = state.getLines(start, end, state.blkIndent, False).strip()
        state.push("paragraph_close", "p", -1)
        state.line = end
    return True


def _running_text(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph whose lines all begin with a letter, up to an empty line, without asking every other rule for each.

    No other block begins with a letter, nor can one interrupt a paragraph; and what could make the last line
    something else, a heading or a table, stands below it.
    """
    if silent or not state.blkIndent <= state.sCount[start] < state.blkIndent + 4:
        return False
    line = start
    while line < state.lineMax and not state.isEmpty(line):
        if state.sCount[line] < state.blkIndent or not state.src[state.bMarks[line] + state.tShift[line]].isalpha():
            return False
        line += 1
    state.push("paragraph_open", "p", 1)
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, line, state.blkIndent, False).strip()
    state.push("paragraph_close", "p", -1)
    state.line = line
    return True
