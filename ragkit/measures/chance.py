"""What a random order of the same chunks would score: the level that every recall is read against."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import UsageError
from ragkit.measures.budget import Tokens
from ragkit.measures.coverage import ChunkIndex, Coverage, Interval
from ragkit.records import Target

PERMUTATIONS: Final = 1000
_BLOCK = 50_000  # elements of one block of permutations: bounds the memory, and they stay in the processor's cache


def recall_chance(counts: Sequence[int], chunks: int, k: int) -> float:
    """Expected Recall@k of a random order; in [0, 1].

    `counts[j]` is c_j, how many of the N chunks cover judgment j: the mean over j of
    1 - product over i = 0 ... k-1 of max(0, (N - c_j - i) / (N - i)). A judgment that no chunk covers
    adds 0; k >= N finds every other one.

    >>> round(recall_chance([1, 2, 0], chunks=4, k=2), 4)  # (1/2 + 5/6 + 0) / 3
    0.4444
    """
    if not counts:
        raise UsageError("a question without judgments has no chance level")
    total = 0.0
    for count in counts:
        missed = 1.0
        for i in range(min(k, chunks)):
            missed *= max(0, chunks - count - i) / (chunks - i)
        total += 1 - missed
    return total / len(counts)


def document_chance(documents: int, k: int) -> float:
    """Expected Recall@k when whole documents are ranked: min(1, k / documents)."""
    return min(1.0, k / documents)


class BudgetChance:
    """Expected Recall@Btok over seeded random orders of all chunks.

    The same permutations serve every question and budget. Only what fits into the largest budget is
    kept of each, so memory follows `permutations` x chunks per budget, not the corpus.
    """

    def __init__(
        self,
        index: ChunkIndex,
        tokens: Tokens,
        coverage: Coverage,
        *,
        budgets: Sequence[int],
        seed: int,
        permutations: int = PERMUTATIONS,
    ) -> None:
        self._index, self._tokens, self._coverage = index, tokens, coverage
        self._budgets, self._permutations = tuple(budgets), permutations
        self._lengths = np.array([tokens.count(chunk) for chunk in index.chunks], dtype=np.int64)
        draws, chunks, starts = [], [], []
        generator = np.random.Generator(np.random.PCG64(seed))
        rows = max(1, _BLOCK // len(self._lengths))
        for first in range(0, permutations, rows):
            count = min(rows, permutations - first)
            order = generator.permuted(np.tile(np.arange(len(self._lengths)), (count, 1)), axis=1)
            length = self._lengths[order]
            before = np.cumsum(length, axis=1) - length
            row, column = np.nonzero(before < max(budgets))
            draws.append(row + first)
            chunks.append(order[row, column])
            starts.append(before[row, column])
        chunk = np.concatenate(chunks)
        by_chunk = np.argsort(chunk, kind="stable")
        self._draw = np.concatenate(draws)[by_chunk]
        self._start = np.concatenate(starts)[by_chunk]
        self._bounds = np.searchsorted(chunk[by_chunk], np.arange(len(self._lengths) + 1))

    def covered(self, target: Target) -> NDArray[np.bool_]:
        """(budgets, permutations): whether what fits into the budget covers the target."""
        near = self._index.overlapping(target)
        start = np.full((self._permutations, len(near)), max(self._budgets))
        for column, position in enumerate(near):
            entries = slice(self._bounds[position], self._bounds[position + 1])
            start[self._draw[entries], column] = self._start[entries]
        reached = np.flatnonzero((start < max(self._budgets)).any(axis=1))  # few, and the others keep nothing
        start, lengths = start[reached], self._lengths[near]
        known: dict[tuple[int, ...], bool] = {}  # few combinations recur in most permutations
        found = np.zeros((len(self._budgets), self._permutations), dtype=bool)
        for of_budget, budget in zip(found, self._budgets, strict=True):
            kept = [tuple(tokens) for tokens in np.clip(budget - start, 0, lengths).tolist()]
            known.update({tokens: self._holds(near, tokens, target) for tokens in set(kept) - known.keys()})
            of_budget[reached] = [known[tokens] for tokens in kept]
        return found

    def recalls(self, groups: Sequence[Sequence[Target]]) -> list[float]:
        """Per budget, the mean over groups of the share of permutations that cover a member."""
        shares = np.zeros(len(self._budgets))
        for members in groups:
            if members:
                shares += np.any([self.covered(target) for target in members], axis=0).mean(axis=1)
        return [float(share) / len(groups) for share in shares]

    def _holds(self, near: Sequence[int], kept: Sequence[int], target: Target) -> bool:
        """Whether the first `kept` tokens of the chunks that are `near` cover the target."""
        intervals: list[Interval] = []
        for position, count in zip(near, kept, strict=True):
            if count:
                intervals += self._tokens.kept(self._index.chunks[position], count)
        return self._coverage.holds(intervals, target)
