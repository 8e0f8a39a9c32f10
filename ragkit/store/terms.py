"""The terms that a text is found by: of chunks when they are stored and of questions when they are asked.

Words are folded: presentation, case, and the accents of Latin, Greek and Cyrillic letters. Chinese,
Japanese and Korean write no spaces between words, or few, so their runs become overlapping pairs of
characters, which match any word of two or more; a character that stands alone is a term itself.
"""

from __future__ import annotations

import re
import unicodedata

from ragkit.text import fold

_UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_TERM = re.compile(rf"(?P<unspaced>[{_UNSPACED}]+)|[^\W_{_UNSPACED}]+")
_ACCENTS = re.compile("[\u0300-\u036f]")  # not the voicing marks of kana


def terms(text: str) -> list[str]:
    """The terms in order, repeats kept; each of letters and digits only.

    >>> terms("The Café's AX-200: 10 °C")
    ['the', 'cafe', 's', 'ax', '200', '10', 'c']
    >>> terms("水泵ABC")
    ['水泵', 'abc']
    >>> terms("关闭阀门")
    ['关闭', '闭阀', '阀门']
    """
    found: list[str] = []
    for match in _TERM.finditer(_plain(text)):
        run = match[0]
        if match["unspaced"] and len(run) > 2:
            found += [run[at : at + 2] for at in range(len(run) - 1)]
        else:
            found.append(run)
    return found


def _plain(text: str) -> str:
    folded = fold(text).casefold()
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", folded)))
