"""From results.json to the one table and RESULTS.md: a pure function of what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from frame import Bar

HEADER = ("work", "way", "median", "range", "rate", "peak memory", "against the best peer", "bars", "result checked")


def one_table(sections: Mapping[str, Any]) -> str:
    """All rows of all sections, as Markdown."""
    return markdown_table(HEADER, [_cells(row) for section in sections.values() for row in section["rows"]])


def results(sections: Mapping[str, Any]) -> str:
    """RESULTS.md."""
    bars = [bar for section in sections.values() for row in section["rows"] for bar in _bars(row)]
    missed = [f"* {section['title']}, {row['work']}: {bar}" for section in sections.values() for row in section["rows"] for bar in _bars(row) if not bar.met]  # fmt: skip
    parts = [
        "# Benchmarks",
        "Written by `make bench` (benchmarks/run.py) from benchmarks/results.json. Every way of doing a piece of work ran in"
        " one process, in turn with the others; the median, the least and the greatest time of the counted rounds are given. Peak memory"
        " is what a run took on top of what its process held before; for a command, all that its process held."
        " *Against the best peer*: how many times as fast as the quickest peer; ways in italics are there for"
        " information and are nobody's peer.",
        f"Bars met: {len(bars) - len(missed)} of {len(bars)}." + ("" if not missed else " Missed:"),
        *(["\n".join(missed)] if missed else []),
        one_table(sections),
    ]
    parts += [f"## {section['title']}\n\n" + "\n\n".join(section["notes"]) for section in sections.values() if section["notes"]]  # fmt: skip
    parts.append("## Machine")
    for machine, names in _machines(sections):
        parts.append(
            f"{', '.join(names)}: {machine['processor']}, {machine['cores']} cores, {machine['system']} {machine['architecture']},"
            f" features {', '.join(machine['cpu_flags']) or 'unknown'}; Python {machine['python']},"
            f" {_versions(machine['libraries'])}."
        )
    runs = [
        [section["title"], f"`{section['command']}`", *(f"{section['load'][at]:.2f}" for at in ("start", "end")), f"{section['took']:.0f} s", _versions(section["libraries"])]
        for section in sections.values()
    ]  # fmt: skip
    parts.append(markdown_table(("section", "command", "load at start", "load at end", "took", "libraries"), runs))
    return "\n\n".join(parts) + "\n"


def markdown_table(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """Lines of equal width."""
    cells = [list(header), *([cell.replace("|", "\\|") for cell in row] for row in body)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def _cells(row: Mapping[str, Any]) -> list[str]:
    way = f"*{row['way']}*" if row["kind"] == "information" else row["way"]
    timed = ["", "", ""]
    if row["seconds"]:
        middle = median(row["seconds"])
        timed = [_time(middle), f"{_time(min(row['seconds']))} to {_time(max(row['seconds']))}", f"{row['amount'] / middle:,.4g} {row['unit']}/s"]  # fmt: skip
    memory = "" if row["peak_mb"] is None else f"{row['peak_mb']:,.1f} MB"
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}x"
    return [row["work"], way, *timed, memory, ratio, "; ".join(map(str, _bars(row))), row["checked"]]


def _bars(row: Mapping[str, Any]) -> list[Bar]:
    return [Bar(**bar) for bar in row["bars"]]


def _versions(libraries: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in libraries.items())


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def _machines(sections: Mapping[str, Any]) -> list[tuple[Any, list[str]]]:
    """Each different machine, and the titles of what ran on it."""
    found: list[tuple[Any, list[str]]] = []
    for section in sections.values():
        for machine, titles in found:
            if machine == section["machine"]:
                titles.append(section["title"])
                break
        else:
            found.append((section["machine"], [section["title"]]))
    return found
