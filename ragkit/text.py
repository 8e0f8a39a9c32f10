"""The one presentation fold, and finding a quote through it.

Two texts that differ only in how they are printed fold to the same string: ligatures, hyphenation at a
line's end, soft hyphens, dashes, quotation marks, kinds of space, NFC against NFD, width of Latin
letters. Words never change: a paraphrase stays a paraphrase, 10² stays apart from 102, and letter case
is kept. The linter, the runner and the keyword matcher all use this one function.

`visible` is for showing a text that somebody else wrote.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from functools import cached_property
from itertools import chain

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

_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # soft hyphen, zero-width marks
_REPLACED = str.maketrans(
    {
        **LIGATURES,
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u02bc\u2039\u203a", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        "\u2026": "...",
        **dict.fromkeys(_INVISIBLE, ""),
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF10, 0xFF1A)},  # full-width digits
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF21, 0xFF3B)},  # full-width A-Z
        **{chr(code): chr(code - 0xFEE0) for code in range(0xFF41, 0xFF5B)},  # full-width a-z
    }
)
_RESIZED = frozenset(chr(code) for code, printed in _REPLACED.items() if len(printed) != 1)
_KEPT = re.compile(r"\S+\s?")  # of a row of white space the first is kept

# A soft hyphen before white space, or a hyphen that ends a line inside a word (a lower-case or a
# caseless letter follows), is the printer's: it goes, together with the break.
_HYPHENATION = re.compile(  # which begins with its few characters, so that the others are skipped quickly
    r"[\u00ad\u2010-](?:(?<=\u00ad)\s+|(?<=[^\W\d_][\u2010-])\r?\n[ \t]*(?=[^\W\d_]))"
)

_LONG = 20_000
_MARKS_TOGETHER = 30
_MARKS = re.compile(rf"[^\w\s\x00-\x7f]{{{_MARKS_TOGETHER + 1},}}")  # and other signs; which they are is looked at then


def nfc(text: str) -> str:
    """`text` in NFC, and more than 30 combining marks in a row parted by U+034F.

    That is Unicode's Stream-Safe Text Format (UAX #15, section 13); no language needs more, and normalising
    a row of marks takes the square of its length.
    """
    return text if text.isascii() else unicodedata.normalize("NFC", _MARKS.sub(_parted, text))


def _parted(row: re.Match[str]) -> str:
    pieces: list[str] = []
    count = 0
    for character in row[0]:
        marks = len(unicodedata.normalize("NFD", character)) if unicodedata.combining(character) else 0
        if count + marks > _MARKS_TOGETHER:
            pieces.append("\u034f")
            count = 0
        pieces.append(character)
        if marks or character not in _INVISIBLE:
            count = count + marks if marks else 0
    return "".join(pieces)


def fold(text: str) -> str:
    """The folded text: presentation removed, every run of white space one space, ends stripped."""
    joined = _HYPHENATION.sub(_break, text)
    if not joined.isascii():
        joined = joined.translate(_REPLACED)
        # A document's text had its rows of marks parted when it was parsed; only others can have long ones.
        joined = nfc(joined) if len(joined) > _LONG else unicodedata.normalize("NFC", joined)
    return " ".join(joined.split())


def _break(match: re.Match[str]) -> str:
    """What is left of a hyphen and its line break: nothing, or both when a capital follows."""
    if match[0][0] == "\u00ad":
        return ""
    return match[0] if match.string[match.end()].isupper() else ""


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, with which a text would steer a terminal
    "\u202a-\u202e\u2066-\u2069"  # overrides of direction, which show a text in another order
    "\u2028\u2029\ud800-\udfff]"
)


def visible(text: str) -> str:
    r"""Text that any terminal and any page shows as it is; line feeds and tabs stay.

    >>> visible("\x1b[2Jgone")
    '\\u001b[2Jgone'
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Folded:
    """A folded text that remembers where each of its characters came from.

    Folding is quick; the way back is worked out only when something was found.
    """

    def __init__(self, original: str) -> None:
        self.original = original
        self.text = fold(original)

    def find_all(self, needle: str) -> list[tuple[int, int]]:
        """Where `needle`, folded, stands: `(start, end)` in the original; overlapping ones too."""
        wanted = fold(needle)
        found: list[tuple[int, int]] = []
        at = self.text.find(wanted) if wanted else -1
        while at >= 0:
            found.append(self.span(at, at + len(wanted)))
            at = self.text.find(wanted, at + 1)
        return found

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The part of the original that became `text[start:end]` (not empty)."""
        if self.text == self.original and self.text.isascii():
            return start, end
        starts, ends = self._origins
        return starts[start], ends[end - 1]

    @cached_property
    def _origins(self) -> tuple[array[int], array[int]]:
        """For each folded character the part of the original that it came from: all starts, all ends."""
        # Arrays, since tuples would take a hundred bytes for each character.
        if _one_by_one(self.original):
            starts = array("I", chain.from_iterable(range(*kept.span()) for kept in _KEPT.finditer(self.original)))
            return starts, array("I", [start + 1 for start in starts])
        return _origins(self.original)


def _one_by_one(text: str) -> bool:
    """Whether folding turns each character into one, or drops it with the white space before it."""
    if not _RESIZED.isdisjoint(text) or _HYPHENATION.sub(_break, text) != text:
        return False
    printed = text.translate(_REPLACED)
    return text.isascii() or (
        unicodedata.is_normalized("NFC", printed) and not any(map(unicodedata.combining, printed))
    )


def _origins(text: str) -> tuple[array[int], array[int]]:
    """`Folded._origins` of any text, character by character."""
    dropped: set[int] = set()
    for match in _HYPHENATION.finditer(text):
        if not _break(match):
            dropped.update(range(*match.span()))
    printed = [
        (index, piece)
        for index, character in enumerate(text)
        if index not in dropped
        for piece in _REPLACED.get(ord(character), character)
    ]
    starts, ends = array("I"), array("I")
    space = True  # white space at the start is stripped
    for start, end, cluster in _clusters(printed):
        for character in cluster:
            if not (character.isspace() and space):
                starts.append(start)
                ends.append(end)
            space = character.isspace()
    return starts, ends


def _clusters(printed: list[tuple[int, str]]) -> list[tuple[int, int, str]]:
    """Characters joined with those that NFC composes with them: `(start, end, text in NFC)`.

    A character opens a new cluster when normalising changes nothing across the seam.
    """
    clusters: list[tuple[int, int, str]] = []
    for index, character in printed:
        if clusters and not character.isascii():
            start, _, before = clusters[-1]
            joined = unicodedata.normalize("NFC", before + character)
            if unicodedata.combining(character) or joined != before + unicodedata.normalize("NFC", character):
                clusters[-1] = (start, index + 1, joined)
                continue
        clusters.append((index, index + 1, unicodedata.normalize("NFC", character)))
    return clusters
