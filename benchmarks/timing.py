"""Comparing ways to do the same work: in one process, in turn, so that a busy machine slows all of them alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence


def alternate(ways: Mapping[str, Callable[[], object]], repeats: int = 5) -> dict[str, list[float]]:
    """Seconds of every run of each way: A, B, A, B, ... after one round of each that is not counted.

    The order turns round every time, so that nobody always runs in the wake of the same neighbour.
    """
    for work in ways.values():
        work()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeats):
        for name in list(ways) if turn % 2 == 0 else reversed(ways):
            gc.collect()
            start = time.perf_counter()
            ways[name]()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def rows(seconds: Mapping[str, Sequence[float]], amount: float, unit: str) -> list[list[str]]:
    """A row for each way: median time, spread, amount a second, how many times as fast as the last way."""
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    peer = list(medians.values())[-1]
    return [
        [
            name,
            f"{median * 1000:.2f} ms",
            f"{min(seconds[name]) * 1000:.2f} to {max(seconds[name]) * 1000:.2f}",
            f"{amount / median:,.4g} {unit}/s",
            f"{peer / median:.2f}x",
        ]
        for name, median in medians.items()
    ]


def show(title: str, body: Sequence[Sequence[str]], header: Sequence[str] = ()) -> None:
    """Print a Markdown table."""
    table = [list(header or ("way", "median", "range", "rate", "against the last")), *map(list, body)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in table]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    print(f"\n### {title}\n\n" + "\n".join(lines))
