"""Tables without lines around their cells: text that keeps the same gaps over several rows."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence

from ragkit.ingest.pdf.lines import Line, merged, rows
from ragkit.ingest.pdf.runs import Rule
from ragkit.ingest.pdf.tables import Table
from ragkit.ingest.pdf.words import has_leader, has_marker

_Gap = tuple[float, float]
_ROWS_APART = 3.2  # em; rows further apart than this are not of one table


def aligned(lines: Sequence[list[Line]], rules: Sequence[Rule]) -> list[Table | Line]:
    """Rows of one column of the page, from top to bottom, with tables recognised and other rows merged.

    A table has at least three rows of two or more cells (two where a line is drawn between them)
    and at least one gap, half an em wide or more, that no row crosses.
    """
    items: list[Table | Line] = []
    at = 0
    while at < len(lines):
        end, gaps = _extent(lines, at)
        several = sum(len(_cells(row)) > 1 for row in lines[at:end])
        if several >= 3 or (several == 2 and _drawn(lines[at:end], rules)):
            items.append(_table(lines[at:end], gaps, rules))
            at = end
        else:
            items.append(merged(lines[at]))
            at += 1
    return items


def underlined(pieces: Sequence[Line], rules: Sequence[Rule]) -> tuple[list[Table], list[Line]]:
    """Tables between horizontal lines of one length, as scientific papers have them, and the pieces left.

    They are looked for before the columns of the page, which their own gaps could be taken for.
    """
    lengths: dict[tuple[int, int], list[Rule]] = {}
    for rule in rules:
        if rule.y0 == rule.y1:
            lengths.setdefault((round(rule.x0 / 4), round(rule.x1 / 4)), []).append(rule)
    found: list[Table] = []
    rest = list(pieces)
    for group in lengths.values():
        top, bottom = min(rule.y0 for rule in group), max(rule.y0 for rule in group)
        x0, x1 = group[0].x0 - 3, group[0].x1 + 3
        inside = [piece for piece in rest if top < piece.baseline < bottom and x0 < piece.x0 and piece.x1 < x1]
        if len(inside) < 4:
            continue
        items = aligned(rows(inside), group)
        if len(items) == 1 and isinstance(items[0], Table):
            found.append(items[0])
            taken = set(map(id, inside))
            rest = [piece for piece in rest if id(piece) not in taken]
    return found, rest


def _cells(row: list[Line]) -> list[Line]:
    """The pieces of a row, a list marker not being one of its own, nor the parts of an entry of the contents."""
    if len(row) > 1 and has_leader(merged(row).text):
        return [merged(row)]
    if len(row) == 2 and has_marker(f"{row[0].text} x") and len(row[0].text) < 6:
        return [merged(row)]
    return row


def _extent(rows: Sequence[list[Line]], start: int) -> tuple[int, list[_Gap]]:
    """Where the table that begins at `start` ends (`start`: there is none), and its gaps."""
    cells = _cells(rows[start])
    gaps = [(a.x1, b.x0) for a, b in itertools.pairwise(cells)]
    size = min(piece.size for piece in cells)
    end, last = start + 1, start + 1
    while gaps and end < len(rows):
        step = rows[end][0].baseline - rows[end - 1][0].baseline
        cells = _cells(rows[end])
        if step > (_ROWS_APART if len(cells) > 1 else 1.6) * size:
            break
        left = [gap for old in gaps if (gap := _free(old, cells))[1] - gap[0] >= 0.5 * size]
        if not left:
            break
        gaps = left
        end += 1
        if len(cells) > 1 or cells[0].x0 > gaps[0][1] - 1:
            last = end
    return (last, gaps) if gaps else (start, [])


def _free(gap: _Gap, cells: Sequence[Line]) -> _Gap:
    """The widest part of `gap` that no cell covers."""
    best, low = (gap[0], gap[0]), gap[0]
    for cell in cells:
        if cell.x1 <= low or cell.x0 >= gap[1]:
            continue
        if cell.x0 - low > best[1] - best[0]:
            best = (low, cell.x0)
        low = max(low, cell.x1)
    return (low, gap[1]) if gap[1] - low > best[1] - best[0] else best


def _drawn(rows: Sequence[list[Line]], rules: Sequence[Rule]) -> bool:
    return any(_between(rules, above, below) for above, below in itertools.pairwise(rows))


def _between(rules: Sequence[Rule], above: list[Line], below: list[Line]) -> bool:
    """Whether a horizontal line is drawn between two rows, along half of the lower one at least."""
    x0, x1 = below[0].x0, below[-1].x1
    return any(
        rule.y0 == rule.y1
        and above[0].baseline - 0.2 * above[0].size < rule.y0 < below[0].baseline - 0.3 * below[0].size
        and min(rule.x1, x1) - max(rule.x0, x0) > 0.5 * (x1 - x0)
        for rule in rules
    )


def _table(rows: Sequence[list[Line]], gaps: Sequence[_Gap], rules: Sequence[Rule]) -> Table:
    edges = [(low + high) / 2 for low, high in gaps]
    filled: list[dict[int, list[Line]]] = []
    for row in rows:
        columns: dict[int, list[Line]] = {}
        for piece in _cells(row):
            columns.setdefault(bisect_right(edges, (piece.x0 + piece.x1) / 2), []).append(piece)
        filled.append(columns)
    cells: list[list[list[str]]] = []
    for columns, continues in zip(filled, _continued(rows, filled, len(edges) + 1, rules), strict=True):
        if not continues:
            cells.append([[] for _ in range(len(edges) + 1)])
        for column, pieces in columns.items():
            cells[-1][column].append(merged(pieces).text)
    pieces = [piece for row in rows for piece in row]
    return Table(
        min(piece.x0 for piece in pieces),
        max(piece.x1 for piece in pieces),
        min(piece.top for piece in pieces),
        max(piece.bottom for piece in pieces),
        cells,
    )


def _continued(
    rows: Sequence[list[Line]], filled: Sequence[dict[int, list[Line]]], width: int, rules: Sequence[Rule]
) -> list[bool]:
    """For each line of text whether it continues the row of the line before.

    Drawn lines decide where most rows have them. Otherwise a line without a first cell continues when it
    is near; and where rows are set apart by space, so does every line that is nearer than that.
    """
    steps = [below[0].baseline - above[0].baseline for above, below in itertools.pairwise(rows)]
    drawn = [_between(rules, above, below) for above, below in itertools.pairwise(rows)]
    if sum(drawn) > 2:
        return [False, *(not line for line in drawn)]
    near = 1.15 * min(steps)
    dense = any(
        step <= near and len(above) == len(below) == width
        for step, above, below in zip(steps, filled, filled[1:], strict=False)
    )
    spacious = not dense and max(steps) > 1.2 * min(steps)
    continued = [False]
    for step, line, below, row in zip(steps, drawn, filled[1:], rows[1:], strict=True):
        first_empty = 0 not in below and step < 1.6 * row[0].size
        continued.append(not line and (first_empty or (spacious and step <= near)))
    return continued
