"""The guard: is it sure that the candidate did not get worse by the margin? And Student's t, for it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

GuardState = Literal["holds", "undecided", "broken"]
CONFIDENCE = 0.95
"""One-sided, of each end."""


@dataclass(frozen=True, slots=True)
class Guard:
    """`low` and `high` bound the mean difference, each with 95 % one-sided; `None` for a single question."""

    measure: str
    margin: float
    low: float | None
    high: float | None
    state: GuardState


def judge_guard(measure: str, differences: Sequence[float], margin: float) -> Guard:
    """holds: the lower end is above -margin; broken: certainly worse, and maybe by the margin; else undecided."""
    bounds = t_interval(differences, CONFIDENCE)
    if bounds is None:
        return Guard(measure, margin, None, None, "undecided")
    low, high = bounds
    state: GuardState = "holds" if low > -margin else "broken" if high < 0 else "undecided"
    return Guard(measure, margin, low, high, state)


def t_interval(differences: Sequence[float], confidence: float) -> tuple[float, float] | None:
    """Mean -+ t(confidence, n - 1) s / sqrt(n); `None` for fewer than two values."""
    n = len(differences)
    if n < 2:
        return None
    mean = math.fsum(differences) / n
    half = t_quantile(confidence, n - 1) * statistics.stdev(differences) / math.sqrt(n)
    return round(mean - half, 9), round(mean + half, 9)  # -0.02 is -0.02, whatever the last bits say


def t_quantile(probability: float, freedom: int) -> float:
    """The t that Student's distribution stays below with `probability` (0.5 or more, below 1).

    Bisects the closed form for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).

    >>> round(t_quantile(0.95, 9), 4), round(t_quantile(0.975, 1), 3)
    (1.8331, 12.706)
    """
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < 2 * probability - 1 else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def _within(angle: float, freedom: int) -> float:
    """P(|T| <= sqrt(freedom) tan(angle))."""
    cosine, odd = math.cos(angle), freedom % 2
    term, total = cosine if odd else 1.0, 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= cosine * cosine * (k - 1) / k
    return (angle + math.sin(angle) * total) * 2 / math.pi if odd else math.sin(angle) * total
