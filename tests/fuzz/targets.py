"""What is fuzzed: for each kind of input a function that takes bytes and must come back.

What it raises is a finding. A reader may refuse its input with an error of ragkit's own; what it accepts
has to hold together, and to come out the same when it is read again. Each target has a few seeds and the
words that its format is made of, for a fuzzer to mix.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ragkit import dataset
from ragkit.comparison.policy import read_policy
from ragkit.config import load
from ragkit.dataset.splits import scan_splits
from ragkit.errors import ConfigError, DataError, DocumentError, FileError
from ragkit.execution.grid import read_sweep
from ragkit.golden.cases import Case, read_cases
from ragkit.golden.fixtures import read_fixtures
from ragkit.ingest import corpus, html, markdown, office, pdf, plaintext, sniff
from ragkit.interop import run_file
from ragkit.interop.mapping import load_mapping
from ragkit.interop.trec import escape, read_qrels, read_run, unescape
from ragkit.names import slug_fault as label_fault
from ragkit.records import Document
from tests.fuzz import packages
from tests.ingest import pdf_writer

ROOT = Path(__file__).parents[2]
FINDINGS = Path(__file__).parent / "findings"


@dataclass(frozen=True)
class Target:
    """`run` raises for a finding; `seeds` are sound inputs; `words` is what the format is made of."""

    run: Callable[[bytes], None]
    seeds: Sequence[bytes]
    words: str


def check(document: Document) -> None:
    """What must hold for every document."""
    assert document.blocks
    assert [block.order for block in document.blocks] == list(range(len(document.blocks)))
    end = -2
    for block in document.blocks:
        assert block.start == end + 2
        end = block.end
        assert document.text[block.start : block.end] == block.text != ""
        assert block.page is None or (document.pages is not None and 1 <= block.page <= document.pages)
    assert end == len(document.text)
    assert unicodedata.is_normalized("NFC", document.text)
    document.text.encode()
    document.title.encode()


def _parsed(parse: Callable[[bytes, str], Document], name: str, data: bytes) -> None:
    sniff.mislabelled(data, Path(name).suffix)
    with contextlib.suppress(DocumentError):
        document = parse(data, name)
        check(document)
        assert parse(data, name) == document


def _pdf(data: bytes) -> None:
    """A whole file, or else the drawing operators of its pages with form feeds between them."""
    if not data.startswith(b"%PDF"):
        data = pdf_writer.pdf(*([page.decode("latin-1")] for page in data.split(b"\f")))
    _parsed(pdf.parse, "a.pdf", data)


def _docx(data: bytes) -> None:
    """A whole file, or else its body, styles and footnotes with form feeds between them."""
    if not data.startswith(b"PK"):
        data = packages.docx(*data.split(b"\f", 2))
    _parsed(office.parse, "a.docx", data)


def _both(read: Callable[[], Any]) -> None:
    """Read twice, the same result; refused by one of ragkit's own errors is as good."""
    with contextlib.suppress(DataError, ConfigError, FileError):
        assert read() == read()


@functools.cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ragkit-fuzz-"))
    (folder / "fixtures").mkdir()
    (folder / "base.toml").write_bytes((ROOT / "eval/configs/v1.4.toml").read_bytes())
    return folder


@contextlib.contextmanager
def _file(name: str, data: bytes) -> Iterator[Path]:
    path = _folder() / name
    path.write_bytes(data)
    yield path


def _questions(data: bytes) -> None:
    with _file("questions.jsonl", data) as path:
        _both(lambda: dataset.read_questions(path))


def _splits(data: bytes) -> None:
    with _file("splits.json", data) as path:
        _both(lambda: scan_splits(path, {"q1": 1, "q2": 2}))


_CASE = Case("a", "how hot?", ("guide.md",), (("Limits",),), ("60 °C",))


def _fixtures(data: bytes) -> None:
    with _file("fixtures/a.json", data) as path:
        _both(lambda: read_fixtures(path, [_CASE]))
        _both(lambda: read_cases(path))


def _trec(data: bytes) -> None:
    with _file("a.run", data) as path:
        _both(lambda: read_run(path))
        _both(lambda: read_qrels(path))
        expected, *found = (_outcome(read, path) for read in (_scores, _block_scores, _small_block_scores))
        assert found == [expected, expected]


def _outcome(read: Callable[[Path], Any], path: Path) -> Any:
    try:
        return read(path)
    except (DataError, FileError) as error:
        return str(error)


def _scores(path: Path) -> dict[str, dict[str, float]]:
    """Question to document to score, as the slow reader of runs has them, in the precision of the quick one."""
    with np.errstate(over="ignore"):
        return {
            q: {document: float(np.float32(score)) for document, score in hits} for q, hits in read_run(path).items()
        }


def _block_scores(path: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for block in run_file.read_blocks(path):
        for row, question in enumerate(block.questions):
            rows = range(block.bounds[row], block.bounds[row + 1])
            found[question] = {block.documents.field(at).decode(): float(block.scores[at]) for at in rows}
    return found


def _small_block_scores(path: Path) -> dict[str, dict[str, float]]:
    with mock.patch.object(run_file, "BLOCK", 16):
        return _block_scores(path)


def _toml(data: bytes) -> None:
    with _file("a.toml", data) as path, contextlib.chdir(path.parent):  # where a sweep's paths begin
        for read in (load, read_policy, load_mapping, lambda path: read_sweep(path, lambda _: None)):
            _both(functools.partial(read, path))


def _slugs(data: bytes) -> None:
    slug = data.decode("utf-8", "surrogateescape") + ".md"
    escaped = escape(slug.encode("utf-8", "replace").decode())
    assert len(escaped.split()) <= 1
    assert escape(unescape(escaped)) == escaped
    if corpus.slug_fault(slug) is None:
        path = Path(os.path.normpath(f"/corpus/{slug}"))
        assert path.is_relative_to("/corpus")
        assert path != Path("/corpus")
        slug = unicodedata.normalize("NFC", slug)
        assert label_fault(slug) is None  # what may be in a corpus can be named by a label


_HTML = b"""<!doctype html><html><head><meta charset=utf-8><title>T</title></head><body><header><h1>Guide</h1></header>
<main><p>One<sup>2</sup> two<br>three <b>four</b></p><ul><li>a<ul><li>b</ul><li>c</ul><table><caption>C</caption><tr><th>h
<th>i<tr><td>1<td><table><tr><td>x</table></table><pre>code</pre><blockquote><p>q</blockquote><dl><dt>t<dd>d</dl></main>
<nav>n</nav><script>s</script><div hidden>h</div><footer>f</footer></body></html>"""
_MARKDOWN = b"""---
title: "T"
---
# Heading *one*

Text [link](http://x "t") ![alt *a*](i.png) `code` <b>b</b> 10<sup>2</sup> ~~s~~ **b** \\* &amp; <http://a.b>[^1]

> quote
> - item
>   1. deeper

| a | b |
| --- | :-: |
| 1 | 2 \\| 3 |

```py
x
```

Under
=====

[^1]: note
[ref]: <x> 'y'
"""
_TEXT = """TITLE LINE

2.1 Scope

Para with hyphen-
ation and hyphenation: \u00ad
- one
- two
  more

a\tb
c\td

Name   Value
abc    1

    code
    code

Head
----
1. x
""".encode()
_OPERATORS = [
    b"BT /F1 10 Tf 72 700 Td (A line of text) Tj 0 -12 Td (and the next hy-) Tj 0 -12 Td (phen) Tj ET",
    b"BT /F2 18 Tf 72 760 Td (Heading) Tj ET 0.5 w 72 600 m 300 600 l S 72 580 m 300 580 l S 72 560 m 300 560 l S"
    b" 72 600 m 72 560 l S 150 600 m 150 560 l S 300 600 m 300 560 l S BT /F1 9 Tf 80 585 Td (a) Tj 90 0 Td (b) Tj"
    b" -90 -20 Td (c) Tj 90 0 Td (d) Tj ET\fBT /F3 8 Tf 1 0 0 1 72 40 Tm (1) Tj 5 Ts (2) Tj ET",
    b"BT /F5 10 Tf 72 700 Td <65e5672c8a9e> Tj ET q 0 1 -1 0 0 0 cm BT /F1 10 Tf (up) Tj ET Q 10 10 50 50 re f /Im Do",
]
_BODY = (
    b'<w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>'
    b'item</w:t></w:r></w:p><w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>2'
    b"</w:t></w:r><w:ins><w:r><w:t>in</w:t></w:r></w:ins><w:del><w:r><w:t>out</w:t></w:r></w:del><w:r><w:footnoteReference"
    b' w:id="2"/></w:r></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>'
    b"<w:sdt><w:sdtContent><w:p><w:r><w:t>control</w:t><w:tab/><w:br/></w:r></w:p></w:sdtContent></w:sdt>"
    b'\f<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/><w:basedOn w:val="H0"/></w:style>'
    b'<w:style w:type="paragraph" w:styleId="H0"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    b'\f<w:footnote w:id="2"><w:p><w:r><w:t>note</w:t></w:r></w:p></w:footnote>'
)
_QUESTION = b"""\
{"id": "q1", "question": "Which colour?", "type": "exact", "goldAnswer": "green", "relevant": [{"document": "a/b.md", "page": 1, "block": 2, "quote": "green", "grade": 3, "group": "g"}]}
{"id": "q2", "question": "Where?", "answerable": false, "relevant": []}
"""
_DUMPS = [
    *(path.read_bytes() for path in sorted((ROOT / "tests/golden/resources").glob("*.json"))),
    b'[{"caseId": "a", "query": "q", "expectedDocIds": ["d"], "expectedBreadcrumbs": ["A > B", ["C"]], "expectedKeywords": ["k"], "notes": null}]',
    b'{"cases": {"a": {"results": [{"slug": "x.md", "score": 1.5, "rank": 1}]}}, "metric": "l2", "provenance": {}}',
]
_TOMLS = [
    *(path.read_bytes() for path in sorted((ROOT / "eval").glob("*/*.toml"))),
    (ROOT / "eval/policy.toml").read_bytes(),
    (ROOT / "tests/golden/resources/mapped.toml").read_bytes(),
    b'name = "s"\nbase = "base.toml"\n[grid]\n"chunking.chunk_size" = [100, 200]\n',
    b'[fields]\ndocId = "a.b[0]"\n[request]\njson = { q = "{query}" }\n',
]

TARGETS = {
    "html": Target(
        functools.partial(_parsed, html.parse, "a.html"),
        [_HTML, b"<p>a", b"<table><tr><td>a<table><tr><td>b</table></table>"],
        "<p> </p> <div> </div> <table> </table> <tr> <td> <th> <caption> <ul> <ol> <li> </li> <dl> <dt> <dd> <pre> </pre>"
        " <h1> </h1> <h6> <sup> </sup> <br> <hr> <blockquote> </blockquote> <title> </title> <header> </header> <footer>"
        " <main> <article> <nav> <script> </script> <!-- --> <![CDATA[ ]]> <?xml <svg> <select> <template> <img alt="
        " hidden aria-hidden=true role=presentation style=display:none <body> </body> <html> <frameset> &amp; &#0; &#xD800;"
        " <math> <textarea> <plaintext> <noscript> <dialog open> charset=utf-16",
    ),
    "markdown": Target(
        functools.partial(_parsed, markdown.parse, "a.md"),
        [_MARKDOWN, b"a", b"- a\n  - b\n\n1. c\n", b"[a][b]\n\n[b]: c"],
        "# ## --- *** ___ ``` ~~~ > - * + 1. 1) [ ] ( ) ![ ]( ]: [^1] [^1]: ** __ ~~ ` `` <b> </b> <sup> </sup> <script> <!-- -->"
        " <?x ?> <![CDATA[ | |---| :-: \\ \\| &amp; &#0; http:// <http://a> title: === <br> <div> </div> <table>",
    ),
    "text": Target(
        functools.partial(_parsed, plaintext.parse, "a.txt"),
        [_TEXT, b"a", "Ünïcode-\nwörd\u2028x".encode(), "Grüße über".encode("cp1252"), "日本語".encode("shift_jis")],
        "=== --- ~~~ *** ### - * + \u2022 1. 1) a) : | \t 2.1",
    ),
    "pdf": Target(
        _pdf,
        [*_OPERATORS, pdf_writer.pdf([pdf_writer.text("whole", 72, 700)])],
        "BT ET Tj TJ Td TD Tm Tf Ts Tz Tr Tw Tc TL T* /F1 /F2 /F3 /F4 /F5 /Im Do cm q Q re m l c h S f W n w rg BI ID EI (a) [( <00>"
        " obj endobj stream endstream xref trailer /Type /Page /Pages /Kids /Count /Parent /MediaBox /Contents /Resources"
        " /Font /Rotate /FlateDecode /Filter /Length /ObjStm /XRef R 1e10 -1 0.001 99999999999",
    ),
    "docx": Target(
        _docx,
        [_BODY, packages.docx(b"<w:p><w:r><w:t>whole</w:t></w:r></w:p>")],
        '<w:p> </w:p> <w:r> </w:r> <w:t> </w:t> <w:tbl> </w:tbl> <w:tr> </w:tr> <w:tc> </w:tc> <w:pPr> </w:pPr> w:val="'
        " <w:outlineLvl <w:numPr/> <w:sdt> </w:sdt> <w:sdtContent> </w:sdtContent> <w:ins> <w:del> <w:txbxContent>"
        ' </w:txbxContent> <mc:Fallback> </mc:Fallback> <w:footnoteReference w:id=" <w:style w:type="paragraph" w:styleId="'
        " <w:basedOn <w:name &amp; &lt; <!-- --> <![CDATA[ ]]> <w:tab/> <w:br/> <w:instrText>",
    ),
    "questions": Target(
        _questions,
        [_QUESTION],
        '{ } [ ] , : "id" "question" "type" "relevant" "document" "page" "block" "quote" "grade" "group" "goldAnswer"'
        ' "answerable" true false null 1e999 -0 NaN \\u0000 \\ud800 \\n \r\n \ufeff',
    ),
    "splits": Target(
        _splits, [b'{"dev": ["q1"], "test": ["q2"]}'], '"dev" "test" "$schema" "method" "seed" "q1" [ ] { } null'
    ),
    "fixtures": Target(
        _fixtures,
        _DUMPS,
        '{ } [ ] , : "results" "hits" "score" "distance" "metric" "L2" "docId" "slug" "text" "breadcrumb" "rank" "page" "_source"'
        ' "payload" "metadata" "node" "document" "cases" "caseId" "expectedDocIds" "expectedBreadcrumbs" "expectedKeywords"'
        ' "provenance" 1e308 -1e308 1e999 null true \\ud800 \\u0000',
    ),
    "trec": Target(
        _trec,
        [b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1e-3 tag\n", b"q1 0 d1 1\nq2\t0 d%20 3\r\n"],
        "Q0 q1 d1 0 1 -1 1e308 1e999 nan inf -0.0 .5 5. + \t \r\n \ufeff \u00a0 \u0085 \u2028",
    ),
    "toml": Target(
        _toml,
        _TOMLS,
        'name = "x" base = "base.toml" notebook = [model] [chunking] [retrieval] [grid] [[variants]] set = strategy = "dense" "bm25"'
        ' "hybrid" chunk_size chunk_overlap top_k threshold [primary] [guard] alpha family [fields] [request] json = { } [ ] true'
        " 1979-05-27 nan inf 1e400 0x10 ''' \"\"\" \\u0000 allow_two",
    ),
    "slugs": Target(
        _slugs,
        [b"a/b", "Ü/ü".encode(), b"C:/a", b"..", b"a\\b", "帮助/校正".encode()],
        "/ // . .. ../ \\ C: ~ % %2F \u0000 \u2028 \u0301 \u212b \u200d .md",
    ),
}
