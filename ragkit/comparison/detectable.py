"""What a comparison can't see: differences too small for its questions, gains that a full score hides."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from ragkit.comparison.signflip import TOLERANCE

POWER = 0.80


@dataclass(frozen=True, slots=True)
class Headroom:
    """`improvable` of `n` questions have a baseline value below 1; `enough` if a candidate could reach p <= alpha."""

    improvable: int
    n: int
    enough: bool


def headroom(baseline: Sequence[float], alpha: float) -> Headroom:
    """Whether any candidate could be found better: with h improvable questions the least p is 2^(1-h)."""
    improvable = sum(value < 1 - TOLERANCE for value in baseline)
    return Headroom(improvable, len(baseline), 2.0 ** (1 - improvable) <= alpha)


def detectable_difference(differences: Sequence[float], alpha: float) -> float:
    """The mean difference that would be found with 80 % power, never below the least that p <= alpha takes.

    That least is b whole questions of the n, b = ceil(1 + log2(1 / alpha)). Needs at least one difference.
    """
    n = len(differences)
    least = math.ceil(1 + math.log2(1 / alpha)) / n
    if n < 2:
        return least
    z = statistics.NormalDist().inv_cdf
    return max((z(1 - alpha / 2) + z(POWER)) * statistics.stdev(differences) / math.sqrt(n), least)
