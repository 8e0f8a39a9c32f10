"""Word files put together from XML, so that a fuzzer's bytes get past the archive and its checksums."""

from __future__ import annotations

import io
import zipfile

_OPEN = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_RELATED = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_W = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_MC = b'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
_TYPES = f"""<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml" ContentType="{_OPEN}.document.main+xml"/>
<Override PartName="/word/styles.xml" ContentType="{_OPEN}.styles+xml"/>
<Override PartName="/word/footnotes.xml" ContentType="{_OPEN}.footnotes+xml"/></Types>"""


def _relations(*targets: tuple[str, str]) -> str:
    entries = "".join(
        f'<Relationship Id="r{number}" Type="{_RELATED}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets)
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{entries}</Relationships>'
    )


def docx(body: bytes, styles: bytes = b"", footnotes: bytes = b"", before: bytes = b"") -> bytes:
    """A Word file of the elements inside its body, its styles and its footnotes; `before` is the document's prolog."""
    parts = {
        "[Content_Types].xml": _TYPES.encode(),
        "_rels/.rels": _relations(("officeDocument", "word/document.xml")).encode(),
        "word/_rels/document.xml.rels": _relations(("styles", "styles.xml"), ("footnotes", "footnotes.xml")).encode(),
        "word/document.xml": b"%b<w:document %b %b><w:body>%b</w:body></w:document>" % (before, _W, _MC, body),
        "word/styles.xml": b"<w:styles %b>%b</w:styles>" % (_W, styles),
        "word/footnotes.xml": b"<w:footnotes %b>%b</w:footnotes>" % (_W, footnotes),
    }
    return archive(parts)


def archive(parts: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return stream.getvalue()
