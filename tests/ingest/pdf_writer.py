"""PDF files written by hand, so that a test shows every operator that decides its outcome.

Fonts of a page: F1 Helvetica, F2 Helvetica-Bold, F3 Courier, F4 a font whose characters nobody knows,
F5 Japanese (strings are UTF-16BE in hexadecimal, `japanese()` makes them). Im is a grey picture.
"""

from __future__ import annotations

from collections.abc import Sequence

A4 = (595, 842)

_FONTS = {
    "F1": b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    "F2": b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
    "F3": b"<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>",
    "F4": (
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 1000 1000]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 1/LastChar 3"
        b"/Widths[600 600 600]/Encoding<</Differences[1/g1/g2/g3]>>/CharProcs<<>>>>"
    ),
    "F5": (
        b"<</Type/Font/Subtype/Type0/BaseFont/HeiseiMin-W3/Encoding/UniJIS-UTF16-H/DescendantFonts[<</Type/Font"
        b"/Subtype/CIDFontType0/BaseFont/HeiseiMin-W3/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>"
        b"/DW 1000/FontDescriptor<</Type/FontDescriptor/FontName/HeiseiMin-W3/Flags 4/FontBBox[0 -200 1000 800]"
        b"/ItalicAngle 0/Ascent 800/Descent -200/CapHeight 700/StemV 80>>>>]>>"
    ),
}
_PICTURE = b"<</Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8/Length 1>>\nstream\n\x80\nendstream"


def text(words: str, x: float, y: float, size: float = 10, font: str = "F1") -> str:
    """Show `words` (Latin-1) with their baseline beginning at `(x, y)`, points from the lower left."""
    escaped = words.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{font} {size} Tf {x} {y} Td ({escaped}) Tj ET"


def japanese(words: str, x: float, y: float, size: float = 10) -> str:
    return f"BT /F5 {size} Tf {x} {y} Td <{words.encode('utf-16-be').hex()}> Tj ET"


def column(
    lines: Sequence[str], x: float = 72, y: float = 700, size: float = 10, pitch: float = 12, font: str = "F1"
) -> list[str]:
    """Lines of text below each other, the first with its baseline at `y`."""
    return [text(line, x, y - index * pitch, size, font) for index, line in enumerate(lines)]


def line(x0: float, y0: float, x1: float, y1: float) -> str:
    """A stroke half a point wide."""
    return f"0.5 w {x0} {y0} m {x1} {y1} l S"


def pdf(
    *pages: Sequence[str], size: tuple[float, float] = A4, rotate: int = 0, title: str = "", root: bytes = b""
) -> bytes:
    """A file with one page per sequence of drawing operators."""
    count = len(pages)
    numbers = [3 + 2 * index for index in range(count)]
    resources = (
        b"<</Font<<" + b"".join(b"/%s %s" % (k.encode(), v) for k, v in _FONTS.items()) + b">>/XObject<</Im %d 0 R>>>>"
    ) % (3 + 2 * count)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R%s>>" % root,
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (count, b" ".join(b"%d 0 R" % number for number in numbers)),
    ]
    for number, operators in zip(numbers, pages, strict=True):
        stream = "\n".join(operators).encode("latin-1")
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %g %g]/Rotate %d/Resources %s/Contents %d 0 R>>"
            % (*size, rotate, resources, number + 1)
        )
        objects.append(b"<</Length %d>>\nstream\n%s\nendstream" % (len(stream), stream))
    objects += [_PICTURE, b"<</Title(%s)>>" % title.encode("latin-1")]
    return raw_pdf(objects)


def raw_pdf(objects: Sequence[bytes]) -> bytes:
    """A file of these objects; the first is the catalogue, the last the file's properties."""
    data = bytearray(b"%PDF-1.7\n")
    offsets = []
    for number, item in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    data += b"trailer\n<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        len(objects),
        start,
    )
    return bytes(data)
