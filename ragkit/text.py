"""The one presentation fold, and finding a quote through it.

Two texts that differ only in how they are printed fold to the same string: ligatures, soft hyphens,
dashes, quotation marks, kinds of space, NFC against NFD, width of Latin letters. Words never change:
a paraphrase stays a paraphrase, 10² stays apart from 102, and letter case is kept. The linter, the
runner and the keyword matcher all use this one function.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right

LIGATURES = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
    "\ufb05": "st",
    "\ufb06": "st",
}
"""An explicit table: NFKC would also turn superscripts and fractions into plain digits."""

_REPLACED = {
    **LIGATURES,
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u2039\u203a", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    "\u2026": "...",
    **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),  # soft hyphen, zero-width marks
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF10, 0xFF1A)},  # full-width digits
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF21, 0xFF3B)},  # full-width A-Z
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF41, 0xFF5B)},  # full-width a-z
}


def fold(text: str) -> str:
    """The folded text: presentation removed, every run of white space one space, ends stripped."""
    return Folded(text).text


class Folded:
    """A folded text that remembers where each of its characters came from."""

    def __init__(self, original: str) -> None:
        pieces: list[str] = []
        origins: list[int] = []
        for start, cluster in _clusters(original):
            piece = "".join(_REPLACED.get(c, c) for c in unicodedata.normalize("NFC", cluster))
            for character in piece:
                if character.isspace():
                    if not pieces or pieces[-1] == " ":
                        continue
                    character = " "
                pieces.append(character)
                origins.append(start)
        if pieces and pieces[-1] == " ":
            pieces.pop()
            origins.pop()
        self.text = "".join(pieces)
        self._origins = origins
        self._starts = [start for start, _ in _clusters(original)] + [len(original)]

    def find_all(self, needle: str) -> list[tuple[int, int]]:
        """Where `needle`, folded, stands: `(start, end)` in the original; overlapping ones too."""
        wanted = fold(needle)
        found: list[tuple[int, int]] = []
        if not wanted:
            return found
        at = self.text.find(wanted)
        while at >= 0:
            last = self._origins[at + len(wanted) - 1]
            end = self._starts[bisect_right(self._starts, last)]
            found.append((self._origins[at], end))
            at = self.text.find(wanted, at + 1)
        return found


def _clusters(text: str) -> list[tuple[int, str]]:
    """`text` cut into base characters with the combining marks that follow them (for NFC)."""
    if text.isascii():
        return list(enumerate(text))
    starts = [i for i, character in enumerate(text) if i == 0 or not unicodedata.combining(character)]
    return [(a, text[a:b]) for a, b in zip(starts, [*starts[1:], len(text)], strict=True)]
