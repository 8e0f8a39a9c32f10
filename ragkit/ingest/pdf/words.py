"""Letters, hyphens and the joints between lines: how the lines of a paragraph become one text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

HYPHEN = "\u00ad"
"""Stands for a hyphen at the end of a line, whether it was typed or made by the typesetter."""

_HYPHENS = frozenset("-\u2010\u00ad")
_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)*")
_LINE_END = re.compile(r"([^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)*)[-\u2010\u00ad]$")
_BULLET = re.compile(r"[\u2022\u2023\u25e6\u25aa\u25ab\u25cf\u25cb\u25a0\u25a1\u2043\u30fb\uf0b7\u00b7]\s*")
_DASH = re.compile(r"[-\u2013\u2014*]\s+")
_NUMBER = re.compile(r"(?:\(?(\d{1,3}|[a-z]|[ivx]{1,4})[.)]|\[\d{1,3}\])\s+")
_LEADER = re.compile(r"(?:[.\u2026\u00b7]\s*){4,}\S*$")
_CONJUNCTIONS = frozenset(
    [
        "und",
        "oder",
        "bzw",
        "sowie",
        "bis",
        "noch",
        "and",
        "or",
        "to",
        "nor",
        "et",
        "ou",
        "y",
        "o",
        "e",
        "u",
        "en",
        "of",
        "og",
        "och",
    ]
)
_CJK = re.compile("[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_SEAM = re.compile(r"[\u3040-\u9fff]( ?)(?=[A-Za-z0-9])|[A-Za-z0-9]( ?)(?=[\u3040-\u9fff])")
_MATHEMATICAL = re.compile("[\U0001d400-\U0001d7ff\u210e]")


def has_marker(text: str) -> bool:
    """Whether it begins like an item of a list: a bullet, a dash, a number with a point or a bracket."""
    return bool(_BULLET.match(text) or _DASH.match(text) or _NUMBER.match(text))


def has_leader(text: str) -> bool:
    """Whether it is an entry of a table of contents: dots, then perhaps a page number, at its end."""
    return _LEADER.search(text) is not None


def has_bullet(text: str) -> bool:
    """Whether it begins with a character that is nothing but a bullet."""
    return _BULLET.match(text) is not None


def without_bullet(text: str) -> str:
    """The item's text; numbers stay, they are text in a PDF and may be referred to."""
    return (_BULLET if has_bullet(text) else _DASH).sub("", text, count=1)


def is_cjk(character: str) -> bool:
    """Whether it is written without spaces between words: Chinese, Japanese and their punctuation."""
    return _CJK.match(character) is not None


def has_cjk(text: str) -> bool:
    """Whether any character is written without spaces between words."""
    return not text.isascii() and _CJK.search(text) is not None


def plain(text: str) -> str:
    """Pairs of surrogates joined, and the italic, bold or script letters of formulas as letters."""
    if text.isascii():
        return text
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _MATHEMATICAL.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a document shows about its hyphens.

    `words`: its words as they stand within lines, compounds with their hyphens, in lower case.
    `hyphenated`: whether words are broken at line ends, so that a hyphen there needn't be one that was written.
    `spaced`: whether Latin words and numbers have spaces around them among Chinese and Japanese.
    """

    words: AbstractSet[str] = frozenset()
    hyphenated: bool = True
    spaced: bool = False


def vocabulary(texts: Iterable[Sequence[str]]) -> Vocabulary:
    """The vocabulary of texts given as their lines."""
    words: set[str] = set()
    breaks: list[str] = []
    spaces = 0
    for lines in texts:
        spaces += sum(
            1 if match[1] or match[2] else -1 for line in lines if not line.isascii() for match in _SEAM.finditer(line)
        )
        for line, following in zip(lines, [*lines[1:], ""], strict=False):
            end = _LINE_END.search(line) if line[-1:] in _HYPHENS else None
            words.update(word.lower() for word in _WORD.findall(line[: end.start()] if end else line))
            if end and following[:1].islower():
                breaks.append(end[1].lower())
    # The first half of a compound mostly is a word that the document uses, that of a broken word isn't.
    fragments = sum(half.rsplit("-", 1)[-1] not in words for half in breaks)
    return Vocabulary(words, fragments > 0.3 * len(breaks), spaces > 0)


_NOTHING = Vocabulary()


def join(lines: Iterable[str], known: Vocabulary = _NOTHING) -> str:
    """The text of a paragraph: hyphenation undone, no space where Chinese or Japanese is continued.

    A hyphen at a line end is kept before a capital or a digit (`E-Mail`, `A-4`), after a digit or a single
    letter (`2-stage`, `O-ring`), before a conjunction, with a space (`Ein- und Ausgang`), and where the
    document has the compound but not the joined word, or breaks no words at all; otherwise it goes.
    """
    text = ""
    for line in lines:
        text = _joined(text, line.strip(), known) if text else line.strip()
    return text.replace(HYPHEN, "-")


def _joined(text: str, line: str, known: Vocabulary) -> str:
    if not line:
        return text
    if text[-1] in _HYPHENS and len(text) > 1:
        start = _WORD.match(line)
        following = start[0] if start else ""
        if text[-2].isspace() or not text[-2].isalnum():  # a dash, not a hyphen
            return f"{text} {line}"
        if following.lower() in _CONJUNCTIONS:
            return f"{text[:-1]}- {line}"
        end = _LINE_END.search(text)
        if end is None or not following or not following[0].islower():
            return f"{text[:-1]}-{line}"
        before, after = end[1].lower(), following.lower()
        written = f"{before}-{after}" in known.words or not known.hyphenated or len(before) == 1
        return f"{text[:-1]}-{line}" if written and before + after not in known.words else text[:-1] + line
    if is_cjk(text[-1]) or is_cjk(line[0]):
        seam = known.spaced and _SEAM.search(text[-1] + line[0])
        return f"{text} {line}" if seam else text + line
    if text[-1] in "/\u2014" and not text[-2:-1].isspace():  # broken after a slash or an em dash
        return text + line
    return f"{text} {line}"
