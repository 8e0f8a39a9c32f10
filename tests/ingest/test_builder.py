"""Canonical text: what the builder makes of pieces, whatever parser they come from."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.errors import DocumentError
from ragkit.ingest.builder import DocumentBuilder, canonical, superscript


def builder() -> DocumentBuilder:
    return DocumentBuilder("notes/a.md", "markdown", b"bytes")


def test_blocks_are_slices_of_the_text_with_a_blank_line_between() -> None:
    b = builder()
    b.heading("Title", 1)
    b.paragraph("One  two\nthree.")
    document = b.build()
    assert document.text == "Title\n\nOne two three."
    assert [(x.order, x.kind, x.start, x.end) for x in document.blocks] == [
        (0, "heading", 0, 5),
        (1, "paragraph", 7, 21),
    ]
    assert document.sha256 == "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"
    assert (document.slug, document.format, document.pages) == ("notes/a.md", "markdown", None)


def test_breadcrumb_has_the_headings_above_and_levels_may_be_skipped() -> None:
    b = builder()
    for level, text in [(1, "A"), (3, "A.x"), (2, "B"), (1, "C")]:
        b.heading(text, level)
        b.paragraph(f"under {text}")
    crumbs = [block.breadcrumb for block in b.build().blocks]
    assert crumbs == [(), ("A",), ("A",), ("A", "A.x"), ("A",), ("A", "B"), (), ("C",)]


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\ufb01le o\ufb03ce", "file office"),
        ("hy\u00adphen\u200bation\ufeff", "hyphenation"),
        ("e\u0301", "é"),
        ("10² and ½", "10² and ½"),
        ("a\x00\x07b\x9fc", "abc"),
        ("\ud800x", "\ufffdx"),
    ],
)
def test_canonical_text_spells_out_ligatures_and_drops_marks_but_keeps_superscripts(raw: str, clean: str) -> None:
    assert canonical(raw) == clean


@pytest.mark.parametrize(
    ("raw", "raised"), [("2", "²"), (" 10 ", "¹⁰"), ("-1", "⁻¹"), ("th", "th"), ("", ""), ("2a", "2a")]
)
def test_only_raised_digits_become_superscripts(raw: str, raised: str) -> None:
    assert superscript(raw) == raised


def test_white_space_of_every_kind_is_one_space_and_code_keeps_its_lines() -> None:
    b = builder()
    b.paragraph(" a\u00a0\u2003b\t\r\nc ")
    b.code("\r\n  x = 1  \r\n\r\n\ty\u2028z\n\n")
    assert [block.text for block in b.build().blocks] == ["a b c", "  x = 1\n\n\ty\nz"]


def test_a_line_end_between_chinese_characters_is_no_space() -> None:
    b = builder()
    b.paragraph("中文\n文本\nand 中 文")
    assert b.build().text == "中文文本 and 中 文"


def test_a_table_is_a_line_per_row_and_empty_rows_go() -> None:
    b = builder()
    b.table([["a", "b\nc"], ["", " "], [], ["", "2", "", "4"]])
    b.table([[""], []])
    assert [block.text for block in b.build().blocks] == ["a | b c\n| 2 | | 4"]


def test_pieces_without_visible_text_add_nothing() -> None:
    b = builder()
    b.heading("H", 1)
    b.heading("\u00ad ", 1)
    b.paragraph("\u200b\n")
    b.list_item("")
    b.code("  \n\t\n")
    b.paragraph("under H")
    assert [block.breadcrumb for block in b.build().blocks] == [(), ("H",)]


def test_an_empty_document_is_an_error_that_names_the_file() -> None:
    with pytest.raises(DocumentError, match=r"notes/a\.md: empty: no text in it -> "):
        builder().build()


@pytest.mark.parametrize(
    ("headings", "given_title", "title"),
    [
        ([], "", "a"),
        ([(2, "Sub"), (1, "Main"), (1, "Other")], "", "Main"),
        ([(2, "Sub"), (3, "Deep")], "", "Sub"),
        ([(1, "Main")], "Given\n title", "Given title"),
    ],
)
def test_title_is_the_given_one_else_the_first_h1_else_a_heading_else_the_name(
    headings: list[tuple[int, str]], given_title: str, title: str
) -> None:
    b = builder()
    for level, text in headings:
        b.heading(text, level)
    b.paragraph("x")
    assert b.build(given_title).title == title


def test_pages_are_kept() -> None:
    b = builder()
    b.paragraph("x", page=2)
    document = b.build(pages=3)
    assert (document.blocks[0].page, document.pages) == (2, 3)


PIECES = st.lists(
    st.tuples(st.sampled_from(["heading", "paragraph", "list_item", "code", "table"]), st.text(max_size=30)),
    max_size=12,
)


@given(PIECES)
def test_any_pieces_give_blocks_that_slice_back_in_order_and_nfc(pieces: list[tuple[str, str]]) -> None:
    b = builder()
    b.paragraph("anchor")
    for kind, text in pieces:
        if kind == "heading":
            b.heading(text, 1 + len(text) % 6)
        elif kind == "table":
            b.table([text.split("x"), [text]])
        else:
            getattr(b, kind)(text)
    document = b.build()
    assert [block.order for block in document.blocks] == list(range(len(document.blocks)))
    assert all(document.text[block.start : block.end] == block.text != "" for block in document.blocks)
    assert "\n\n".join(block.text for block in document.blocks) == document.text
    assert unicodedata.is_normalized("NFC", document.text)
    document.text.encode()
    assert all("\n" not in block.text for block in document.blocks if block.kind not in ("code", "table"))
