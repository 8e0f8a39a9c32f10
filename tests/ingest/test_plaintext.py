"""Plain text: what is taken for structure, and what only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.errors import DocumentError
from ragkit.ingest.plaintext import parse

H, P, L, T, C = "heading", "paragraph", "list_item", "table", "code"


@pytest.mark.parametrize(
    ("source", "blocks"),
    [
        ("One\ntwo.\n\n\n  \nThree.", [(P, "One two."), (P, "Three.")]),
        ("Page one\fPage two", [(P, "Page one"), (P, "Page two")]),
        ("Title\n=====\nText\n\nSub\n---\n\nText", [(H, "Title"), (P, "Text"), (H, "Sub"), (P, "Text")]),
        ("=====\nTitle\n=====\n\nText", [(H, "Title"), (P, "Text")]),
        ("INTRODUCTION\n\ntext\n\nLAST WORDS", [(H, "INTRODUCTION"), (P, "text"), (P, "LAST WORDS")]),
        ("STOP RIGHT THERE.\n\ntext", [(P, "STOP RIGHT THERE."), (P, "text")]),
        ("2.1 Scope\n\ntext\n\n3.5 million\n\ntext", [(H, "2.1 Scope"), (P, "text"), (P, "3.5 million"), (P, "text")]),
        ("1. Buy milk\n\n2. Sell it\n\ntext", [(L, "Buy milk"), (L, "Sell it"), (P, "text")]),
        ("- a\n  goes on\n* b\n10) c\nx) d", [(L, "a goes on"), (L, "b"), (L, "c"), (L, "d")]),
        ("Things:\n- a\n- b", [(P, "Things:"), (L, "a"), (L, "b")]),
        ("He said\n- or so I heard -\nnothing.", [(P, "He said - or so I heard - nothing.")]),
        ("    for x in y:\n        f(x)\n\ntext", [(C, "for x in y:\n    f(x)"), (P, "text")]),
        ("text\n\n        A centred line\n\ntext", [(P, "text"), (P, "A centred line"), (P, "text")]),
        (
            "     All lines\n     are indented.\n\n     So none is.",
            [(P, "All lines are indented."), (P, "So none is.")],
        ),
        ("Name\tAge\nBob\t3", [(T, "Name | Age\nBob | 3")]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [(T, "a | b\n1 | 2")]),
        ("Name    Age\n-----------\nBob       3\nAlice    12", [(T, "Name | Age\nBob | 3\nAlice | 12")]),
        ("One sentence.  Another\none.  And a third.", [(P, "One sentence. Another one. And a third.")]),
        ("a\n\n* * *\n\nb\n-----x", [(P, "a"), (P, "b -----x")]),
        ("日本語の文\n章です。", [(P, "日本語の文章です。")]),
    ],
)
def test_blocks(source: str, blocks: list[tuple[str, str]], shape) -> None:
    document = parse(source.encode(), "x.txt")
    assert shape.texts(document) == blocks
    shape.check(document)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("An exam-\nple. The example.", "An example. The example."),
        ("A well-\nknown one, well-known, wellknown.", "A well-known one, well-known, wellknown."),
        ("An unseen-\nword.", "An unseen-word."),
        ("Soft\u00ad\nness.", "Softness."),
        ("From A-\nBahn, Abahn.", "From A-Bahn, Abahn."),
        ("A dash -\nhere.", "A dash - here."),
        ("Pages 10-\n12.", "Pages 10- 12."),
    ],
)
def test_hyphenation_is_undone_only_where_the_document_knows_the_word(source: str, text: str) -> None:
    assert parse(source.encode(), "x.txt").text == text


def test_breadcrumbs_and_title(shape) -> None:
    document = parse(b"My Notes\n========\n\nFIRST PART\n\na\n\n1.1 Detail\n\nb\n\nSecond\n------\nc", "notes.txt")
    assert document.title == "My Notes"
    assert shape.crumbs(document) == {
        "My Notes": "", "FIRST PART": "My Notes", "a": "My Notes / FIRST PART", "1.1 Detail": "My Notes / FIRST PART",
        "b": "My Notes / FIRST PART / 1.1 Detail", "Second": "My Notes", "c": "My Notes / Second",
    }  # fmt: skip


FRENCH = "Le café est fermé, l’été fut « très » long… Ça coûte 5 €."
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy. Dnes je hezky, půjdeme na procházku k řece. "
RUSSIAN = "Привет, мир. Это простой текст на русском языке, чтобы проверить кодировку. "
JAPANESE = "日本語の文章です。今日は天気がいいので、散歩に行きましょう。"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "utf-8"),
        (FRENCH, "utf-8-sig"),
        (FRENCH, "utf-16"),
        (FRENCH, "utf-32"),
        (FRENCH, "windows-1252"),
        (JAPANESE, "utf-16"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "iso2022_jp"),
        (CZECH, "windows-1250"),
        (RUSSIAN, "windows-1251"),
        (RUSSIAN * 5, "koi8_r"),
    ],
)
def test_encodings_are_recognised(text: str, encoding: str) -> None:
    assert parse(text.encode(encoding), "x.txt").text == text.strip().replace("\u00a0", " ")


@pytest.mark.parametrize("mark", [b"\xfe\xff", b"\xff\xfe"])
def test_utf_16_in_both_byte_orders(mark: bytes) -> None:
    encoding = "utf-16-be" if mark == b"\xfe\xff" else "utf-16-le"
    assert parse(mark + "naïve".encode(encoding), "x.txt").text == "naïve"


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"\x00\x01\x02binary", "binary"),
        ("no mark".encode("utf-16-le"), "binary"),
        (bytes(range(1, 32)) * 4, "binary"),
        (b"\xff\xfea\x00b", "encoding"),
        (b"\xef\xbb\xbfcaf\xe9", "encoding"),
        (b"", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\n---\n\n", "empty"),
    ],
)
def test_what_is_no_text_is_refused(data: bytes, rule: str) -> None:
    with pytest.raises(DocumentError, match=rf"^x\.txt: {rule}: .* -> ."):
        parse(data, "x.txt")


@given(st.text(alphabet="aB \n\t-=*|1.)\u00ad:~", max_size=200))
def test_any_layout_parses_keeps_the_letters_in_order_and_crlf_changes_nothing(shape, source: str) -> None:
    results = []
    for text in (source, source.replace("\n", "\r\n"), source.replace("\n", "\r")):
        outcome = shape.outcome(parse, text.encode(), "x.txt")
        kept = "" if isinstance(outcome, str) else outcome.text
        assert [c for c in kept if c in "aB"] == [c for c in source if c in "aB"]
        results.append(outcome if isinstance(outcome, str) else outcome.blocks)
    assert results[0] == results[1] == results[2]


@given(st.binary(max_size=300))
def test_any_bytes_give_a_document_or_a_document_error(shape, data: bytes) -> None:
    outcome = shape.outcome(parse, data, "x.txt")
    assert not isinstance(outcome, str) or outcome in ("empty", "binary", "encoding")
