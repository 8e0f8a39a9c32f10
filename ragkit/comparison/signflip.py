"""The paired sign-flip test: how often would chance alone give a difference this large?

If a change does nothing, each question's difference is as likely to have the other sign. The test
counts the sign patterns whose sum is at least as far from zero as the one observed (Fisher 1935).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

EXACT = 20
"""Up to this many differences all 2^m patterns are counted; beyond, DRAWS are drawn."""
DRAWS = 100_000
TOLERANCE = 1e-6
"""Values are rounded to 6 decimals, so a sum of m differences is known to m times this."""
_GROUP = 10  # signs drawn at once, as a number that picks one of 2^10 sums


def seed_of(baseline_id: str, candidate_id: str, measure: str, split: str) -> int:
    """The seed of a test: the same pair, measure and split always draw the same signs."""
    text = f"20240501|{baseline_id}|{candidate_id}|{measure}|{split}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def signflip(differences: Sequence[float], seed: int) -> float:
    """Two-sided p that the differences are symmetric around zero; 1 when none differs from zero.

    Without the tolerance, sums that are equal on paper would count as smaller:

    >>> signflip([0.1, 0.2, 0.3, -0.1, 0.7, 0.1], seed=0)
    0.125
    """
    moved = [d for d in differences if abs(d) > TOLERANCE]
    return _p(moved, len(moved) * TOLERANCE, seed)


def cluster_signflip(differences: Sequence[float], clusters: Sequence[Hashable], seed: int) -> float:
    """As `signflip`, but the differences of one cluster change their signs together.

    `clusters` names the cluster of each difference. For questions that aren't independent.
    """
    members: dict[Hashable, list[float]] = {}
    for difference, cluster in zip(differences, clusters, strict=True):
        members.setdefault(cluster, []).append(difference)
    sums = [math.fsum(own) for own in members.values()]
    tau = sum(abs(d) > TOLERANCE for d in differences) * TOLERANCE
    return _p([s for s in sums if abs(s) > TOLERANCE], tau, seed)


def _p(moved: Sequence[float], tau: float, seed: int) -> float:
    if not moved:
        return 1.0
    least = abs(math.fsum(moved)) - tau
    if len(moved) <= EXACT:
        return float(np.mean(np.abs(_signed_sums(moved)) >= least))
    generator = np.random.Generator(np.random.PCG64(seed))
    sums = np.zeros(DRAWS)
    for first in range(0, len(moved), _GROUP):
        patterns = _signed_sums(moved[first : first + _GROUP])
        sums += patterns[generator.integers(0, len(patterns), DRAWS)]
    return (1 + int(np.count_nonzero(np.abs(sums) >= least))) / (DRAWS + 1)


def _signed_sums(values: Sequence[float]) -> NDArray[np.float64]:
    """The sums of `values` under all 2^n patterns of signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums
