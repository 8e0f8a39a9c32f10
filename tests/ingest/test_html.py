"""HTML: what a reader of the page sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.errors import DocumentError
from ragkit.ingest.builder import DocumentBuilder
from ragkit.ingest.html import parse, read_fragment
from tests.growth import grows_with_its_input

H, P, L, T, C = "heading", "paragraph", "list_item", "table", "code"


@pytest.mark.parametrize(
    ("source", "blocks"),
    [
        ("<h1>A</h1><p>b <b>c</b>d<p>e", [(H, "A"), (P, "b cd"), (P, "e")]),
        (
            "bare<div>in div<div>deeper</div>after</div><span>a</span><span>b</span>",
            [(P, "bare"), (P, "in div"), (P, "deeper"), (P, "after"), (P, "ab")],
        ),
        ("<p>a<br>b<hr>c<wbr>d &amp; &eacute;&nbsp;&#8212; &lt;x&gt;", [(P, "a b"), (P, "cd & é — <x>")]),
        ("<ul><li>a<ul><li>b</ul>c<li><p>d</p><p>e</p></ul>", [(L, "a"), (L, "b"), (L, "c"), (L, "d e")]),
        ("<dl><dt>term<dd>meaning</dl>", [(L, "term"), (L, "meaning")]),
        ("<pre>\n a\n\n  <b>b</b>\n<br>c</pre>", [(C, " a\n\n  b\n\nc")]),
        ("<pre><div>a</div><div>b</div></pre>", [(C, "a\nb")]),
        ("<p>10<sup>2</sup> 1<sup>st</sup> H<sub>2</sub>O", [(P, "10² 1st H2O")]),
        ("<p>x<img src=a alt='a picture'>", [(P, "xa picture")]),
        ("<blockquote><h2>said</h2><p>a</blockquote><h2>B</h2>", [(P, "said"), (P, "a"), (H, "B")]),
        ("<ul><li><h3>card</h3><p>text</ul>", [(L, "card text")]),
        ("<figure><img alt=pic><figcaption>cap</figcaption></figure>", [(P, "pic"), (P, "cap")]),
        ("<details><summary>S</summary>inner</details>", [(P, "S"), (P, "inner")]),
        ("<P HIDDEN>no</P><p>YES", [(P, "YES")]),
    ],
)
def test_blocks(source: str, blocks: list[tuple[str, str]], shape) -> None:
    document = parse(source.encode(), "x.html")
    assert shape.texts(document) == blocks
    shape.check(document)


@pytest.mark.parametrize(
    ("source", "blocks"),
    [
        ("<table><thead><tr><th>h<th>i</thead><tr><td><p>a</p><p>b</p><td>c<tr><td><td></table>", [(T, "h | i\na b | c")]),
        ("<table><caption>Cap</caption><tr><td>a<td></td><td>b</table>tail", [(P, "Cap"), (T, "a | | b"), (P, "tail")]),
        ("<ul><li>x<table><tr><td>a</table>y</ul>", [(L, "x"), (T, "a"), (L, "y")]),
        ("<table><tr><td><ul><li>a<li>b</ul><td><h2>c</h2><pre>d</pre></table>", [(T, "a b | c d")]),
        (
            "<table><tr><td>first<tr><td>left<td>before<table><tr><td>in<td>ner</table>after<td>right<tr><td><h2>H</h2></table>",
            [(T, "first"), (P, "left"), (P, "before"), (T, "in | ner"), (P, "after"), (P, "right"), (H, "H")],
        ),
        ("<table role=presentation><tr><td><h1>A</h1><p>b<td>c</table>", [(H, "A"), (P, "b"), (P, "c")]),
        ("<table>stray<tr><td>a</table><td>lone</td>", [(P, "stray"), (T, "a"), (P, "lone")]),
    ],
)  # fmt: skip
def test_tables(source: str, blocks: list[tuple[str, str]], shape) -> None:
    assert shape.texts(parse(source.encode(), "x.html")) == blocks


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>if (a<b) no()</script>", "<style>no{}</style>", "<template><p>no</template>", "<noscript>no</noscript>",
        "<!-- no -->", "<p hidden>no</p>", "<div style='color:red; DISPLAY : none'>no<div>no</div></div>",
        "<i style='visibility:hidden'>no</i>", "<b aria-hidden=true>no</b>", "<dialog>no</dialog>", "<svg><title>no</title><text>no</text></svg>",
        "<textarea>no</textarea><button>no</button><select><option>no</select>", "<nav><ul><li>no</ul></nav>",
        "<div role=navigation>no</div>", "<header><p>no<img alt=no></header>", "<footer>no</footer>", "<div role=contentinfo>no</div>",
    ],
)  # fmt: skip
def test_scripts_hidden_parts_and_page_furniture_are_dropped(unseen: str) -> None:
    assert parse(f"<body><p>a</p>{unseen}<p>b</p>".encode(), "x.html").text == "a\n\nb"


@pytest.mark.parametrize("seen", ["<p hidden=until-found>yes</p>", "<dialog open>yes</dialog>", "<aside>yes</aside>", "<p aria-hidden=false>yes</p>", "<article><header>yes</header></article>", "<main><footer>yes</footer></main>", "<header><h1>yes</h1></header>", "<header>no <h1>yes</h1></header>"])  # fmt: skip
def test_what_is_content_stays(seen: str) -> None:
    assert parse(f"<body><p>a</p>{seen}<p>b</p>".encode(), "x.html").text == "a\n\nyes\n\nb"


def test_title_is_the_pages_else_a_heading(shape) -> None:
    page = parse(b"<head><title> T &amp;\n U </title></head><h2>a</h2><h1>b</h1><p>c", "x.html")
    assert (page.title, page.text) == ("T & U", "a\n\nb\n\nc")
    assert shape.crumbs(page) == {"a": "", "b": "", "c": "b"}
    assert parse(b"<h2>a</h2><h1>b</h1>", "x.html").title == "b"


TEXT = "日本語の文章です。"


@pytest.mark.parametrize(
    "data",
    [
        f"<p>{TEXT}".encode(),
        f"<p>{TEXT}".encode("utf-8-sig"),
        f"<meta charset=ascii><p>{TEXT}".encode("utf-16"),
        f"<meta charset='Shift_JIS'><p>{TEXT}".encode("shift_jis"),
        f'<META http-equiv="Content-Type" content="text/html; charset=euc-jp"><p>{TEXT}'.encode("euc-jp"),
        f"<?xml version='1.0' encoding='shift_jis'?><html><p>{TEXT}".encode("cp932"),
        f"<!-- <meta charset=latin1> --><meta charset=utf-8><p>{TEXT}".encode(),
        f"<meta charset=nonsense><p>{TEXT}".encode(),
        f"<meta charset=rot13><p>{TEXT}".encode(),
        f"<meta charset=utf-16><p>{TEXT}".encode(),
        f"<meta charset=us-ascii><p>{''.join(f'&#{ord(c)};' for c in TEXT)}".encode(),
    ],
)
def test_charset_by_mark_then_declaration_then_utf_8(data: bytes) -> None:
    assert parse(data, "x.html").text == TEXT


def test_latin_1_is_read_as_windows_1252_declared_or_not() -> None:
    for head in ("<meta charset=iso-8859-1>", ""):
        assert parse(f"{head}<p>“café” – 5 €".encode("cp1252"), "x.html").text == "“café” – 5 €"


def test_a_wrong_declaration_is_passed_over() -> None:
    assert parse("<meta charset=utf-8><p>le café d'été".encode("cp1252"), "x.html").text == "le café d'été"


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"just words, no tag", "mislabelled"),
        (b"<html><body></body></html>", "empty"),
        (b"<script>x()</script>", "empty"),
        (b"<p>\x00\x01\x02", "binary"),
        (b"<p title='never closed", "empty"),
    ],
)
def test_what_is_no_page_is_refused(data: bytes, rule: str) -> None:
    with pytest.raises(DocumentError, match=rf"^x\.html: {rule}: .* -> ."):
        parse(data, "x.html")


@pytest.mark.parametrize("tag", ["div", "b", "ul><li", "blockquote", "table><tr><td", "sup", "span hidden=until-found"])
def test_depth_costs_no_recursion_and_linear_time(tag: str) -> None:
    def read(depth: int) -> None:
        document = parse((f"<{tag}>" * depth + "deep").encode() + b"<p>after", "x.html")
        assert document.text.split() in (["deep", "after"], ["deepafter"])

    assert grows_with_its_input(read, 2_000, 16_000)


def test_one_huge_line_and_one_huge_word() -> None:
    document = parse(b"<p>" + b"word " * 400_000 + b"<p>" + b"x" * 11_000_000, "x.html")
    assert [len(block.text) for block in document.blocks] == [1_999_999, 11_000_000]


def test_a_fragment_adds_to_another_document_and_has_no_furniture() -> None:
    builder = DocumentBuilder("x.md", "markdown", b"")
    for piece in ("<header>a</header>", "</div>", "", "<b", "no tag", "<h2>b"):
        read_fragment(piece, builder)
    assert [(block.kind, block.text) for block in builder.build().blocks] == [(P, "a"), (P, "no tag"), (H, "b")]


TAGS = st.sampled_from(["p", "div", "b", "ul", "li", "h1", "h2", "table", "tr", "td", "pre", "sup", "br", "blockquote", "main", "dl", "dd", "caption", "section", "title", "th", "hr", "a"])  # fmt: skip
WORD = st.from_regex("[a-z]{1,6}", fullmatch=True)
PIECE = st.one_of(
    TAGS.map("<{}>".format), TAGS.map("</{}>".format), WORD.map(" {} ".format), st.sampled_from(["\n", "&amp;", "<"])
)


@given(st.lists(PIECE, max_size=40))
def test_any_soup_keeps_its_words_in_order_outside_captions_and_crlf_changes_nothing(pieces: list[str]) -> None:
    pieces = [piece for piece in pieces if "title" not in piece and piece != "<"]
    source = "<p>anchor " + "".join(pieces)
    documents = [parse(text.encode(), "x.html") for text in (source, source.replace("\n", "\r\n"))]
    assert documents[0].blocks == documents[1].blocks
    assert all(documents[0].text[block.start : block.end] == block.text for block in documents[0].blocks)
    words = ["anchor", *(piece.strip() for piece in pieces if piece.startswith(" "))]
    assert sorted(documents[0].text.replace("|", " ").replace("&", " ").split()) == sorted(words)


@given(st.lists(PIECE, max_size=40).map("".join) | st.text(max_size=100))
def test_any_text_gives_a_document_or_a_document_error(shape, source: str) -> None:
    outcome = shape.outcome(parse, source.encode("utf-8", "replace"), "x.html")
    assert not isinstance(outcome, str) or outcome in ("empty", "mislabelled", "binary", "encoding")


@given(st.binary(max_size=200))
def test_any_bytes_give_a_document_or_a_document_error(shape, data: bytes) -> None:
    outcome = shape.outcome(parse, b"<p>" + data, "x.html")
    assert not isinstance(outcome, str) or outcome in ("empty", "binary", "encoding")
