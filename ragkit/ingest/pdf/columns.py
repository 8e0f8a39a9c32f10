"""Reading order: what stands in columns side by side, and what runs across them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from statistics import median

from ragkit.ingest.pdf.lines import Line
from ragkit.ingest.pdf.tables import Table
from ragkit.ingest.pdf.words import is_cjk

Item = Line | Table
_LEAST = 4  # lines each column must have
_DEEPEST = 3  # how often a column may be cut again: up to eight columns


def ordered(items: Sequence[Item], depth: int = 0) -> list[list[Item]]:
    """The items of a page as columns in reading order; each from top to bottom, not yet in rows.

    Where text runs across (a title, a wide table), the columns above it come before it.
    """
    items = sorted(items, key=lambda item: (item.top, item.x0))
    gutter = _gutter(items) if depth < _DEEPEST else None
    if gutter is None:
        return [items] if items else []
    regions: list[list[Item]] = [[]]
    for across, left, right in _bands(items, gutter):
        regions[-1] += across
        if not left or not right:
            regions[-1] += left or right
            continue
        # The short last line of a paragraph that runs across still belongs to it.
        while left and across and left[0].bottom < right[0].top + 1 and _follows(regions[-1][-1], left[0]):
            regions[-1].append(left.pop(0))
        regions += ordered(left, depth + 1) + ordered(right, depth + 1) + [[]]
    return [region for region in regions if region]


def _gutter(items: Sequence[Item]) -> float | None:
    """The left edge of a right-hand column of prose that has another one beside it, if there is one."""
    lines = [item for item in items if isinstance(item, Line)]
    if len(lines) < 2 * _LEAST:
        return None
    left, right = min(item.x0 for item in items), max(item.x1 for item in items)
    starts: dict[int, list[Line]] = {}
    for line in lines:
        starts.setdefault(round(line.x0 / 3), []).append(line)
    best, gutter = 0, None
    for key in starts:
        group = [line for near in (key - 1, key, key + 1) for line in starts.get(near, ())]
        edge = min(line.x0 for line in group)
        if len(group) < _LEAST or not left + 0.15 * (right - left) < edge < left + 0.85 * (right - left):
            continue
        weight = _columns(items, edge)
        if weight > best:
            best, gutter = weight, edge
    return gutter


def _columns(items: Sequence[Item], edge: float) -> int:
    """How many lines stand in two columns of prose that meet at `edge`; 0 when they don't look like it."""
    lefts: list[Line] = []
    rights: list[Line] = []
    for _, left, right in _bands(items, edge):
        if left and right:
            lefts += (item for item in left if isinstance(item, Line))
            rights += (item for item in right if isinstance(item, Line))
    if len(lefts) < _LEAST or len(rights) < _LEAST:
        return 0
    if not (_is_prose(lefts) and _is_prose(rights)):
        return 0
    return len(lefts) + len(rights)


def _is_prose(lines: Sequence[Line]) -> bool:
    """Whether lines are as long as in running text: two thirds of the width and more than a phrase."""
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    rows: dict[int, float] = {}
    letters: dict[int, int] = {}
    for line in lines:
        row = round(line.baseline / 2)
        rows[row] = rows.get(row, 0.0) + line.x1 - line.x0
        letters[row] = letters.get(row, 0) + len(line.text) + sum(map(is_cjk, () if line.text.isascii() else line.text))
    return median(rows.values()) > 0.55 * width and median(letters.values()) >= 18


def _bands(items: Sequence[Item], edge: float) -> list[tuple[list[Item], list[Item], list[Item]]]:
    """Items from top to bottom as (across `edge`, left, right); a band begins where something runs across."""
    crossing = [item for item in items if item.x0 < edge - 2 and item.x1 > edge - 2]
    tops = [item.top for item in crossing]
    bands: list[tuple[list[Item], list[Item], list[Item]]] = [([], [], []) for _ in range(len(crossing) + 1)]
    for index, item in enumerate(crossing):
        bands[index + 1][0].append(item)
    for item in items:
        if item.x0 >= edge - 2:
            bands[bisect_right(tops, item.top + 1)][2].append(item)
        elif item.x1 <= edge - 2:
            bands[bisect_right(tops, item.top + 1)][1].append(item)
    return bands


def _follows(above: Item, line: Item) -> bool:
    """Whether a line continues the paragraph of the one above it."""
    if isinstance(above, Table) or isinstance(line, Table):
        return False
    return abs(above.size - line.size) < 0.05 * line.size and line.baseline - above.baseline < 1.5 * line.size
