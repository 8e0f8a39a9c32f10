"""What a file really is, by its first bytes; enough to refuse one whose suffix says something else."""

from __future__ import annotations

import re

_SIGNATURES = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "a ZIP or Office file"),
    (b"PK\x05\x06", "an empty ZIP file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or encrypted Office file"),
    (b"{\\rtf", "RTF"),
    (b"%!PS", "PostScript"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "gzip data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip file"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
_EXPECTED = {
    ".pdf": ("PDF",),
    # What an Office container holds, and whether it is encrypted, is for the office parser to say.
    **dict.fromkeys((".docx", ".pptx", ".xlsx"), ("a ZIP or Office file", "an old or encrypted Office file")),
    **dict.fromkeys((".html", ".htm"), ("HTML", "text")),
}
_HTML = re.compile(  # a comment ends at its first end (`?>`): looking for others takes exponential time
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*)*<(?:!doctype\s+html|html)\b",
    re.IGNORECASE | re.DOTALL,
)
_HEAD = 4096


def mislabelled(data: bytes, suffix: str) -> str | None:
    """What `data` is, in words, when a file named `suffix` (lower case) can't be that; else `None`."""
    kind = _kind(data)
    return None if kind in _EXPECTED.get(suffix, ("text",)) else kind


def _kind(data: bytes) -> str:
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return name
    head = data[:_HEAD]
    if b"%PDF-" in head[:1024] and b" obj" in head:  # PDF readers allow junk before the header
        return "PDF"
    return "HTML" if _HTML.match(head) else "text"
