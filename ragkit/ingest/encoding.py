"""From bytes to text, for the formats that are text.

In this order: a byte order mark; what the document declares; UTF-8; windows-1252 where the text looks
like a Western language in it; what charset-normalizer finds most likely. The guess at the end is a
guess, on short texts a poor one: UTF-8 is what a corpus should be in.
"""

from __future__ import annotations

import codecs
import re

from ragkit.errors import DocumentError

_MARKS = (  # UTF-32 first: its little-endian mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Browsers read these labels as supersets of what they say (encoding.spec.whatwg.org, "Names and labels").
_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
_CANDIDATES = [
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257"),
    *("koi8_r", "koi8_u", "iso8859_2", "cp932", "euc_jp", "gb18030", "big5", "cp949"),
]
_SAVE = "save it as UTF-8"
_SAMPLE = 1 << 16
_HIGH = re.compile(r"[^\x00-\x7f]")
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_NOT_WESTERN = re.compile(
    "[\u0192\u02c6\u02dc\u2020-\u2022\u2030\xa2\xa4-\xa6\xac\xaf\xb6\xb8\xd0\xde\xfe]"  # rare in running text
    "|[^\\W\\d_][\xa1\xb1\xb9\xb2\xb3\xbc-\xbf][^\\W\\d_]"  # a symbol inside a word
    "|[\xc0-\xff]{4}"
)


def decode(data: bytes, slug: str, declared: str | None = None) -> str:
    """The text in `data`, newlines as they are, without the byte order mark.

    `declared` is an encoding's label from the document itself; one that is unknown or doesn't fit is
    passed over. Raises `DocumentError`: rule `binary` for data that is no text, `encoding` when nothing
    fits.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = _strict(data[len(mark) :], encoding)
            if text is None:
                raise DocumentError(slug, "encoding", f"starts as {encoding} but isn't, or is cut off", _SAVE)
            return text
    head = data[:_SAMPLE]
    if b"\x00" in head or len(_CONTROL.findall(head)) * 100 > len(head):
        raise DocumentError(slug, "binary", "binary data, not text", f"export it as text, or {_SAVE} if it is UTF-16")
    labels = [declared and _known(declared), "iso2022_jp" if b"\x1b$" in head else None, "utf-8"]
    for label in labels:
        if label and (text := _strict(data, label)) is not None:
            return text
    text = _guessed(data)
    if text is None:
        raise DocumentError(slug, "encoding", "not UTF-8, and no other encoding fits", _SAVE)
    return text


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeError:
        return None


def _known(label: str) -> str | None:
    try:
        info = codecs.lookup(label.strip())
    except (LookupError, ValueError):
        return None
    is_text = info._is_text_encoding  # "rot13" and "zip" are codecs too
    return _WIDER.get(info.name, info.name) if is_text else None


def _guessed(data: bytes) -> str | None:
    text = _strict(data, "cp1252")
    if text is not None and _looks_western(data[:_SAMPLE]):
        return text
    from charset_normalizer import from_bytes  # slow to import, and rarely needed

    best = from_bytes(data, cp_isolation=_CANDIDATES).best()
    return _strict(data, best.encoding) if best else None


def _looks_western(head: bytes) -> bool:
    text = head.decode("cp1252", "replace")
    letters = sum(map(str.isalpha, text))
    if sum(character.isalpha() for character in _HIGH.findall(text)) * 2 > letters:
        return False
    return not _NOT_WESTERN.search(text) and not {"\xf8", "\xe8"} <= set(text)  # together only in misread Czech
