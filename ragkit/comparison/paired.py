"""Two evaluations, refused when they don't compare, paired question by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragkit.comparison.evaluation import Metrics, ScoredQuestion
from ragkit.comparison.signflip import TOLERANCE
from ragkit.errors import BaselineError, UsageError
from ragkit.files import DECIMALS

Split = Literal["all", "dev", "test"]
Ties = Literal["as ranked", "against", "for"]
"""Hits of equal score: as they were ordered, or all of them against (for) the candidate."""


def check_comparable(baseline: Metrics, candidate: Metrics) -> None:
    """Raise `BaselineError`, with every reason, unless both were made on one dataset under one contract."""
    pairs = {
        "the corpus (its hash)": (baseline.dataset.corpus, candidate.dataset.corpus),
        "the questions (their hash)": (baseline.dataset.questions, candidate.dataset.questions),
        "splits.json (its hash)": (baseline.dataset.splits, candidate.dataset.splits),
        "the coverage version": (baseline.contract["coverage"], candidate.contract["coverage"]),
        "the model's source": (baseline.model.source, candidate.model.source),
        "evaluation.unit": (baseline.unit, candidate.unit),
    }
    for key in sorted({*baseline.contract, *candidate.contract} - {"coverage"}):
        pairs[f"the contract ({key})"] = (baseline.contract.get(key), candidate.contract.get(key))
    reasons = [f"{what} differs: {_short(a)} and {_short(b)}" for what, (a, b) in pairs.items() if a != b]
    if reasons:
        told_all = "\n".join(f"  {reason}" for reason in reasons)
        raise BaselineError(
            f"{baseline.path} and {candidate.path} do not compare:\n{told_all}\n"
            "Evaluate both on the same data and contract, or freeze a new baseline."
        )


def _short(value: Any) -> str:
    text = str(value)
    return text[:12] + "..." if len(text) == 64 else text


@dataclass(frozen=True, slots=True)
class Pair:
    """One judged question, as both systems answered it."""

    baseline: ScoredQuestion
    candidate: ScoredQuestion

    def values(self, measure: str, ties: Ties = "as ranked") -> tuple[float, float] | None:
        """Baseline's and candidate's value; `None` where the measure is not defined."""
        if measure not in self.baseline.measures or measure not in self.candidate.measures:
            return None
        (b_low, b, b_high), (c_low, c, c_high) = self.baseline.spread(measure), self.candidate.spread(measure)
        return {"as ranked": (b, c), "against": (b_high, c_low), "for": (b_low, c_high)}[ties]


def difference(values: tuple[float, float]) -> float:
    """Candidate minus baseline; 0 up to the rounding of the files.

    >>> difference((0.666667, 0.666666)), difference((0.98, 1.0))
    (0.0, 0.02)
    """
    found = round(values[1] - values[0], DECIMALS)
    return 0.0 if abs(found) <= TOLERANCE else found


def pair(baseline: Metrics, candidate: Metrics, split: Split = "all") -> list[Pair]:
    """The judged questions of `split`, in the baseline's order.

    Raises `BaselineError` as `check_comparable`, and when one side has questions that the other lacks;
    `UsageError` when the split has no judged question.
    """
    check_comparable(baseline, candidate)
    left, right = _chosen(baseline, split), _chosen(candidate, split)
    if left.keys() != right.keys():
        only = sorted(left.keys() ^ right.keys())
        hint = "compare with --split, or " if split == "all" else ""
        raise BaselineError(
            f"{baseline.path} has {len(left)} questions, {candidate.path} {len(right)};"
            f" {len(only)} are in one only, {only[0]!r} say: {hint}evaluate both on the same dataset.split"
        )
    pairs = [Pair(question, right[identifier]) for identifier, question in left.items()]
    judged = [both for both in pairs if both.baseline.measures]
    if not judged:
        raise UsageError(f"no judged question in split {split!r}: there is nothing to compare")
    return judged


def _chosen(metrics: Metrics, split: Split) -> dict[str, ScoredQuestion]:
    return {question.id: question for question in metrics.questions if split in ("all", question.split)}


def paired_values(pairs: Sequence[Pair], measure: str, ties: Ties = "as ranked") -> list[tuple[float, float]]:
    """(baseline, candidate) of every question for which the measure is defined."""
    return [values for values in (both.values(measure, ties) for both in pairs) if values is not None]
