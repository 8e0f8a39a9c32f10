"""Keywords in texts: as words where a script has word boundaries, anywhere where it has none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ragkit.golden.cases import comparable

# Han, kana, Thai, Lao, Burmese, Khmer are written without spaces between words; Hangul has spaces, but
# its particles are written onto the noun. A boundary is not asked for at such a character.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
_WORD: Final = rf"[^\W{_UNSPACED}]"  # a letter, digit or underscore of a spaced script
_MARK: Final = "\u0300-\u036f"  # combining marks that no composed letter took up belong to their word


def found_keywords(keywords: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """The keywords that at least one of the texts has, in their own order.

    Both sides are folded: presentation, then case. `a.rs` is not in `data.rs`, `2.3` not in `2.3.1` or
    `12.3`, and `\u7f51\u5173` is in `\u65b0\u7f51\u5173\u8bbe\u5907`.
    """
    haystacks = [comparable(text) for text in texts]
    return tuple(
        keyword for keyword in keywords if any(_pattern(comparable(keyword)).search(text) for text in haystacks)
    )


def _pattern(keyword: str) -> re.Pattern[str]:
    if not keyword:
        raise ValueError("an empty keyword would be in every text")
    before = rf"(?<!{_WORD})(?<!{_WORD}[{_MARK}])" if re.match(_WORD, keyword) else ""
    after = rf"(?!{_WORD}|[{_MARK}])" if re.match(_WORD, keyword[-1]) else ""
    if keyword[0].isdecimal():
        before += r"(?<![0-9][.,])"
    if keyword[-1].isdecimal():
        after += r"(?![.,][0-9])"
    return re.compile(before + re.escape(keyword) + after)
