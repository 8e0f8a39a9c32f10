"""From runs to lines: words of several fonts put together, raised and lowered characters told apart."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragkit.ingest.builder import superscript
from ragkit.ingest.pdf.runs import Run
from ragkit.ingest.pdf.words import plain

_SUBSCRIPTS = str.maketrans("0123456789+-\u2212()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₍₎")
_TIGHT = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉₊₋^_")
_ORDINAL = re.compile("st|nd|rd|th|er|ère|re|e|ème|o|a|os|as|ter|bis|TM")


@dataclass(slots=True)
class Line:
    """A line of text, or a part of one that a wide gap sets apart; the measures of `Run`.

    `size` and `baseline` are those of most of its characters, `bold` and `mono` hold when all of it is.
    `marked`: it begins with a raised character, as a footnote does; `headed`: only its first words are bold.
    """

    text: str
    x0: float
    x1: float
    baseline: float
    size: float
    bold: bool
    mono: bool
    marked: bool
    headed: bool

    @property
    def top(self) -> float:
        return self.baseline - 0.8 * self.size

    @property
    def bottom(self) -> float:
        return self.baseline + 0.2 * self.size


def lines(runs: Iterable[Run]) -> list[Line]:
    """Runs that follow each other in the file and on a line, put together; gaps of table width separate."""
    chains: list[list[Run]] = []
    base: Run | None = None
    for run in runs:
        if base is not None and _continues(chains[-1][-1], base, run):
            chains[-1].append(run)
            if (run.size, len(run.text)) > (base.size, len(base.text)) and not _script(run, base):
                base = run
        else:
            chains.append([run])
            base = run
    return [_line(chain) for chain in chains]


def rows(pieces: Iterable[Line]) -> list[list[Line]]:
    """Pieces at the same height, from left to right; the rows from top to bottom."""
    found: list[list[Line]] = []
    for piece in sorted(pieces, key=lambda piece: (piece.baseline, piece.x0)):
        row = found[-1] if found else None
        if row and piece.baseline - row[0].baseline < 0.35 * min(piece.size, row[0].size):
            row.append(piece)
        else:
            found.append([piece])
    for row in found:
        row.sort(key=lambda piece: piece.x0)
    return found


def merged(row: Sequence[Line]) -> Line:
    """One line of the pieces of a row, a space for each gap."""
    if len(row) == 1:
        return row[0]
    main = max(row, key=lambda piece: len(piece.text))
    text = row[0].text
    for before, piece in itertools.pairwise(row):
        text += f" {piece.text}" if piece.x0 - before.x1 > 0.2 * piece.size else piece.text
    return Line(
        text,
        row[0].x0,
        max(piece.x1 for piece in row),
        main.baseline,
        main.size,
        all(piece.bold for piece in row),
        all(piece.mono for piece in row),
        row[0].marked,
        row[0].headed or (row[0].bold and not row[-1].bold),
    )


def _continues(last: Run, base: Run, run: Run) -> bool:
    gap = run.x0 - last.x1
    size = max(base.size, run.size)
    # A space that was typed is a word space, however far justification has stretched it.
    wide = 2.0 if run.typed else 0.65
    if not -0.6 * size < gap < wide * size:
        return False
    shift = abs(run.baseline - base.baseline)
    if shift < 0.12 * size:
        return True
    return gap < 0.65 * size and shift < 0.75 * size and min(run.size, base.size) < 0.88 * size


def _script(run: Run, base: Run) -> int:
    """1 for a raised run, -1 for a lowered one, 0 for an ordinary one.

    Either its font is smaller and its baseline elsewhere, or (fonts with glyphs made for it) only its ink is.
    """
    rise = base.baseline - run.baseline
    if run.size < 0.88 * base.size:
        return 1 if rise > 0.15 * base.size else -1 if rise < -0.06 * base.size else 0
    if len(run.text) > 6 or not run.text.isalnum() or abs(rise) > 0.05 * base.size:
        return 0
    above, below = base.baseline - run.top, run.bottom - base.baseline
    if -below > 0.2 * base.size:
        return 1
    return -1 if below > 0.06 * base.size and above < 0.37 * base.size else 0


def _line(chain: Sequence[Run]) -> Line:
    base = max(chain, key=lambda run: (len(run.text), run.size))
    scripts = [_script(run, base) for run in chain]
    text = ""
    for index, (run, script) in enumerate(zip(chain, scripts, strict=True)):
        words = plain(run.text)
        if script and text:
            words = _raised(words) if script > 0 else _lowered(words)
        elif script > 0:
            words = superscript(words)
        if index and _space_between(chain[index - 1], run, words):
            text += " "
        text += words
    return Line(
        text,
        chain[0].x0,
        max(run.x1 for run in chain),
        base.baseline,
        base.size,
        all(run.bold for run in chain),
        all(run.mono for run in chain),
        scripts[0] > 0,
        chain[0].bold and not all(run.bold for run in chain),
    )


def _space_between(before: Run, run: Run, words: str) -> bool:
    gap = run.x0 - before.x1
    return run.spaced and gap > 0.1 * run.size and not (words[:1] in _TIGHT and gap < 0.4 * before.size)


def _raised(words: str) -> str:
    """10² and not 102; ordinals (1er, 2nd) and marks stay letters, other letters get a `^`."""
    digits = superscript(words)
    if digits != words or _ORDINAL.fullmatch(words.strip()) or not words[:1].isalnum() or not words.isascii():
        return digits
    return f"^{words}"


def _lowered(words: str) -> str:
    digits = words.translate(_SUBSCRIPTS)
    return f"_{words}" if digits == words and words[:1].isalpha() else digits
