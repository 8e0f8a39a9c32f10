"""What PDFium sees on each page: runs of text with place, size and font, and the straight lines drawn.

The only module that knows pypdfium2. A call through ctypes costs about as much as PDFium needs to lay
out a character, so nothing is asked per character: the text comes in one piece, and each run (the
characters of one text object on one line) is found by bisection and described by a handful of calls.

PDFium is not thread-safe: one document at a time in a process.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from ctypes import CFUNCTYPE, byref, c_double, c_float, c_int, c_ushort, c_void_p, cast, create_string_buffer
from typing import Any

from ragkit.errors import DocumentError
from ragkit.ingest.pdf.runs import Page, Rule, Run, stretches, upright
from ragkit.ingest.pdf.words import HYPHEN, has_cjk

MAX_PAGES = 5000
_MAX_PATHS = 4000  # more is a drawing, not the lines of tables
_BOLD = re.compile(r"bold|black|heavy|demi|cmbx|cmssbx", re.IGNORECASE)
_MONO = re.compile(r"mono|monl|courier|consol|typewriter|cm(?:sl)?tt|menlo", re.IGNORECASE)
_THIN, _SHORT = 3.0, 6.0  # points: a filled shape this thin is a line; a line this short is a tick or a dash
_UNMAPPED = re.compile("[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1b]")
_SPACES = re.compile(" +")
_CELL_GAP = 1.2  # em; a gap inside a text object that is wider than this is more than a word space
_REPAIR = "export it again, or repair it (`qpdf in.pdf out.pdf`) and look what is missing"
_OCR = "run OCR on it (`ocrmypdf in.pdf out.pdf`)"


def read(data: bytes, slug: str) -> tuple[list[Page], str]:
    """All pages, and the title in the file's properties (often empty or meaningless).

    Text that doesn't run along the page's main direction (watermarks, stamps in the margin) is left out.
    Raises `DocumentError`: `mislabelled`, `encrypted`, `truncated`, `damaged`, `too-long`, `scanned`,
    `no-text`, `unreadable-text`.
    """
    import pypdfium2  # loads a native library, which other formats don't need

    if b"%PDF-" not in data[:1024]:
        raise DocumentError(slug, "mislabelled", "not a PDF (no %PDF- at its start)", "give it the right suffix")
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise _unopened(data, slug, error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD) from error
    try:
        # PDFium mends a broken index silently, and with it may lose pages silently.
        if not pypdfium2.raw.FPDF_DocumentHasValidCrossReferenceTable(pdf.raw):
            raise _unopened(data, slug, encrypted=False)
        if not 1 <= len(pdf) <= MAX_PAGES:
            raise DocumentError(slug, "too-long", f"{len(pdf)} pages; 1 to {MAX_PAGES} can be read", "split it")
        reader = _Reader(pypdfium2.raw, pdf.raw, slug)
        pages = [reader.page(index) for index in range(len(pdf))]
        title = pdf.get_metadata_value("Title")
    finally:
        pdf.close()
    reader.check(len(pages))
    return pages, title


def _unopened(data: bytes, slug: str, encrypted: bool) -> DocumentError:
    if encrypted:
        remedy = "save it without a password (`qpdf --decrypt --password=... in.pdf out.pdf`)"
        return DocumentError(slug, "encrypted", "it needs a password", remedy)
    if b"%%EOF" not in data[-2048:]:
        found = f"it breaks off after {len(data)} bytes, without %%EOF"
        return DocumentError(slug, "truncated", found, "copy or download the whole file again")
    return DocumentError(slug, "damaged", "its index of objects (cross-reference table) is broken", _REPAIR)


class _Reader:
    """Reads pages through one set of output buffers, and notes what is wrong with which page."""

    def __init__(self, raw: Any, pdf: Any, slug: str) -> None:
        self._raw, self._pdf, self._slug = raw, pdf, slug
        self._edges = [c_double() for _ in range(4)]  # left, top, right, bottom of a piece of text
        self._corners = [c_float() for _ in range(4)]  # left, bottom, right, top of a page object
        self._edge_references = [byref(edge) for edge in self._edges]
        self._corner_references = [byref(corner) for corner in self._corners]
        # The same functions with bare addresses: they are called most, and pointer objects cost more than the call.
        self._text_object = _bare(raw.FPDFText_GetTextObject, c_int)
        self._font = _bare(raw.FPDFTextObj_GetFont)
        self._matrix = raw.FS_MATRIX()
        self._box = raw.FS_RECTF()
        self._pictures: list[int] = []
        self._characters = self._unmapped = 0

    def page(self, index: int) -> Page:
        raw = self._raw
        page = raw.FPDF_LoadPage(self._pdf, index)
        if not page:
            raise DocumentError(self._slug, "damaged", f"page {index + 1} can't be read", _REPAIR)
        try:
            text_page = raw.FPDFText_LoadPage(page)
            if not text_page:
                raise DocumentError(self._slug, "damaged", f"the text of page {index + 1} can't be read", _REPAIR)
            try:
                runs = list(self._runs(text_page))
            finally:
                raw.FPDFText_ClosePage(text_page)
            box = self._box
            raw.FPDF_GetPageBoundingBox(page, byref(box))
            bounds = (box.left, box.bottom, box.right, box.top)
            if not runs and self._has_picture(page):
                self._pictures.append(index + 1)
            rules = list(self._rules(page)) if runs else []
            return upright(index + 1, bounds, runs, rules)
        finally:
            raw.FPDF_ClosePage(page)

    def check(self, count: int) -> None:
        """Refuse what would be lost silently: pages that are pictures, text without a known encoding."""
        if self._pictures:
            pages = ", ".join(map(str, self._pictures[:10])) + (", ..." if len(self._pictures) > 10 else "")
            found = f"{len(self._pictures)} of its {count} pages are pictures without text (pages: {pages})"
            raise DocumentError(self._slug, "scanned", found, _OCR)
        if not self._characters:
            raise DocumentError(self._slug, "no-text", f"no text on any of its {count} pages", _OCR)
        if self._unmapped > 0.3 * self._characters:
            found = f"the fonts don't say what {self._unmapped} of its {self._characters} characters are"
            raise DocumentError(self._slug, "unreadable-text", found, "run OCR (`ocrmypdf --force-ocr in.pdf out.pdf`)")

    def _runs(self, text_page: Any) -> Iterator[tuple[int, Run]]:
        """Runs with the quarter turns, counter-clockwise, of their text; slanted text is skipped."""
        raw, matrix = self._raw, self._matrix
        text = self._text(text_page)
        styles: dict[int | None, tuple[bool, bool]] = {}

        handle = cast(text_page, c_void_p).value

        def owner(at: int) -> int:
            """The text object of a character; 0 for a space that PDFium made up."""
            return int(self._text_object(handle, at) or 0)

        for start, end, item in stretches(text, owner):
            raw.FPDFText_GetMatrix(text_page, start, byref(matrix))
            turns = math.atan2(matrix.b, matrix.a) / (math.pi / 2)
            size = raw.FPDFText_GetFontSize(text_page, start) * math.hypot(matrix.c, matrix.d)
            if abs(turns - round(turns)) > 0.06 or not 0.5 < size < 2000:
                continue
            font = self._font(item) if item else None
            if font not in styles:
                styles[font] = self._style(font)
            bold, mono = styles[font]
            typed = start > 0 and text[start - 1] == " " and owner(start - 1) != 0
            for first, last, words in self._pieces(text_page, text, start, end, size):
                if self._ink(text_page, first, last):
                    left, top, right, bottom = [edge.value for edge in self._edges]
                    if round(turns) == 0 and has_cjk(words):  # a full stop has half its width of ink
                        left, right = min(left, self._side(text_page, first)[0]), self._side(text_page, last - 1)[1]
                    spaced = self._space_before(text_page, text, first, size)
                    baseline = matrix.f if round(turns) % 2 == 0 else matrix.e
                    yield (
                        round(turns) % 4,
                        Run(words, left, right, top, bottom, baseline, size, bold, mono, spaced, typed),
                    )

    def _text(self, text_page: Any) -> str:
        """One character per PDFium index, so characters beyond U+FFFF are two surrogates."""
        count = self._raw.FPDFText_CountChars(text_page)
        units = (c_ushort * (count + 1))()
        written = self._raw.FPDFText_GetText(text_page, 0, count, units) if count > 0 else 1
        if written == count + 1:
            text = "".join(map(chr, units[:count]))
        else:  # it left out characters without a Unicode value
            text = "".join(chr(self._raw.FPDFText_GetUnicode(text_page, i) or 0xFFFD) for i in range(max(count, 0)))
        text = text.replace("\ufffe", HYPHEN).replace("\x02", HYPHEN)
        self._characters += sum(map(len, text.split()))
        self._unmapped += len(_UNMAPPED.findall(text))
        return text

    def _pieces(self, text_page: Any, text: str, start: int, end: int, size: float) -> Iterator[tuple[int, int, str]]:
        """A stretch cut at gaps of table width, and without the spaces that aren't any."""
        space = text.find(" ", start, end)
        # Files either have space characters or leave gaps, the first tells which; Chinese and Japanese have both.
        if space < 0 or not (has_cjk(text[start:end]) or self._raw.FPDFText_IsGenerated(text_page, space)):
            yield start, end, text[start:end]
            return
        first = done = start
        words = ""
        for match in _SPACES.finditer(text, start, end):
            words += text[done : match.start()]
            done = match.end()
            if not self._raw.FPDFText_IsGenerated(text_page, match.start()):
                words += " "
            elif (gap := self._gap(text_page, match.start() - 1, done)) > _CELL_GAP * size:
                yield first, match.start(), words
                first, words = done, ""
            elif _is_space(gap / size, text[match.start() - 1], text[done]):
                words += " "
        yield first, end, words + text[done:end]

    def _space_before(self, text_page: Any, text: str, start: int, size: float) -> bool:
        """Whether a run begins a line or follows a space, a gap beside Chinese or Japanese mostly being none."""
        if start == 0 or text[start - 1] != " ":
            return start == 0 or text[start - 1].isspace()
        last = len(text[:start].rstrip(" ")) - 1
        if (
            last < 0
            or not has_cjk(text[last] + text[start])
            or not self._raw.FPDFText_IsGenerated(text_page, start - 1)
        ):
            return True
        return _is_space(self._gap(text_page, last, start) / size, text[last], text[start])

    def _gap(self, text_page: Any, before: int, after: int) -> float:
        """The distance of two characters by their advance widths, whatever their ink is."""
        return self._side(text_page, after)[0] - self._side(text_page, before)[1]

    def _side(self, text_page: Any, at: int) -> tuple[float, float]:
        """Left and right edge of a character by its advance width."""
        self._raw.FPDFText_GetLooseCharBox(text_page, at, byref(self._box))
        return self._box.left, self._box.right

    def _ink(self, text_page: Any, first: int, last: int) -> bool:
        """Put the bounds of characters `[first, last)` into the buffer; false when they show nothing."""
        if not self._raw.FPDFText_CountRects(text_page, first, last - first):
            return False
        return bool(self._raw.FPDFText_GetRect(text_page, 0, *self._edge_references))

    def _style(self, address: int | None) -> tuple[bool, bool]:
        """Whether a font is bold and whether it is monospaced, by its name and its descriptor."""
        if not address:
            return False, False
        font = cast(address, self._raw.FPDF_FONT)
        name = create_string_buffer(256)
        self._raw.FPDFFont_GetBaseFontName(font, name, 256)
        flags = max(self._raw.FPDFFont_GetFlags(font), 0)
        shown = name.value.decode("latin-1")
        return bool(_BOLD.search(shown) or flags & 1 << 18), bool(_MONO.search(shown) or flags & 1)

    def _has_picture(self, page: Any) -> bool:
        """Whether anything but vector drawing is on the page: an image, or a form that may hold one."""
        raw = self._raw
        kinds = (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM)
        objects = range(raw.FPDFPage_CountObjects(page))
        return any(raw.FPDFPageObj_GetType(raw.FPDFPage_GetObject(page, i)) in kinds for i in objects)

    def _rules(self, page: Any) -> Iterator[Rule]:
        raw = self._raw
        found = (raw.FPDFPage_GetObject(page, i) for i in range(raw.FPDFPage_CountObjects(page)))
        paths = [item for item in found if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_PATH]
        for path in paths if len(paths) <= _MAX_PATHS else ():
            if not raw.FPDFPageObj_GetBounds(path, *self._corner_references):
                continue
            x0, y0, x1, y1 = (corner.value for corner in self._corners)
            width, height = x1 - x0, y1 - y0
            if height < _THIN and width > _SHORT:
                yield Rule(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2)
            elif width < _THIN and height > _SHORT:
                yield Rule((x0 + x1) / 2, y0, (x0 + x1) / 2, y1)
            elif width > _SHORT and height > _SHORT and raw.FPDFPath_CountSegments(path) in (4, 5):
                yield from (Rule(x0, y0, x1, y0), Rule(x0, y1, x1, y1), Rule(x0, y0, x0, y1), Rule(x1, y0, x1, y1))


def _bare(function: Any, *more: Any) -> Any:
    """A function that takes a handle (and `more`) and returns one, with handles as integers."""
    return CFUNCTYPE(c_void_p, c_void_p, *more)(cast(function, c_void_p).value or 0)


def _is_space(gap: float, before: str, after: str) -> bool:
    """Whether a gap, in em, is a space; beside Chinese and Japanese it often is none.

    Between two such characters only justification leaves gaps; beside Latin letters typesetters put a
    quarter of an em.
    """
    if not has_cjk(before + after):
        return True
    return gap > 0.5 if has_cjk(before) and has_cjk(after) else gap > 0.15 and abs(gap - 0.25) > 0.005
