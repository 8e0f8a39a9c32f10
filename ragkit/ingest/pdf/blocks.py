"""From lines to blocks: where a paragraph ends, what is a heading, an item of a list, code, a footnote."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ragkit.ingest.pdf.lines import Line
from ragkit.ingest.pdf.tables import Table
from ragkit.ingest.pdf.words import HYPHEN, has_bullet, has_leader, has_marker, is_cjk

Kind = Literal["text", "item", "code", "note", "table", "heading"]
_STOPS = frozenset(".!?:;。！？：；…")
_CLOSING = "\"'”’»)]）」』"
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|abb(?:ildung|\.)|tabelle|figura|tabla|tableau|figure|chart|listing|図|表|图)\s*\d+",
    re.IGNORECASE,
)
_NOTE = re.compile(r"[\d*†‡§]")


@dataclass(frozen=True, slots=True)
class Style:
    """What is usual in a document: size of the running text in points, distance of its lines in em."""

    size: float
    pitch: float
    mono: bool


@dataclass(slots=True)
class Draft:
    """A block in the making. `left` and `right` bound its column, in points; `table` only for tables."""

    kind: Kind
    page: int
    lines: list[Line]
    left: float = 0.0
    right: float = 0.0
    table: Table | None = None

    @property
    def size(self) -> float:
        return self.lines[0].size if self.lines else 0.0


def style(regions: Iterable[Sequence[Line]]) -> Style:
    """The usual style, from the lines of each column in order; characters vote for the size."""
    sizes = Counter[float]()
    steps = Counter[float]()
    mono = letters = 0
    for region in regions:
        for line in region:
            sizes[round(line.size * 2) / 2] += len(line.text)
            letters += len(line.text)
            mono += len(line.text) if line.mono else 0
        for above, below in itertools.pairwise(region):
            step = (below.baseline - above.baseline) / below.size
            if abs(above.size - below.size) < 0.03 * below.size and 0.9 < step < 3:
                steps[round(step * 20) / 20] += 1
    size = min(sizes, key=lambda size: (-sizes[size], size), default=10.0)
    pitch, times = min(steps.items(), key=lambda item: (-item[1], item[0]), default=(1.3, 0))
    if times < 5:  # too short to tell: the closest lines are those of a paragraph, unless they are far apart
        pitch = min(1.6, *steps) if steps else 1.3
    return Style(size, pitch, mono > 0.6 * letters)


def drafts(items: Sequence[Line | Table], page: int, usual: Style) -> tuple[list[Draft], list[Draft]]:
    """The blocks of one column, and its footnotes apart."""
    lines = [item for item in items if isinstance(item, Line)]
    notes = _footnotes(items, usual)
    left = min((line.x0 for line in lines), default=0.0)
    found: list[Draft] = []
    feet: list[Draft] = []
    rights = _right_edges(lines)
    block: Draft | None = None
    at = -1
    for index, item in enumerate(items):
        if isinstance(item, Table):
            found.append(Draft("table", page, [], table=item))
            block = None
            continue
        at += 1
        foot = index >= notes
        following = items[index + 1] if index + 1 < len(items) else None
        after = following if isinstance(following, Line) else None
        if block is None or (foot and not feet) or _breaks(block, item, after, left, usual):
            previous = block
            block = Draft(_kind(item, previous, foot, usual), page, [], left, rights[at])
            (feet if foot else found).append(block)
        block.lines.append(item)
        block.right = max(block.right, rights[at])
    return found, feet


def gathered(column: Sequence[Draft], usual: Style) -> list[Draft]:
    """The labels of a chart in one block: small pieces next to one that is more figures than letters."""
    found: list[Draft] = []
    for draft in column:
        labels = found and _is_label(found[-1], usual) and _is_label(draft, usual)
        if labels and (_is_tick(found[-1]) or _is_tick(draft)):
            found[-1].lines += draft.lines
        else:
            found.append(draft)
    return found


def _is_label(draft: Draft, usual: Style) -> bool:
    return draft.kind == "text" and draft.size < 0.85 * usual.size and not is_caption(draft)


def _is_tick(draft: Draft) -> bool:
    text = "".join(draft.lines[-1].text.split())
    return sum(character.isdigit() for character in text) > 0.4 * len(text)


def is_heading(draft: Draft, usual: Style) -> bool:
    """Larger than the running text, or bold throughout; short, and no sentence or caption."""
    if draft.kind not in ("text", "item") or len(draft.lines) > 3:
        return False
    text = " ".join(line.text for line in draft.lines)
    letters = sum(character.isalpha() for character in text)
    if letters < 2 or len(text) > 200 or _CAPTION.match(text) or has_leader(text):
        return False
    if letters == 2 and not is_cjk(text.strip()[-1]):
        return False
    bold = all(line.bold for line in draft.lines)
    ratio = draft.size / usual.size
    if not (ratio > 1.25 or (bold and ratio > 0.9)) or has_bullet(text):
        return False
    return not (_ends_sentence(text) and text[-1] not in "?？" and ratio < 1.25)


def is_caption(draft: Draft) -> bool:
    return bool(draft.lines) and _CAPTION.match(draft.lines[0].text) is not None


def continues(end: Draft, start: Draft) -> bool:
    """Whether `start`, first in the next column or page, evidently goes on with the sentence of `end`."""
    if end.kind not in ("text", "item") or start.kind != "text" or abs(end.size - start.size) > 0.05 * end.size:
        return False
    last, first = end.lines[-1], start.lines[0]
    if last.text.endswith((HYPHEN, "-")):
        return first.text[:1].islower()
    if _ends_sentence(last.text) or last.bold != first.bold:
        return False
    full = last.x1 > end.right - 2.5 * last.size
    return full and (first.text[:1].islower() or first.x0 < start.left + 0.5 * first.size)


def _kind(line: Line, previous: Draft | None, foot: bool, usual: Style) -> Kind:
    if foot:
        return "note"
    if line.mono and not usual.mono:
        return "code"
    return "item" if has_marker(line.text) else "text"


def _footnotes(items: Sequence[Line | Table], usual: Style) -> int:
    """Index of the first footnote of a column: small lines at its end, the first with a mark."""
    start = len(items)
    while start:
        item = items[start - 1]
        if isinstance(item, Table) or item.size > 0.93 * usual.size:
            break
        start -= 1
    for index in range(start, len(items)):
        item = items[index]
        if isinstance(item, Line) and (item.marked or (index == start and _NOTE.match(item.text))):
            return index
    return len(items)


def _right_edges(lines: Sequence[Line]) -> list[float]:
    """For each line how far lines of its size reach around it."""
    edges = []
    for index, line in enumerate(lines):
        near = lines[max(0, index - 6) : index + 7]
        edges.append(max(other.x1 for other in near if abs(other.size - line.size) < 0.07 * line.size))
    return edges


def _breaks(block: Draft, line: Line, after: Line | None, left: float, usual: Style) -> bool:
    """Whether `line` begins a new block below `block`, the lines of which come right above it."""
    last, size = block.lines[-1], max(block.lines[-1].size, line.size)
    step = line.baseline - last.baseline
    if block.kind == "code":
        return not line.mono or step > 2.2 * usual.pitch * size
    if step > 1.2 * usual.pitch * size or abs(line.size - last.size) > 0.07 * size:
        return True
    if has_leader(last.text) or has_leader(line.text):
        return True
    if block.kind == "note":
        return line.marked
    forced = _forced(last, line, block.right)
    if line.bold != last.bold and (forced or step > 1.1 * usual.pitch * size):
        return True
    moved = line.x0 - last.x0
    if has_bullet(line.text):
        return True
    if has_marker(line.text) and (abs(moved) > 0.4 * size or block.kind == "item" or forced):
        return True
    first = block.lines[0]
    if abs(last.x1 - line.x1) < 1.5 < abs(moved) and line.x0 > left + 2 * size:
        return False  # flush right, as an address in a letter
    if moved < -2 * size and _centred(last, block):
        return True  # after a centred title or caption
    if block.kind == "item":
        return line.x0 < first.x0 + 0.3 * size and forced
    if _centred(last, block) and _centred(line, block):
        return False
    if len(block.lines) > 1 and moved < -0.6 * size and abs(line.x0 - first.x0) < 2 < last.x0 - first.x0:
        return True  # hanging entries: the first line of each stands out to the left
    if moved > 0.6 * size and line.x0 > left + 0.6 * size and (_ends_sentence(last.text) or forced):
        return after is None or after.x0 < line.x0 - 0.5 * size or after.baseline - line.baseline > 1.2 * step
    return (forced or line.headed) and _ends_sentence(last.text)


def _forced(last: Line, line: Line, right: float) -> bool:
    """Whether the first word of `line` would have fitted on the line before, so that the break was meant."""
    word = 1 if is_cjk(line.text[0]) else len(line.text.split(maxsplit=1)[0])
    width = (line.x1 - line.x0) * word / max(len(line.text), 1)
    return last.x1 + width + 0.6 * line.size < right - 0.5 * line.size


def _centred(line: Line, block: Draft) -> bool:
    return abs((line.x0 + line.x1) / 2 - (block.left + block.right) / 2) < 0.3 * line.size


def _ends_sentence(text: str) -> bool:
    return text.rstrip(_CLOSING)[-1:] in _STOPS
