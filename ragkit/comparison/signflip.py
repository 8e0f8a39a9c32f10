"""The paired sign-flip test: how often would chance alone give a difference this large?

If a change does nothing, each question's difference is as likely to have the other sign. The test
counts the sign patterns whose sum is at least as far from zero as the one observed (Fisher 1935).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable, Sequence

import numpy as np

EXACT = 20
"""Up to this many differences all 2^m patterns are counted; beyond, DRAWS are drawn."""
DRAWS = 100_000
TOLERANCE = 1e-6
"""Values are rounded to 6 decimals, so a sum of m differences is known to m times this."""
_BLOCK = 2_000_000  # signs drawn at a time: bounds the memory


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
    total = math.fsum(moved)
    least = abs(total) - tau
    if len(moved) <= EXACT:
        sums = np.array(moved[:1])  # its sign is fixed: the other half mirrors this one
        for d in moved[1:]:
            sums = np.concatenate([sums + d, sums - d])
        return float(np.mean(np.abs(sums) >= least))
    generator = np.random.Generator(np.random.PCG64(seed))
    rows = max(1, _BLOCK // len(moved))
    extreme = 0
    for first in range(0, DRAWS, rows):
        kept = generator.integers(0, 2, size=(min(rows, DRAWS - first), len(moved)), dtype=np.uint8)
        extreme += int(np.count_nonzero(np.abs(2 * (kept @ np.array(moved)) - total) >= least))
    return (1 + extreme) / (DRAWS + 1)
