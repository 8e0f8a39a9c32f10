"""Markdown: CommonMark, tables, front matter, and what is between them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.errors import DocumentError
from ragkit.ingest.builder import DocumentBuilder
from ragkit.ingest.markdown import _Reader, parse
from tests.growth import grows_with_its_input

H, P, L, T, C = "heading", "paragraph", "list_item", "table", "code"


@pytest.mark.parametrize(
    ("source", "blocks"),
    [
        ("# One\n\nTwo\nthree.", [(H, "One"), (P, "Two three.")]),
        ("One\n===\nTwo\n---\n", [(H, "One"), (H, "Two")]),
        ("*em* __strong__ `code *x*` ~~gone~~ \\*esc\\* &amp; &#233;", [(P, "em strong code *x* gone *esc* & é")]),
        ("[text](http://x 'title') <http://auto.link> [ref][r]\n\n[r]: http://y", [(P, "text http://auto.link ref")]),
        ("![alt *text*](a.png)", [(P, "alt text")]),
        ("a  \nb\\\nc", [(P, "a b c")]),
        ("10<sup>2</sup> m, H<sub>2</sub>O, 1<sup>st</sup>", [(P, "10² m, H2O, 1st")]),
        ("<b>bold</b> a<br>b <!-- c --> d<script>evil()</script>e", [(P, "bold a b d e".replace("d e", "de"))]),
        ("- a\n- b\n", [(L, "a"), (L, "b")]),
        ("1. a\n\n   more\n   - n1\n   - n2\n\n   after\n2. b", [(L, "a more"), (L, "n1"), (L, "n2"), (L, "after"), (L, "b")]),
        ("- a\n  ```\n  x\n  ```\n  b", [(L, "a"), (C, "x"), (L, "b")]),
        ("- # not a heading\n\n> # nor this\n> quote\n> - item", [(L, "not a heading"), (P, "nor this"), (P, "quote"), (L, "item")]),
        ("```python\nx = 1\n\n  y\n```\n\n    indented\n", [(C, "x = 1\n\n  y"), (C, "indented")]),
        ("| a | b |\n|---|:-:|\n| 1 \\| 2 | *x* |\n| only |", [(T, "a | b\n1 | 2 | x\nonly |")]),
        ("Text[^1].\n\n[^1]: The note.\n\nEnd", [(P, "Text."), (P, "The note."), (P, "End")]),
        ("a\n\n---\n\n***\n\nb", [(P, "a"), (P, "b")]),
        ('<h1 align="center">Name</h1>\n\n<div hidden>no</div>\n\n<p>yes', [(H, "Name"), (P, "yes")]),
        ("<table><tr><td>a<td>b</table>", [(T, "a | b")]),
        ("<details>\n<summary>S</summary>\n\ninner\n\n</details>", [(P, "S"), (P, "inner")]),
        ("<script>\n\nx()\n\n</script>\n\na\n<!-- b\n\nc -->", [(P, "a")]),
        ("snake_case and 3 * 4 < 5", [(P, "snake_case and 3 * 4 < 5")]),
        ("a\u00adb \ufb01n", [(P, "ab fin")]),
    ],
)  # fmt: skip
def test_blocks(source: str, blocks: list[tuple[str, str]], shape) -> None:
    document = parse(source.encode(), "x.md")
    assert shape.texts(document) == blocks
    shape.check(document)


def test_breadcrumbs_follow_heading_levels(shape) -> None:
    document = parse(b"intro\n\n# A\n\na\n\n### B\n\n> # quoted\n\n- b\n\n## C\n\nc\n", "x.md")
    assert shape.crumbs(document) == {
        "intro": "", "A": "", "a": "A", "B": "A", "quoted": "A / B", "b": "A / B", "C": "A", "c": "A / C",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("front", "title"),
    [
        ("---\ntitle: Plain title # comment\ntags:\n- a\nother: 'x'\n---\n", "Plain title"),
        ('---\ntitle: "Quoted: \\"it\\""\n...\n', 'Quoted: "it"'),
        ("---\ntitle: 'It''s'\n---\n", "It's"),
        ("---\ntitle: |\n  block\n---\n", "Body"),
        ("---\nlang: en\n---\n", "Body"),
        ("", "Body"),
        ("\ufeff---\ntitle: After a BOM\n---\n", "After a BOM"),
    ],
)
def test_title_comes_from_front_matter_else_the_first_h1(front: str, title: str) -> None:
    document = parse(f"{front}## Sub\n\n# Body\n".encode(), "x.md")
    assert document.title == title
    assert document.text == "Sub\n\nBody"


def test_a_rule_at_the_start_is_no_front_matter(shape) -> None:
    document = parse(b"---\n\nJust a sentence between rules.\n\n---\n\nend", "x.md")
    assert shape.texts(document) == [(P, "Just a sentence between rules."), (P, "end")]


@pytest.mark.parametrize(
    "source", ["", " \n\n", "---\ntitle: T\n---\n", "<!-- only -->", "[r]: http://x", "***\n", "![](a.png)"]
)
def test_a_document_without_text_is_refused(source: str) -> None:
    with pytest.raises(DocumentError, match=r"x\.md: empty"):
        parse(source.encode(), "x.md")


def test_what_is_nested_too_deeply_is_kept_as_text() -> None:
    for marker in (">", "- ", "1. "):
        document = parse((marker * 500 + "the words").encode(), "x.md")
        assert "the words" in document.text


def test_long_stretches_lose_nothing() -> None:
    words = " ".join(f"w{i}" + "-_*"[i % 3] for i in range(20_000))
    document = parse(f"{words}\n\n{'x' * 30_000}\n".encode(), "x.md")
    assert [word.rstrip("-_*") for word in document.blocks[0].text.split()] == [f"w{i}" for i in range(20_000)]
    assert document.blocks[1].text == "x" * 30_000


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "a-b_c ", "*a ", "`a``b ", "[a](", "<a ", "> a\n", "- a\n  - b\n", "<div>x</div>\n\n", "[a]: b\n"],
)
def test_time_grows_with_length_not_its_square(unit: str) -> None:
    def read(length: int) -> None:
        parse((unit * (length // len(unit)) + "\n\nend").encode(), "x.md")

    assert grows_with_its_input(read, 2_000, 16_000)


WORDS = st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1, max_size=30)
GLUE = st.sampled_from([" ", "\n", "\n\n", "\n\n- ", "\n\n> ", "\n\n# ", " *", "* ", " `", "` ", "\n\n1. ", " <b>", "</b> ", "\n\n    ", "\n\n***\n\n", " [", "] "])  # fmt: skip


@given(WORDS, st.data())
def test_words_keep_their_order_whatever_markup_is_between(words: list[str], data: st.DataObject) -> None:
    glue = [data.draw(GLUE) for _ in words]
    source = "".join(f"{space}{word}" for space, word in zip(glue, words, strict=True))
    text = parse(source.encode(), "x.md").text
    at = 0
    for word in words:
        found = text.find(word, at)
        assert found >= 0
        at = found + len(word)


MARKUP = st.text(alphabet="ab \n\t-*_`~[]()!<>/#|:=\\&;1.>^\"'\r", max_size=200)


@given(MARKUP)
def test_any_markup_parses_or_is_empty_and_crlf_changes_nothing(shape, source: str) -> None:
    source = source.replace("\r", "")
    results = []
    for text in (source, source.replace("\n", "\r\n"), source.replace("\n", "\r")):
        outcome = shape.outcome(parse, text.encode(), "x.md")
        assert not isinstance(outcome, str) or outcome == "empty"
        results.append(outcome if isinstance(outcome, str) else (outcome.title, outcome.blocks))
    assert results[0] == results[1] == results[2]


@given(st.binary(max_size=300))
def test_any_bytes_give_a_document_or_a_document_error(shape, data: bytes) -> None:
    outcome = shape.outcome(parse, data, "x.md")
    assert not isinstance(outcome, str) or outcome in ("empty", "binary", "encoding")


LINES = ["word", "Wort zwei", "中文", "  in", "    far in", "> quoted", "- item", "1. one", "a | b", "--- | ---", "===", "# h", "```", "[^1]: note", "[x]: /y", "<div>", "a*b*", ""]  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_the_short_cut_for_running_text_changes_no_block(lines: list[str]) -> None:
    """Against the same reader without it."""
    source = "\n".join(["start", "", *lines])
    builders = [DocumentBuilder("a.md", "markdown", b"") for _ in range(2)]
    quick, slow = map(_Reader, builders)
    slow._markdown.block.ruler.disable("running_text")
    quick.read(source)
    slow.read(source)
    assert builders[0].build() == builders[1].build()
