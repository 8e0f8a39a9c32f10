"""The one order of every ranking."""

from __future__ import annotations

from collections.abc import Iterable

from ragkit.records import Chunk, Hit


def ranked(scored: Iterable[tuple[Chunk, float]]) -> tuple[Hit, ...]:
    """Hits by score, the largest first, then slug and start; ranks from 1."""
    order = sorted(scored, key=lambda pair: (-pair[1], pair[0].slug, pair[0].start))
    return tuple(Hit(chunk, score, rank) for rank, (chunk, score) in enumerate(order, 1))
