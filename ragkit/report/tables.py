"""Tables as data, and their two text forms. What a table says is decided here once for every output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.text import visible


@dataclass(frozen=True, slots=True)
class Table:
    """Cells are finished text; `numeric` says which columns are aligned to the right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]

    def _repr_markdown_(self) -> str:
        """How notebooks and documents show it: as Markdown, in a box that scrolls where the page is narrow."""
        return f'<div style="overflow-x: auto">\n\n{markdown(self)}\n\n</div>'


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table; a column whose name starts with `#` is numeric (the mark isn't shown)."""
    return Table(
        title,
        tuple(column.removeprefix("#") for column in columns),
        tuple(tuple(row) for row in rows),
        tuple(column.startswith("#") for column in columns),
    )


def plain(table: Table) -> str:
    """Tab-separated, one line per row, a header line first; tabs and newlines in cells are escaped."""

    def line(cells: Sequence[str]) -> str:
        return "\t".join(cell.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") for cell in cells)

    return "\n".join([line(table.columns), *map(line, table.rows)])


def markdown(table: Table) -> str:
    """A GFM table, without its title; text from documents can't break out of its cell."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(map(escape, cells)) + " |"

    rule = "|" + "|".join(" ---: " if numeric else " --- " for numeric in table.numeric) + "|"
    return "\n".join([line(table.columns), rule, *map(line, table.rows)])


_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]|~$#^"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_BEFORE_MARKS = re.compile(
    r"(?<!\w)(?=@\w)"  # an @ that begins a word is a citation to pandoc
    r"|^(?=[-+](?:\s|$)|[-=:]{2})|^\d{1,9}(?=[.)](?:\s|$))"  # what makes a list, a rule or a fenced part of a line
)


def escape(text: str) -> str:
    """Text as Markdown shows it: on one line, nothing in it is markup or HTML, no control characters."""
    return _BEFORE_MARKS.sub(r"\g<0>\\", visible(" ".join(text.split())).translate(_SPECIAL))


def number(value: float | None, digits: int = 3) -> str:
    """A measure as reports show it; an en dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"
