"""What a benchmark hands over: rows that all look alike, and bars with the distance to them.

A benchmark is a module here with `measure(quick: bool) -> Section`. With `quick` it does as little work as shows
that everything runs; its numbers then mean nothing. `run.py` calls each in a process of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Literal

from timing import Measured

Kind = Literal["ragkit", "peer", "information"]


@dataclass(frozen=True)
class Bar:
    """A promise about a number. `rule` says what is measured, `limit` is the least or the greatest it may be."""

    rule: str
    measured: float
    limit: float
    at_least: bool

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        verdict = "met" if self.met else f"missed by {abs(self.measured - self.limit):.3g}"
        return f"{self.rule} {sign} {self.limit:.4g}: {self.measured:.4g}, {verdict}"


@dataclass(frozen=True)
class Row:
    """One way of doing one piece of work. A row without times only carries bars.

    `amount` of `unit` is done in each of the `seconds`. `ratio` is how many times as fast as the quickest peer this
    way is, by medians. `peak_mb` is what `timing` says of memory, `None` where the system can't tell. `checked` says
    how the result was found equal to that of the others, or what differs.
    """

    work: str
    way: str
    kind: Kind
    seconds: tuple[float, ...] = ()
    amount: float = 0.0
    unit: str = ""
    peak_mb: float | None = None
    ratio: float | None = None
    checked: str = ""
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True)
class Section:
    """The outcome of one benchmark: `rows` for the one table, `notes` (Markdown, made of measured numbers) below it.

    `libraries` are the distributions whose versions belong to the numbers: the peers, and what ragkit leans on here.
    """

    title: str
    rows: list[Row]
    libraries: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def times_as_fast(measured: Mapping[str, Measured], way: str, peers: Collection[str]) -> float:
    """How many times as fast `way` is as the quickest of the peers, by medians."""
    return min(median(measured[peer].seconds) for peer in peers) / median(measured[way].seconds)


def faster(measured: Mapping[str, Measured], way: str, peers: Collection[str], limit: float, against: str) -> Bar:
    """The bar "`limit` times as fast as the quickest of the peers", which the reader knows as `against`."""
    return Bar(f"times the speed of {against}", times_as_fast(measured, way, peers), limit, at_least=True)


def rows(
    work: str,
    measured: Mapping[str, Measured],
    *,
    ours: Sequence[str],
    peers: Collection[str],
    amount: float,
    unit: str,
    checked: str,
    bars: Sequence[Bar] = (),
) -> list[Row]:
    """A row for each way that was measured, in that order; the bars stand with the first of `ours`.

    A way that is in neither `ours` nor `peers` is there for information: it counts in no ratio.
    """
    found = []
    for way, took in measured.items():
        kind: Kind = "ragkit" if way in ours else "peer" if way in peers else "information"
        ratio = times_as_fast(measured, way, peers) if peers else None
        own = tuple(bars) if way == ours[0] else ()
        found.append(Row(work, way, kind, tuple(took.seconds), amount, unit, took.peak_mb, ratio, checked, own))
    return found
