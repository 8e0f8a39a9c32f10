"""Office files: what a reader sees, in order, as blocks; every kind of broken file is named."""

from __future__ import annotations

import contextlib
import datetime
import io
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.errors import DocumentError
from ragkit.ingest.office import parse
from ragkit.records import Document


def saved(thing: Any) -> bytes:
    stream = io.BytesIO()
    thing.save(stream)
    return stream.getvalue()


def shown(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in document.blocks]


def word() -> Any:
    document = docx.Document()
    document.add_heading("Service guide", 0)
    document.add_heading("Battery", 1)
    document.add_paragraph("Replace it below 3.40 V.")
    document.add_paragraph("open the cap", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(table._cells, ("Model", "Range", "WL-20", "10 m"), strict=True):
        cell.text = text
    document.add_paragraph("After the table.")
    return document


def test_word_blocks_come_in_body_order_with_kinds_and_breadcrumbs() -> None:
    document = parse(saved(word()), "guide.docx")
    assert shown(document) == [
        ("heading", "Service guide"),
        ("heading", "Battery"),
        ("paragraph", "Replace it below 3.40 V."),
        ("list_item", "open the cap"),
        ("table", "Model | Range\nWL-20 | 10 m"),
        ("paragraph", "After the table."),
    ]
    assert document.blocks[2].breadcrumb == ("Battery",)
    assert (document.format, document.pages, document.title) == ("docx", None, "Service guide")
    assert {block.page for block in document.blocks} == {None}


def test_word_superscripts_stay_apart() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("area 10")
    paragraph.add_run("2").font.superscript = True
    paragraph.add_run(" m")
    assert shown(parse(saved(document), "a.docx")) == [("paragraph", "area 10² m")]


def test_word_reads_insertions_and_content_controls_but_nothing_deleted() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("kept ")
    for tag, text in (("w:ins", "inserted"), ("w:del", "deleted")):
        change = OxmlElement(tag)
        change.append(paragraph.add_run(text)._r)
        paragraph._p.append(change)
    control, content = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
    content.append(document.add_paragraph("inside a control")._p)
    control.append(content)
    document.element.body.insert(1, control)
    assert shown(parse(saved(document), "a.docx")) == [
        ("paragraph", "kept inserted"),
        ("paragraph", "inside a control"),
    ]


def test_word_footnotes_follow_at_the_end_with_their_mark() -> None:
    document = docx.Document()
    run = document.add_paragraph("Ten metres").add_run()
    reference = OxmlElement("w:footnoteReference")
    reference.set(qn("w:id"), "7")
    run._r.append(reference)
    document.add_paragraph("Next.")
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part

    xml = (
        '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        '<w:footnote w:id="7"><w:p><w:r><w:t>In fresh water.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    assert parse_xml(xml) is not None
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    part = Part(PackURI("/word/footnotes.xml"), kind, xml.encode(), document.part.package)
    document.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes")
    assert shown(parse(saved(document), "a.docx")) == [
        ("paragraph", "Ten metres¹"),
        ("paragraph", "Next."),
        ("paragraph", "¹ In fresh water."),
    ]


def test_word_merged_and_nested_cells_are_read_once() -> None:
    document = docx.Document()
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 0).text = "left"
    table.cell(1, 1).add_table(1, 1).cell(0, 0).text = "nested"
    assert shown(parse(saved(document), "a.docx")) == [("table", "wide\nleft | nested")]


def test_slides_are_pages_with_titles_as_headings() -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Results"
    slide.placeholders[1].text = "first point\nsecond point"
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Table"
    cells = slide.shapes.add_table(1, 2, 0, 0, 100, 100).table
    cells.cell(0, 0).text, cells.cell(0, 1).text = "WL-20", "10 m"
    slide.shapes.add_textbox(0, 0, 100, 100).text_frame.text = "a box"
    document = parse(saved(deck), "deck.pptx")
    assert [(block.page, block.kind, block.text) for block in document.blocks] == [
        (1, "heading", "Results"),
        (1, "list_item", "first point"),
        (1, "list_item", "second point"),
        (2, "heading", "Table"),
        (2, "table", "WL-20 | 10 m"),
        (2, "paragraph", "a box"),
    ]
    assert document.pages == 2


def book() -> Any:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Limits"
    for row in (["Model", "Range"], ["WL-20", 10], ["WL-25", 40.5], [], ["Checked", datetime.datetime(2023, 9, 19)]):  # noqa: DTZ001 - cells have no zone
        sheet.append(row)
    sheet["B6"] = 0.04
    sheet["B6"].number_format = "0.00%"
    return workbook


def test_a_sheet_is_a_heading_and_a_table_per_block_of_rows() -> None:
    document = parse(saved(book()), "limits.xlsx")
    assert shown(document) == [
        ("heading", "Limits"),
        ("table", "Model | Range\nWL-20 | 10\nWL-25 | 40.5"),
        ("table", "Checked | 2023-09-19\n| 4%"),
    ]
    assert document.pages is None


def test_formulas_without_results_are_refused() -> None:
    workbook = openpyxl.Workbook()
    workbook.active["A1"] = "=1+1"
    with pytest.raises(DocumentError, match=r"a\.xlsx: no-values: 1 formulas .* save it"):
        parse(saved(workbook), "a.xlsx")


@pytest.mark.parametrize(("make", "slug"), [(word, "a.docx"), (pptx.Presentation, "a.pptx"), (book, "a.xlsx")])
def test_truncated_files_are_damaged(make: Callable[[], Any], slug: str) -> None:
    with pytest.raises(DocumentError, match=f"{slug}: damaged: .* copy or download it again"):
        parse(saved(make())[:-300], slug)


def test_a_flipped_byte_is_damage() -> None:
    data = saved(word())
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        at = archive.getinfo("word/document.xml").header_offset + 200
    broken = data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]
    with pytest.raises(DocumentError, match="damaged"):
        parse(broken, "a.docx")


def test_encrypted_and_old_files_are_told_apart() -> None:
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    with pytest.raises(DocumentError, match=r"encrypted: .* save it without a password"):
        parse(old + "EncryptedPackage".encode("utf-16-le"), "a.docx")
    with pytest.raises(DocumentError, match=r"mislabelled: .* save it as \.docx"):
        parse(old, "a.docx")


def test_another_kind_of_office_file_is_mislabelled() -> None:
    with pytest.raises(DocumentError, match=r"named \.docx but it is a \.xlsx file"):
        parse(saved(book()), "a.docx")


@pytest.mark.parametrize(
    ("make", "slug"), [(docx.Document, "a.docx"), (pptx.Presentation, "a.pptx"), (openpyxl.Workbook, "a.xlsx")]
)
def test_files_without_text_are_empty(make: Callable[[], Any], slug: str) -> None:
    with pytest.raises(DocumentError, match=f"{slug}: empty"):
        parse(saved(make()), slug)


def test_a_missing_extra_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    data = saved(book())
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(DocumentError, match=r"missing-extra: .*ragkit\[office\]"):
        parse(data, "a.xlsx")


_VALID = {"a.docx": saved(word()), "a.pptx": saved(pptx.Presentation()), "a.xlsx": saved(book())}


@settings(max_examples=60, deadline=None)
@given(slug=st.sampled_from(sorted(_VALID)), data=st.data())
def test_mangled_parts_raise_nothing_but_document_errors(slug: str, data: st.DataObject) -> None:
    """A part of a sound archive is replaced by a damaged copy of itself."""
    with zipfile.ZipFile(io.BytesIO(_VALID[slug])) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(parts)))
    at = data.draw(st.integers(0, len(parts[name])))
    parts[name] = (
        parts[name][:at] + data.draw(st.binary(max_size=4)) + parts[name][at + data.draw(st.integers(0, 30)) :]
    )
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    with contextlib.suppress(DocumentError):
        parse(stream.getvalue(), slug)
