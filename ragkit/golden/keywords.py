"""Keywords in texts: as words where a script has word boundaries, anywhere where it has none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ragkit.golden.cases import comparable

# Han, kana, Thai, Lao, Burmese, Khmer are written without spaces between words; Hangul has spaces, but
# its particles are written onto the noun. A boundary is not asked for at such a character.
_UNSPACED: Final = (
    ("\u0e00", "\u0eff"),
    ("\u1000", "\u109f"),
    ("\u1780", "\u17ff"),
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"),
    ("\U00020000", "\U0003ffff"),
)
_POINTS: Final = frozenset(".,")
_DIGITS: Final = frozenset("0123456789")


def found_keywords(keywords: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """The keywords that at least one of the texts has, in their own order.

    Both sides are folded: presentation, then case. `a.rs` is not in `data.rs`, `2.3` not in `2.3.1` or
    `12.3`, and `\u7f51\u5173` is in `\u65b0\u7f51\u5173\u8bbe\u5907`.
    """
    haystacks = [comparable(text) for text in texts]
    return tuple(keyword for keyword in keywords if any(_stands_in(comparable(keyword), text) for text in haystacks))


def _stands_in(keyword: str, text: str) -> bool:
    if not keyword:
        raise ValueError("an empty keyword would be in every text")
    start = text.find(keyword)
    while start >= 0:
        end = start + len(keyword)
        if _begins_apart(keyword, text[max(start - 2, 0) : start]) and _ends_apart(keyword, text[end : end + 2]):
            return True
        start = text.find(keyword, start + 1)
    return False


def _begins_apart(keyword: str, before: str) -> bool:
    """Whether `keyword` begins a word, or needn't; `before` has the two characters that precede it."""
    if _is_word(keyword[0]) and (_is_word(before[-1:]) or (_is_mark(before[-1:]) and _is_word(before[:-1]))):
        return False
    return not (keyword[0].isdecimal() and before[-1:] in _POINTS and before[:-1] in _DIGITS)


def _ends_apart(keyword: str, after: str) -> bool:
    """Whether `keyword` ends a word, or needn't; `after` has the two characters that follow it."""
    if _is_word(keyword[-1]) and (_is_word(after[:1]) or _is_mark(after[:1])):
        return False
    return not (keyword[-1].isdecimal() and after[:1] in _POINTS and after[1:] in _DIGITS)


def _is_word(character: str) -> bool:
    """A letter, digit or underscore of a script that has spaces; nothing is none."""
    return (character.isalnum() or character == "_") and not any(low <= character <= high for low, high in _UNSPACED)


def _is_mark(character: str) -> bool:
    """A combining mark that no composed letter took up belongs to its word."""
    return "\u0300" <= character <= "\u036f"
