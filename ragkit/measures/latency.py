"""Percentiles of measured times."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ragkit.errors import UsageError


def nearest_rank(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` % of the values do not exceed: one that was measured.

    `percent` is above 0 and at most 100. Raises `UsageError` for no values or another percentage.

    >>> nearest_rank([4.0, 1.0, 3.0, 2.0], 50), nearest_rank([4.0, 1.0, 3.0, 2.0], 95)
    (2.0, 4.0)
    """
    if not values:
        raise UsageError("no times to take a percentile of")
    if not 0 < percent <= 100:
        raise UsageError(f"percentile {percent:g}: must be above 0 and at most 100")
    # Multiplied first: 0.95 * 20 would be 19.000000000000004 or so, and round up to the next value.
    return sorted(values)[math.ceil(percent * len(values) / 100) - 1]
