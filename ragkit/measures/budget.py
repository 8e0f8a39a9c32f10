"""Recall within a token budget: what a reader gets who takes B tokens from the top of the ranking.

Chunk size buys Recall@k by construction; this is the measure that compares chunkers fairly.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from ragkit.measures.coverage import Coverage, Interval
from ragkit.records import Chunk, Target

TokenSpans = Callable[[str], Sequence[tuple[int, int]]]
"""Character offsets of each token of a text, without prefix and special tokens."""


class Tokens:
    """Token counts of chunks, and what is left of a chunk that is cut after so many tokens."""

    def __init__(self, token_spans: TokenSpans) -> None:
        self._token_spans = token_spans
        self._ends: dict[tuple[str, int], array[int]] = {}

    def count(self, chunk: Chunk) -> int:
        return len(self._token_ends(chunk))

    def kept(self, chunk: Chunk, tokens: int) -> list[Interval]:
        """The chunk's spans, cut behind its first `tokens` tokens; all of them when it has no more."""
        ends = self._token_ends(chunk)
        if tokens >= len(ends):
            return [(span.start, span.end) for span in chunk.spans]
        limit = chunk.start + ends[tokens - 1] if tokens > 0 else chunk.start
        return [(span.start, min(span.end, limit)) for span in chunk.spans if span.start < limit]

    def _token_ends(self, chunk: Chunk) -> array[int]:
        key = (chunk.slug, chunk.index)
        if (known := self._ends.get(key)) is None:
            # A running maximum: a tokenizer may give a character to several tokens, in any order.
            ends = accumulate((end for _, end in self._token_spans(chunk.text)), max)
            known = self._ends[key] = array("I", ends)
        return known


def starts(lengths: Iterable[int]) -> list[int]:
    """How many tokens stand before each hit.

    >>> starts([3, 4, 5])
    [0, 3, 7]
    """
    return list(accumulate(lengths, initial=0))[:-1]


def covered_within(
    budget: int,
    chunks: Sequence[Chunk],
    before: Sequence[int],
    targets: Iterable[Target],
    tokens: Tokens,
    coverage: Coverage,
) -> frozenset[int]:
    """Groups that the union of what fits into `budget` tokens covers.

    `before[i]` is how many tokens stand before `chunks[i]`; the chunk that crosses the budget is cut at
    it. A quote that the chunker cut in two is covered when both halves are kept.
    """
    targets = tuple(targets)
    wanted = {target.slug for target in targets}
    kept: dict[str, list[Interval]] = defaultdict(list)
    for chunk, start in zip(chunks, before, strict=True):
        if start < budget and chunk.slug in wanted:
            kept[chunk.slug] += tokens.kept(chunk, budget - start)
    return frozenset(
        target.group for target in targets if target.slug in kept and coverage.holds(kept[target.slug], target)
    )


def reaches(budget: int, lengths: Iterable[int]) -> bool:
    """Whether candidates of these lengths fill a budget; else the measure would count what was never looked at."""
    return any(reached >= budget for reached in accumulate(lengths))
