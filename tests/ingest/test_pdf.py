"""PDFs read as a person reads them; each kind of file that can't be is named with its remedy."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.errors import DocumentError
from ragkit.ingest.pdf import parse
from ragkit.records import Document
from tests.ingest.pdf_writer import column, japanese, line, pdf, text

RESOURCES = Path(__file__).parent / "resources"
SENTENCE = "The water in the well follows the pressure of the air and the load of the rain"


def shown(data: bytes) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in parse(data, "a.pdf").blocks]


def paragraphs(data: bytes) -> list[str]:
    return [words for kind, words in shown(data) if kind == "paragraph"]


@pytest.fixture(scope="module")
def article() -> Document:
    return parse((RESOURCES / "article.pdf").read_bytes(), "article.pdf")


@pytest.fixture(scope="module")
def manual() -> Document:
    return parse((RESOURCES / "handbuch.pdf").read_bytes(), "handbuch.pdf")


def test_a_paper_reads_title_abstract_left_right_footnotes(article: Document) -> None:
    assert [(block.kind, block.page, block.text[:30]) for block in article.blocks] == [
        ("heading", 1, "Level loggers in peat"),
        ("paragraph", 1, "Ada Moss, Ben Reed"),
        ("paragraph", 1, "Abstract. The water in the wel"),
        ("table", 1, "Site | Wells | Code | Aquifer a"[:30]),
        ("paragraph", 1, "Table 2: A wide table."),
        ("heading", 1, "1 Introduction"),
        ("paragraph", 1, "The first column begins here. "),
        ("paragraph", 1, "A second paragraph is indented"),
        ("heading", 1, "1.1 Sites"),
        ("list_item", 1, "a first point which is long en"),
        ("list_item", 1, "a second point"),
        ("list_item", 1, "1. number one"),
        ("list_item", 1, "2. number two"),
        ("table", 1, "Model | Range | Remark\nWL-20 |"[:30]),
        ("paragraph", 1, "Table 1: A narrow table."),
        ("paragraph", 1, "After the narrow table. The wa"),
        ("heading", 1, "2 Results"),
        ("paragraph", 1, "The water in the well follows "),
        ("paragraph", 1, "¹ The footnote says 3 mm."),
    ]
    assert article.pages == 2
    assert article.title == "Level loggers in peat"


def test_a_papers_details(article: Document) -> None:
    texts = [block.text for block in article.blocks]
    assert texts[2].endswith("This abstract ends here.")
    assert "An area of 10² m, a sensor of H₂O, a drift of x^n and of the 2nd kind.¹ The efficient office" in texts[6]
    assert texts[13].split("\n")[2] == "WL-25 | 40 m | for deep wells and for shafts that are deeper"
    assert texts[17].endswith("The last words.")  # it runs over the columns and the page
    assert not any("Journal of Wells" in words or "Draft" in words for words in texts)


def test_levels_of_headings_make_breadcrumbs(article: Document) -> None:
    crumbs = {block.text[:15]: block.breadcrumb for block in article.blocks}
    assert crumbs["a second point"] == ("Level loggers in peat", "1 Introduction", "1.1 Sites")
    assert crumbs["2 Results"] == ("Level loggers in peat",)


def test_german_words_are_joined_and_written_hyphens_kept(manual: Document) -> None:
    words = next(block.text for block in manual.blocks if block.text.startswith("Die Grundwasser"))
    source = (RESOURCES / "handbuch.typ").read_text("utf-8")
    start = source.index("Die Grundwasser")
    assert words == " ".join(source[start : source.index("\n\n", start)].split())


def test_a_table_over_pages_is_one_block_per_page_with_its_header_rows(manual: Document) -> None:
    tables = [block for block in manual.blocks if block.kind == "table"]
    assert [block.page for block in tables] == [1, 2, 3]
    assert all(block.text.startswith("Merkmal | Wert\nMerkmal ") for block in tables)
    rows = [row for block in tables for row in block.text.split("\n")[1:]]
    assert rows == [f"Merkmal {i}, das in seiner Zelle über das Ende der Zeile läuft | {i} mm" for i in range(1, 24)]


def test_running_headers_footers_and_page_numbers_are_dropped(manual: Document) -> None:
    assert "Ausgabe" not in manual.text
    assert "Seite" not in manual.text
    assert "Wexmere" not in manual.text


def test_contents_keep_a_block_per_entry_and_code_its_lines(manual: Document) -> None:
    blocks = [(block.kind, block.text) for block in manual.blocks]
    assert ("paragraph", "1.1 Grenzwerte … 1") in blocks
    assert ("code", "while bus.ready():\n    print(bus.read())") in blocks


def test_blocks_are_slices_and_parsing_repeats(article: Document) -> None:
    assert all(article.text[block.start : block.end] == block.text for block in article.blocks)
    assert parse((RESOURCES / "article.pdf").read_bytes(), "article.pdf") == article


@pytest.mark.parametrize("gap", [0, 6])
def test_paragraphs_part_at_gaps_or_indents(gap: int) -> None:
    first = column([f"{SENTENCE}.", f"{SENTENCE}.", "It ends."], y=700)
    second = column([f"{SENTENCE}.", f"{SENTENCE}."], y=664 - gap)
    if not gap:
        second[0] = text(f"{SENTENCE[5:]}.", 87, 664)
    assert len(paragraphs(pdf([*first, *second]))) == 2


def test_a_paragraph_runs_on_over_the_page_break() -> None:
    lines = [SENTENCE] * 6
    page = column(["and goes on here.", "A new paragraph."], y=760, pitch=20)
    joined = " ".join([*lines, "and goes on here."])
    assert [(block.page, block.text) for block in parse(pdf(column(lines), page), "a.pdf").blocks] == [
        (1, joined),
        (2, "A new paragraph."),
    ]
    ended = column([*lines[:-1], f"{SENTENCE}."])
    assert paragraphs(pdf(ended, page))[1:] == ["and goes on here.", "A new paragraph."]


def test_repeated_headers_go_with_changing_numbers_and_single_pages_keep_theirs() -> None:
    def page(number: int) -> list[str]:
        return [
            text(f"Manual, page {number} of 3", 72, 800),
            *column([f"{SENTENCE} {number}."]),
            text(str(number), 290, 30),
        ]

    assert paragraphs(pdf(page(1), page(2), page(3))) == [f"{SENTENCE} {number}." for number in (1, 2, 3)]
    assert paragraphs(pdf(page(1))) == ["Manual, page 1 of 3", f"{SENTENCE} 1."]


def test_a_header_that_changes_goes_by_its_page_number() -> None:
    """The numbers are three ahead of the pages, as after a preface."""
    pages = [
        [text(f"Chapter {'ABC'[i]}", 72, 800), text(str(i + 4), 500, 800), *column([f"{SENTENCE}."])] for i in range(3)
    ]
    assert paragraphs(pdf(*pages)) == [f"{SENTENCE}."] * 3


def test_a_bold_line_is_a_heading_and_a_bold_sentence_is_none() -> None:
    page = [
        text("Care", 72, 740, 10, "F2"),
        *column([f"{SENTENCE}.", f"{SENTENCE}."], y=720),
        text("Never open the cap.", 72, 680, 10, "F2"),
    ]
    assert [kind for kind, _ in shown(pdf(page))] == ["heading", "paragraph", "paragraph"]


def test_scripts_by_smaller_type_and_shifted_baseline() -> None:
    page = [text("area of 10", 72, 700), text("2", 120, 704, 6), text("m and H", 126, 700), text("2", 164, 698, 6)]
    assert paragraphs(pdf([*page, text("O", 168, 700)])) == ["area of 10² m and H₂O"]


def test_a_table_between_drawn_lines_keeps_multi_line_and_spanning_cells() -> None:
    lines = [line(72, y, 372, y) for y in (700, 680, 640)] + [line(172, 620, 372, 620), line(72, 600, 372, 600)]
    lines += [line(x, 600, x, 700) for x in (72, 172, 372)] + [line(272, 600, 272, 680)]
    cells = [text("Model", 76, 686), text("Limits of both", 176, 686)]
    cells += [
        text("WL-20", 76, 666),
        text("first line and", 176, 666),
        text("second line", 176, 654),
        text("10 m", 276, 666),
    ]
    cells += [text("over two", 76, 626), text("upper", 176, 626), text("lower", 176, 606), text("5 m", 276, 606)]
    assert shown(pdf([*lines, *cells])) == [
        (
            "table",
            "Model | Limits of both |\nWL-20 | first line and second line | 10 m\nover two | upper |\n| lower | 5 m",
        )
    ]


def test_a_frame_around_text_is_no_table() -> None:
    frame = [line(60, 600, 540, 600), line(60, 720, 540, 720), line(60, 600, 60, 720), line(540, 600, 540, 720)]
    assert shown(pdf([*frame, *column([SENTENCE, "ends here."])])) == [("paragraph", f"{SENTENCE} ends here.")]


def test_columns_of_short_text_are_a_table_without_any_line() -> None:
    rows = [("Model", "Range", "Depth"), ("WL-20", "10 m", "20 m"), ("WL-25", "40 m", "60 m")]
    page = [text(cell, 72 + 100 * i, 700 - 14 * j) for j, row in enumerate(rows) for i, cell in enumerate(row)]
    expected = [("table", "Model | Range | Depth\nWL-20 | 10 m | 20 m\nWL-25 | 40 m | 60 m")]
    assert shown(pdf(page)) == expected
    kerned = [
        f"BT /F1 10 Tf 72 {700 - 14 * j} Td [({a})-3000({b})-3000({c})] TJ ET" for j, (a, b, c) in enumerate(rows)
    ]
    assert shown(pdf(kerned)) == expected


def test_a_line_without_first_cell_continues_the_row_above() -> None:
    page = [text("WL-20", 72, 700), text("for shallow wells", 172, 700), text("and weirs", 172, 688)]
    page += [text("WL-25", 72, 676), text("for deep wells", 172, 676), text("BR-3", 72, 664), text("for air", 172, 664)]
    assert shown(pdf(page)) == [
        ("table", "WL-20 | for shallow wells and weirs\nWL-25 | for deep wells\nBR-3 | for air")
    ]


def test_justified_lines_with_wide_gaps_are_no_table() -> None:
    page = [f"BT /F1 10 Tf 9 Tw 72 {700 - 12 * i} Td (these words are far apart {i}) Tj ET" for i in range(4)]
    assert [kind for kind, _ in shown(pdf(page))] == ["paragraph"]


def test_bullets_go_and_numbers_stay() -> None:
    bullets = [text("\x95 first item", 72, 700), text("\x95 second item", 72, 688), text("1. third", 72, 676)]
    assert shown(pdf(bullets)) == [("list_item", "first item"), ("list_item", "second item"), ("list_item", "1. third")]


def test_japanese_lines_join_without_a_space() -> None:
    page = [japanese("水位計の校正は、必ず二十四か月", 72, 700), japanese("ごとに行うこと。", 72, 684)]
    assert paragraphs(pdf(page)) == ["水位計の校正は、必ず二十四か月ごとに行うこと。"]


def test_pages_that_are_turned_read_upright_and_slanted_text_is_left_out() -> None:
    turned = [
        f"BT /F1 10 Tf 0 1 -1 0 {300 + 12 * i} 100 Tm ({words}) Tj ET"
        for i, words in enumerate(["one line", "and two"])
    ]
    assert paragraphs(pdf(turned)) == ["one line and two"]
    assert paragraphs(pdf(turned, rotate=90)) == ["one line and two"]
    stamp = "BT /F1 80 Tf 0.7 0.7 -0.7 0.7 100 300 Tm (DRAFT) Tj ET"
    assert paragraphs(pdf([stamp, text("Body text.", 72, 700)])) == ["Body text."]


def test_right_to_left_text_does_not_fail() -> None:
    hebrew = "BT /F5 10 Tf 72 700 Td <05e905dc05d505dd> Tj ET"
    with contextlib.suppress(DocumentError):
        parse(pdf([hebrew, text("and more", 72, 600)]), "a.pdf")


def test_the_properties_title_counts_only_without_headings() -> None:
    assert parse(pdf([text("Some text.", 72, 700)], title="Notes"), "a.pdf").title == "Notes"
    assert parse(pdf([text("Some text.", 72, 700)]), "a.pdf").title == "a"


GOOD = pdf([text("Hello world", 72, 700)], [text("Second page", 72, 700)])
PICTURE = "q 500 0 0 700 50 50 cm /Im Do Q"


@pytest.mark.parametrize(
    ("data", "rule", "remedy"),
    [
        ((RESOURCES / "encrypted.pdf").read_bytes(), "encrypted", "without a password"),
        (b"", "mislabelled", "right suffix"),
        (b"PK\x03\x04 something else", "mislabelled", "right suffix"),
        (GOOD[: len(GOOD) // 2], "truncated", "whole file again"),
        (GOOD[:-10], "truncated", "whole file again"),
        (GOOD.replace(b"startxref\n", b"startxref\n9"), "damaged", "export it again"),
        (GOOD.replace(b"\n", b"\r\n"), "damaged", "export it again"),
        (pdf([PICTURE]), "scanned", "run OCR"),
        (pdf([text("Hello", 72, 700)], [PICTURE]), "scanned", "run OCR"),
        (pdf([]), "no-text", "run OCR"),
        (pdf(["BT /F4 10 Tf 50 700 Td <010203010203> Tj ET"]), "unreadable-text", "force-ocr"),
    ],
)
def test_files_that_cannot_be_read_are_named_with_a_remedy(data: bytes, rule: str, remedy: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse(data, "folder/a.pdf")
    (problem,) = caught.value.problems
    assert (problem.path, problem.rule) == ("folder/a.pdf", rule)
    assert remedy in problem.remedy


def test_the_message_names_the_scanned_pages() -> None:
    with pytest.raises(DocumentError, match=r"1 of its 3 pages are pictures without text \(pages: 2\)"):
        parse(pdf([text("a", 72, 700)], [PICTURE], [text("b", 72, 700)]), "a.pdf")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.booleans())
def test_random_bytes_raise_nothing_but_document_errors(data: bytes, header: bool) -> None:
    with contextlib.suppress(DocumentError):
        parse(b"%PDF-1.4\n" + data + b"%%EOF" if header else data, "a.pdf")


_VICTIMS = [GOOD, (RESOURCES / "article.pdf").read_bytes(), (RESOURCES / "encrypted.pdf").read_bytes()]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_files_raise_nothing_but_document_errors(data: st.DataObject) -> None:
    """Bytes are changed, cut out or put in at a few places; what is still parsed obeys the block invariant."""
    victim = bytearray(data.draw(st.sampled_from(_VICTIMS)))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(victim) - 1))
        victim[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    with contextlib.suppress(DocumentError):
        document = parse(bytes(victim), "a.pdf")
        assert all(document.text[block.start : block.end] == block.text for block in document.blocks)
