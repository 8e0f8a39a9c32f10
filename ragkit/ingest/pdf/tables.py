"""Tables: cells between ruled lines, or columns of text that line up over several lines."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragkit.ingest.pdf.lines import lines, merged, rows
from ragkit.ingest.pdf.runs import Page, Rule, Run

_NEAR = 2.5  # points within which two lines meet or are one
_MAX_RULES = 3000


@dataclass(slots=True)
class Table:
    """A table on one page: its bounds in points, its rows of cells, empty ones included; a cell is its lines."""

    x0: float
    x1: float
    top: float
    bottom: float
    rows: list[list[list[str]]]


@dataclass(slots=True)
class _Grid:
    across: list[Rule]
    down: list[Rule]


def ruled(page: Page) -> tuple[list[Table], list[Run]]:
    """The tables drawn with lines that cross, two rows and two columns at least, and the runs outside of them."""
    tables: list[Table] = []
    rest = page.runs
    for grid in _grids(page.rules):
        ys = _distinct(rule.y0 for rule in grid.across)
        xs = _distinct(rule.x0 for rule in grid.down)
        if len(ys) < 3 or len(xs) < 3:
            continue
        inside: list[Run] = []
        outside: list[Run] = []
        for run in rest:
            middle = (run.x0 + run.x1) / 2
            height = run.baseline - 0.3 * run.size
            (inside if xs[0] < middle < xs[-1] and ys[0] < height < ys[-1] else outside).append(run)
        cells = _cells(inside, grid, xs, ys)
        if len({row for row, _ in cells}) < 2 or len({column for _, column in cells}) < 2:
            continue  # a frame, a chart
        rest = outside
        texts = [[_lines(cells.get((row, column), ())) for column in range(len(xs) - 1)] for row in range(len(ys) - 1)]
        tables.append(Table(xs[0], xs[-1], ys[0], ys[-1], texts))
    return tables, rest


def _cells(inside: Iterable[Run], grid: _Grid, xs: list[float], ys: list[float]) -> dict[tuple[int, int], list[Run]]:
    """Runs by row and column; a cell that spans several belongs to its first row and column."""
    across = [[rule for rule in grid.across if abs(rule.y0 - y) < _NEAR] for y in ys]
    down = [[rule for rule in grid.down if abs(rule.x0 - x) < _NEAR] for x in xs]
    cells: dict[tuple[int, int], list[Run]] = {}
    for run in inside:
        middle, height = (run.x0 + run.x1) / 2, run.baseline - 0.3 * run.size
        row, column = bisect_right(ys, height) - 1, bisect_right(xs, middle) - 1
        while column > 0 and not any(rule.y0 <= height <= rule.y1 for rule in down[column]):
            column -= 1
        while row > 0 and not any(rule.x0 <= middle <= rule.x1 for rule in across[row]):
            row -= 1
        cells.setdefault((row, column), []).append(run)
    return cells


def _lines(runs: Iterable[Run]) -> list[str]:
    return [merged(row).text for row in rows(lines(runs))]


def _grids(rules: Sequence[Rule]) -> list[_Grid]:
    """Lines that touch or cross each other, directly or through others; from top to bottom."""
    across = _connected([rule for rule in rules if rule.y0 == rule.y1 and rule.x1 > rule.x0], flat=True)
    down = _connected([rule for rule in rules if rule.x0 == rule.x1 and rule.y1 > rule.y0], flat=False)
    if not across or not down or len(across) + len(down) > _MAX_RULES:
        return []
    group = list(range(len(across) + len(down)))

    def root(at: int) -> int:
        while group[at] != at:
            group[at] = at = group[group[at]]
        return at

    for i, h in enumerate(across):
        for j, v in enumerate(down, len(across)):
            meets = h.x0 - _NEAR <= v.x0 <= h.x1 + _NEAR and v.y0 - _NEAR <= h.y0 <= v.y1 + _NEAR
            if meets:
                group[root(j)] = root(i)
    grids: dict[int, _Grid] = {}
    for i, h in enumerate(across):
        grids.setdefault(root(i), _Grid([], [])).across.append(h)
    for j, v in enumerate(down, len(across)):
        grids.setdefault(root(j), _Grid([], [])).down.append(v)
    return sorted(grids.values(), key=lambda grid: min((r.y0 for r in grid.across), default=0.0))


def _connected(rules: Iterable[Rule], flat: bool) -> list[Rule]:
    """Pieces of one line drawn one after another (cell by cell, say) as one line."""
    spans: dict[float, list[tuple[float, float]]] = {}
    level = -math.inf
    for rule in sorted(rules, key=lambda rule: rule.y0 if flat else rule.x0):
        at, span = (rule.y0, (rule.x0, rule.x1)) if flat else (rule.x0, (rule.y0, rule.y1))
        if at - level > 1:
            level = at
        spans.setdefault(level, []).append(span)
    found: list[Rule] = []
    for level, pieces in spans.items():
        joined: list[tuple[float, float]] = []
        for low, high in sorted(pieces):
            if joined and low <= joined[-1][1] + _NEAR:
                joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
            else:
                joined.append((low, high))
        found += (Rule(a, level, b, level) if flat else Rule(level, a, level, b) for a, b in joined)
    return found


def _distinct(values: Iterable[float]) -> list[float]:
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _NEAR:
            found.append(value)
    return found
