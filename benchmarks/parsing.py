"""PDF, HTML and Markdown to blocks: the corpus's own files, again and again.

Every peer is asked for the least that gives blocks in reading order: the pages' text boxes from pdfminer.six, lines of words from
pdfplumber, lines from pypdf, the text of block-level elements from BeautifulSoup. The Markdown parsers only
make their tokens, whose text is taken out afterwards for the comparison. Equal results can't be had from different ideas of
a block; what is compared is words, Chinese and Japanese characters each being one.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import mistune
import pdfplumber
import pypdf
from bs4 import BeautifulSoup, Tag
from frame import Row, Section, faster, rows
from markdown_it import MarkdownIt
from pdfminer.high_level import extract_pages
from pdfminer.layout import LTTextContainer
from timing import alternate

from ragkit.ingest import html, markdown, pdf, walk

CORPUS = Path("eval/corpus")
TIMES = {".pdf": 1, ".html": 10, ".md": 10}
"""How often the corpus's files of a format are read in one run, so that a run is long enough to be timed."""

_WORD = re.compile(r"[\u3040-\u9fff]|[^\W\u3040-\u9fff]+")
_BLOCKS = ["h1", "h2", "h3", "h4", "h5", "h6", "p", "li", "dt", "dd", "pre", "table", "blockquote", "figcaption", "caption"]  # fmt: skip

Parse = Callable[[bytes], list[str]]


@dataclass(frozen=True)
class Way:
    """What is timed, and the same with the text of its blocks as the outcome."""

    work: Callable[[bytes], Any]
    read: Parse


def by_ragkit(parse: Callable[[bytes, str], Any], suffix: str, data: bytes) -> list[str]:
    return [block.text for block in parse(data, f"document{suffix}").blocks]


def by_pdfplumber(data: bytes) -> list[str]:
    with pdfplumber.open(io.BytesIO(data)) as document:
        return [line["text"] for page in document.pages for line in page.extract_text_lines(return_chars=False)]


def by_pypdf(data: bytes) -> list[str]:
    return [line for page in pypdf.PdfReader(io.BytesIO(data)).pages for line in page.extract_text().splitlines()]


def by_pdfminer(data: bytes) -> list[str]:
    pages = extract_pages(io.BytesIO(data))
    return [box.get_text() for page in pages for box in page if isinstance(box, LTTextContainer)]


def by_soup(builder: str, data: bytes) -> list[str]:
    soup = BeautifulSoup(data, builder, from_encoding="utf-8")
    for furniture in soup(["script", "style", "nav"]):
        furniture.decompose()
    found = soup.find_all(_BLOCKS)
    return [tag.get_text(" ", strip=True) for tag in found if isinstance(tag, Tag) and not tag.find_parent(_BLOCKS)]


def texts(tokens: Iterable[Any]) -> Iterator[str]:
    """The text in the tokens of either Markdown parser, whatever holds it."""
    for token in tokens:
        if isinstance(token, dict):
            children, text = token.get("children"), token.get("raw", "")
        else:
            children, text = token.children, "" if token.type.startswith("html") else token.content
        if children:
            yield from texts(children)
        else:
            yield text


def words(pieces: Iterable[str]) -> Counter[str]:
    return Counter(word for piece in pieces for word in _WORD.findall(piece))


def shared(ours: Counter[str], theirs: Counter[str]) -> float:
    """Words in common, as a share of the mean of both counts (Dice)."""
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def all_of(parse: Callable[[bytes], Any], files: Sequence[bytes], times: int) -> None:
    for _ in range(times):
        for data in files:
            parse(data)


def compared(
    format_: str,
    suffix: str,
    ours: Parse,
    peers: Mapping[str, Way],
    others: Mapping[str, Way],
    quick: bool,
) -> list[Row]:
    files = [path.read_bytes() for slug, path in walk(CORPUS) if slug.endswith(suffix)][: 1 if quick else None]
    times = 1 if quick else TIMES[suffix]
    pages = sum(len(pypdf.PdfReader(io.BytesIO(data)).pages) for data in files) if suffix == ".pdf" else 0
    megabytes = sum(map(len, files)) * times / 1e6
    own = words(piece for data in files for piece in ours(data))
    same = [
        f"{shared(own, words(piece for data in files for piece in way.read(data))):.1%} ({name})"
        for name, way in {**peers, **others}.items()
    ]
    ways = {"ragkit": ours, **{name: way.work for name, way in {**peers, **others}.items()}}
    measured = alternate({name: partial(all_of, parse, files, times) for name, parse in ways.items()})
    return rows(
        f"{format_} to blocks, " + (f"{len(files)} files, {pages} pages" if pages else f"{megabytes:.2f} MB"),
        measured,
        ours=["ragkit"],
        peers=list(peers),
        amount=pages * times if pages else megabytes,
        unit="pages" if pages else "MB",
        checked=f"words in common: {', '.join(same)}",
        bars=[faster(measured, "ragkit", list(peers), 1.0, "the quickest peer")],
    )


def measure(quick: bool) -> Section:
    library = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    other = mistune.create_markdown(renderer="ast", plugins=["table", "strikethrough", "footnotes"])
    pdfs = {"pdfplumber": by_pdfplumber, "pypdf": by_pypdf, "pdfminer.six": by_pdfminer}
    soups = {
        "BeautifulSoup, lxml": partial(by_soup, "lxml"),
        "BeautifulSoup, html.parser": partial(by_soup, "html.parser"),
    }
    return Section(
        "Parsing",
        [
            *compared("PDF", ".pdf", partial(by_ragkit, pdf.parse, ".pdf"), _ways(pdfs), {}, quick),
            *compared("HTML", ".html", partial(by_ragkit, html.parse, ".html"), _ways(soups), {}, quick),
            *compared(
                "Markdown",
                ".md",
                partial(by_ragkit, markdown.parse, ".md"),
                {"markdown-it-py, tokens alone": _tokens(lambda data: library.parse(data.decode()))},
                {"mistune, tokens alone (not CommonMark)": _tokens(lambda data: other(data.decode()))},
                quick,
            ),
        ],
        ("pypdfium2", "lxml", "markdown-it-py", "pdfplumber", "pypdf", "pdfminer.six", "beautifulsoup4", "mistune"),
    )


def _ways(parsers: Mapping[str, Parse]) -> dict[str, Way]:
    return {name: Way(parse, parse) for name, parse in parsers.items()}


def _tokens(parse: Callable[[bytes], Any]) -> Way:
    return Way(parse, lambda data: list(texts(parse(data))))
