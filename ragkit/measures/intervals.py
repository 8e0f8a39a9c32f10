"""Means over questions and their 95 % intervals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import UsageError
from ragkit.records import Estimate

DRAWS: Final = 10_000
Z: Final = 1.959964
FEW: Final = 30
"""Below this many questions the bootstrap is too narrow."""
_BLOCK = 50_000  # elements of one block of draws: bounds the memory, and they stay in the processor's cache
_KEPT = 4_000_000  # elements of all draws that are kept for the next measure
_DECIMALS = 12  # hides the last bits, which depend on the BLAS, from the rounding done in reports


def mean(values: Sequence[float]) -> float:
    """`math.fsum(values) / n`: exact whatever the order. Raises `UsageError` for no values."""
    if not values:
        raise UsageError("no question to average over: check the questions file and dataset.split")
    return math.fsum(values) / len(values)


def wilson(share: float, n: int) -> tuple[float, float]:
    """The Wilson score interval of n x share successes in n; in [0, 1] (Wilson 1927).

    Never empty at the ends, where the bootstrap is:

    >>> wilson(1.0, 10)[0] < 0.73 < 1.0 == wilson(1.0, 10)[1]
    True
    """
    z2 = Z * Z / n
    centre = (share + z2 / 2) / (1 + z2)
    half = math.sqrt(share * (1 - share) * z2 + z2 * z2 / 4) / (1 + z2)
    return _tidy(max(0.0, centre - half)), _tidy(min(1.0, centre + half))


def bootstrap(values: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """Percentile bootstrap of the column means of (n, m) `values`; (2, m): the 2.5 and 97.5 % points.

    Whole rows (questions) are resampled, the same ones for every column. Percentiles interpolate
    linearly. Memory is bounded whatever n: draws are made in blocks.
    """
    n = len(values)
    means = [times.astype(np.float64) @ values / n for times in _resamples(n, draws, seed)]
    drawn = np.concatenate(means)
    return np.stack([_percentile(drawn, share) for share in (0.025, 0.975)])


def _percentile(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """`np.quantile(values, share, axis=0)` to the bit, without its import of `numpy.ma`, which takes 40 ms."""
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    part = np.partition(values, (below, above), axis=0)
    low, high, weight = part[below], part[above], place - below
    found: NDArray[np.float64] = high - (high - low) * (1 - weight) if weight >= 0.5 else low + (high - low) * weight
    return found


def _resamples(n: int, draws: int, seed: int) -> Iterable[NDArray[np.integer]]:
    """How often each of `n` is in each draw, in blocks of draws; kept while few, for other measures of as many."""
    return _kept_resamples(n, draws, seed) if n * draws <= _KEPT else _drawn(n, draws, seed)


@lru_cache(maxsize=2)
def _kept_resamples(n: int, draws: int, seed: int) -> list[NDArray[np.integer]]:
    return [times.astype(np.uint16) for times in _drawn(n, draws, seed)]


def _drawn(n: int, draws: int, seed: int) -> Iterator[NDArray[np.integer]]:
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _BLOCK // n)
    for first in range(0, draws, rows):
        count = min(rows, draws - first)
        drawn = generator.integers(0, n, size=(count, n)) + np.arange(count)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=count * n).reshape(count, n)


def estimate(values: Sequence[float], draws: int = DRAWS, seed: int = 0, chance: float | None = None) -> Estimate:
    """Mean of per-question values in [0, 1] with its interval. Raises `UsageError` for no values."""
    found = estimates({"": values}, draws, seed)[""]
    return Estimate(found.mean, found.low, found.high, found.n, chance)


def estimates(columns: Mapping[str, Sequence[float]], draws: int = DRAWS, seed: int = 0) -> dict[str, Estimate]:
    """`estimate` of several measures at once: columns of one length share their draws, which is quicker."""
    result = {}
    resampled: dict[int, list[str]] = defaultdict(list)
    for name, values in columns.items():
        average, n = mean(values), len(values)
        if n < FEW or min(values) == max(values):
            result[name] = Estimate(average, *wilson(average, n), n)
        else:
            resampled[n].append(name)
    for n, names in resampled.items():
        low, high = bootstrap(np.array([columns[name] for name in names], dtype=np.float64).T, draws, seed)
        for name, a, b in zip(names, low, high, strict=True):
            result[name] = Estimate(mean(columns[name]), _tidy(float(a)), _tidy(float(b)), n)
    return {name: result[name] for name in columns}


def _tidy(value: float) -> float:
    return round(value, _DECIMALS)
