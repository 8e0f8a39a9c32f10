"""Word, PowerPoint and Excel files, with the `office` extra.

A Word file's body in order: headings by outline level, lists, tables, text of content controls and text
boxes, footnotes at the end; pages don't exist before it is printed. A slide is a page, its title a heading;
speaker notes are left out. A worksheet is a heading and a table per block of rows between empty ones.
Headers, footers, slide numbers, comments and deleted text are left out.
"""

from __future__ import annotations

import datetime
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from ragkit.errors import DocumentError
from ragkit.ingest.builder import DocumentBuilder, superscript
from ragkit.records import Document

_MAIN_PARTS = {".docx": "word/document.xml", ".pptx": "ppt/presentation.xml", ".xlsx": "xl/workbook.xml"}
_MOST_BYTES = 1 << 30
_MANGLED = (KeyError, ValueError, SyntaxError, AttributeError, TypeError, IndexError, OSError)
"""What a sound archive with wrong content raises in the libraries, beside their own errors; lxml's are syntax errors."""
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_HIDDEN = {f"{_W}del", f"{_W}moveFrom", f"{_MC}Fallback", f"{_W}txbxContent", f"{_W}pPr", f"{_W}instrText"}
_OPEN_AND_SAVE = "open it in its program and save it again"


def parse(data: bytes, slug: str) -> Document:
    """The document in an Office file; its suffix says which kind.

    Raises `DocumentError`: `encrypted`, `damaged`, `mislabelled`, `missing-extra`, `too-large`, `no-values`
    (formulas without results), `empty`.
    """
    suffix = PurePosixPath(slug).suffix.lower()
    _check(data, slug, suffix)
    read, format_ = {".docx": (_word, "docx"), ".pptx": (_slides, "pptx"), ".xlsx": (_sheets, "xlsx")}[suffix]
    builder = DocumentBuilder(slug, format_, data)
    try:
        pages = read(io.BytesIO(data), builder)
    except ImportError as error:
        found = f"the library for {suffix} files is not installed ({error.name})"
        raise DocumentError(slug, "missing-extra", found, 'run `pip install "ragkit[office]"`') from error
    except _MANGLED as error:
        raise DocumentError(slug, "damaged", f"its content makes no sense: {error}", _OPEN_AND_SAVE) from error
    return builder.build(pages=pages)


def _check(data: bytes, slug: str, suffix: str) -> None:
    """Refuse what isn't a whole, open archive with the part that `suffix` promises."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise DocumentError(slug, "encrypted", "it needs a password", "save it without a password")
        raise DocumentError(slug, "mislabelled", "an Office file from before 2007", f"save it as {suffix}")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            if sum(item.file_size for item in archive.infolist()) > _MOST_BYTES:
                raise DocumentError(slug, "too-large", "over 1 GiB unpacked", "split it")
            broken = archive.testzip()
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError) as error:
        found = f"it isn't a whole Office file: {error}"
        raise DocumentError(slug, "damaged", found, "copy or download it again") from error
    if broken:
        raise DocumentError(slug, "damaged", f"the part {broken} in it is broken", "copy or download it again")
    if _MAIN_PARTS[suffix] not in names:
        is_ = next((f"a {kind} file" for kind, part in _MAIN_PARTS.items() if part in names), "no Office file")
        raise DocumentError(slug, "mislabelled", f"named {suffix} but it is {is_}", "give it the right suffix")


def _word(stream: io.BytesIO, builder: DocumentBuilder) -> int | None:
    import docx
    from docx.exceptions import PythonDocxError
    from docx.opc.exceptions import OpcError

    try:
        document = docx.Document(stream)
        levels = _outline_levels(document)
    except (PythonDocxError, OpcError) as error:
        raise ValueError(str(error)) from error
    notes: dict[str, int] = {}
    _word_body(document.element.body, builder, levels, notes)
    for relation in document.part.rels.values():
        if notes and relation.reltype.endswith("/footnotes"):
            texts = _footnotes(relation.target_part.blob)
            for note, number in notes.items():
                builder.paragraph(f"{superscript(str(number))} {texts.get(note, '')}")
    return None


def _outline_levels(document: Any) -> dict[str, int]:
    """Style ids of headings and their levels (1 the outermost), inherited ones too; names may be translated."""
    styles = {style.get(f"{_W}styleId"): style for style in document.styles.element.iterchildren(f"{_W}style")}
    levels: dict[str | None, int | None] = {}
    for identity in styles:
        chain = []
        at, level = identity, None
        while level is None and at in styles and at not in levels:
            chain.append(at)
            levels[at] = None  # until it is known, and for good where styles inherit in a circle
            level = _own_level(styles[at])
            at = _value(styles[at], "basedOn")
        level = levels.get(at) if level is None else level
        levels.update(dict.fromkeys(chain, level))
    return {identity: level for identity, level in levels.items() if identity and level}


def _own_level(style: Any) -> int | None:
    name, outline = _value(style, "name") or "", _value(style, f"pPr/{_W}outlineLvl")
    if name == "Title":
        return 1
    if outline is not None and int(outline) < 9:
        return int(outline) + 1
    match = re.fullmatch(r"heading (\d)", name, re.IGNORECASE)
    return int(match[1]) if match else None


def _value(element: Any, path: str) -> str | None:
    found = element.find(f"{_W}{path}")
    return None if found is None else found.get(f"{_W}val")


def _word_body(body: Any, builder: DocumentBuilder, levels: dict[str, int], notes: dict[str, int]) -> None:
    for element in body:
        if element.tag == f"{_W}p":
            _word_paragraph(element, builder, levels, notes)
        elif element.tag == f"{_W}tbl":
            builder.table(_word_rows(element, notes))
        elif element.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml"):
            _word_body(element, builder, levels, notes)


def _word_paragraph(element: Any, builder: DocumentBuilder, levels: dict[str, int], notes: dict[str, int]) -> None:
    text = _word_text(element, notes)
    style = element.find(f"{_W}pPr/{_W}pStyle")
    name = style.get(f"{_W}val") if style is not None else ""
    own = element.find(f"{_W}pPr/{_W}outlineLvl")
    level = int(own.get(f"{_W}val")) + 1 if own is not None else levels.get(name, 10)
    if level < 10:
        builder.heading(text, level)
    elif element.find(f"{_W}pPr/{_W}numPr") is not None or name.startswith("List"):
        builder.list_item(text)
    else:
        builder.paragraph(text)
    for box in element.iter(f"{_W}txbxContent"):
        if not any(parent.tag == f"{_MC}Fallback" for parent in box.iterancestors()):
            _word_body(box, builder, levels, notes)


def _word_rows(table: Any, notes: dict[str, int]) -> Iterator[list[str]]:
    """Rows of cell texts; a cell merged over several columns is one cell, its continuation below is empty."""
    for row in table.iter(f"{_W}tr"):
        if next(row.iterancestors(f"{_W}tbl")) is not table:
            continue
        cells = [cell for cell in row.iter(f"{_W}tc") if next(cell.iterancestors(f"{_W}tr")) is row]
        yield [" ".join(_word_text(paragraph, notes) for paragraph in cell.iter(f"{_W}p")) for cell in cells]


def _word_text(paragraph: Any, notes: dict[str, int]) -> str:
    """What a reader sees of a paragraph: insertions, links and fields, but nothing deleted."""
    pieces: list[str] = []
    run, raised = None, False
    waiting = list(paragraph)[::-1]
    while waiting:
        element = waiting.pop()
        if element.tag in _HIDDEN:
            continue
        if element.tag == f"{_W}t":
            if element.getparent() is not run:
                run = element.getparent()
                raised = run.find(f"{_W}rPr/{_W}vertAlign[@{_W}val='superscript']") is not None
            pieces.append(superscript(element.text or "") if raised else element.text or "")
        elif element.tag in (f"{_W}tab", f"{_W}br", f"{_W}cr"):
            pieces.append(" ")
        elif element.tag == f"{_W}noBreakHyphen":
            pieces.append("-")
        elif element.tag == f"{_W}footnoteReference":
            number = notes.setdefault(element.get(f"{_W}id"), len(notes) + 1)
            pieces.append(superscript(str(number)))
        else:
            waiting.extend(list(element)[::-1])
    return "".join(pieces)


def _footnotes(blob: bytes) -> dict[str, str]:
    from docx.oxml import parse_xml

    root: Any = parse_xml(blob)
    return {
        note.get(f"{_W}id"): " ".join(_word_text(paragraph, {}) for paragraph in note.iter(f"{_W}p"))
        for note in root.iter(f"{_W}footnote")
    }


def _slides(stream: io.BytesIO, builder: DocumentBuilder) -> int | None:
    import pptx
    from pptx.exc import PythonPptxError

    try:
        slides = list(pptx.Presentation(stream).slides)
        for page, slide in enumerate(slides, 1):
            _slide(slide, builder, page)
    except PythonPptxError as error:
        raise ValueError(str(error)) from error
    return len(slides)


def _slide(slide: Any, builder: DocumentBuilder, page: int) -> None:
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        builder.heading(_runs_text(title.text_frame), 1, page)
    for shape in _shapes(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            _shape(shape, builder, page)


def _shapes(shapes: Iterable[Any]) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):  # a group
            yield from _shapes(shape.shapes)
        else:
            yield shape


def _shape(shape: Any, builder: DocumentBuilder, page: int) -> None:
    if getattr(shape, "has_table", False):
        builder.table(([_runs_text(cell.text_frame) for cell in row.cells] for row in shape.table.rows), page)
    elif shape.has_text_frame:
        add: Callable[[str, int | None], None] = builder.paragraph
        if shape.is_placeholder:
            kind = shape.placeholder_format.type.name
            if kind in ("DATE", "FOOTER", "HEADER", "SLIDE_NUMBER"):
                return
            if kind in ("BODY", "OBJECT", "VERTICAL_BODY", "VERTICAL_OBJECT"):
                add = builder.list_item
        for paragraph in shape.text_frame.paragraphs:
            add(_runs([paragraph]), page)


def _runs_text(frame: Any) -> str:
    return _runs(frame.paragraphs)


def _runs(paragraphs: Iterable[Any]) -> str:
    """The text of paragraphs on one line; raised digits stay raised."""
    lines = []
    for paragraph in paragraphs:
        raised = {run.text for run in paragraph.runs if int((run.font._element.get("baseline")) or 0) > 0}
        if raised:
            lines.append("".join(superscript(run.text) if run.text in raised else run.text for run in paragraph.runs))
        else:
            lines.append(paragraph.text.replace("\v", " "))
    return " ".join(lines)


def _sheets(stream: io.BytesIO, builder: DocumentBuilder) -> int | None:
    import openpyxl

    values = openpyxl.load_workbook(stream, data_only=True)
    formulas = openpyxl.load_workbook(stream)
    missing = 0
    for sheet in values.worksheets:
        blocks: list[list[list[str]]] = [[]]
        for row, written in zip(sheet.iter_rows(), formulas[sheet.title].iter_rows(), strict=True):
            missing += sum(a.value is None and b.data_type == "f" for a, b in zip(row, written, strict=True))
            cells = [_cell(cell) for cell in row]
            if any(cells):
                blocks[-1].append(cells)
            elif blocks[-1]:
                blocks.append([])
        if blocks[0]:
            builder.heading(sheet.title, 1)
        for block in blocks:
            builder.table(_trimmed(block))
    if missing:
        found = f"{missing} formulas have no stored result"
        raise DocumentError(builder.slug, "no-values", found, "open it in a spreadsheet program and save it")
    return None


def _cell(cell: Any) -> str:
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ", "seconds")
    if isinstance(value, int | float):
        percent = str(cell.number_format).endswith("%")
        return f"{value * 100 if percent else value:.12g}" + ("%" if percent else "")
    return str(value).strip()


def _trimmed(rows: Sequence[list[str]]) -> list[list[str]]:
    """Without the empty columns to the left and to the right."""
    used = [column for row in rows for column, cell in enumerate(row) if cell]
    return [row[min(used) : max(used) + 1] for row in rows] if used else []
