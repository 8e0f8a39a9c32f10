"""What a question and a document may be called, wherever their names are read."""

from __future__ import annotations

import re
import unicodedata

_LONGEST = 4096  # characters; no system has longer paths, and NFC takes the square of a row of combining marks


def id_fault(value: str) -> str | None:
    """What forbids `value` as a question id, or `None`: letters, digits and `. _ : -`, in NFC."""
    if not value.strip():
        return "is empty"
    if len(value) > _LONGEST:
        return f"has more than {_LONGEST} characters"
    if value != unicodedata.normalize("NFC", value):
        return "is not in Unicode normal form C"
    if not (value[0].isalnum() and all(c in "._:-" or unicodedata.category(c)[0] in "LMN" for c in value)):
        return "must be letters, digits and . _ : - only, a letter or digit first"
    return None


def slug_fault(slug: str) -> str | None:
    """What forbids `slug` as a document's name, or `None`.

    A slug is a path relative to the corpus root: forward slashes, no `.`, `..` or empty part, no drive,
    no control characters, NFC.
    """
    if not slug.strip():
        return "is empty"
    if "\\" in slug:
        return "has a backslash; the separator is /"
    if slug.startswith("/") or re.match(r"[A-Za-z]:", slug):
        return "is absolute; it must be relative to the corpus root"
    if any(part in ("", ".", "..") for part in slug.split("/")):
        return "has an empty, `.` or `..` part"
    if len(slug) > _LONGEST:
        return f"has more than {_LONGEST} characters"
    if slug != unicodedata.normalize("NFC", slug):
        return "is not in Unicode normal form C"
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in slug):
        return "has a control character"
    return None
