"""From per-question scores to the numbers of a run: means, intervals, ties, losses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from ragkit.errors import UsageError
from ragkit.measures import contract
from ragkit.measures.intervals import estimates, mean
from ragkit.measures.losses import STAGES
from ragkit.measures.scorecard import QuestionScore
from ragkit.records import Estimate

Value = TypeVar("Value")

UNTYPED: Final = "(none)"
"""Stands for the type of a question that has none."""


def summarise(scores: Iterable[QuestionScore], draws: int, seed: int) -> dict[str, Estimate]:
    """Means with intervals, and chance levels for recalls, by measure name in the order of `MEASURES`.

    Over the judged questions only; a measure counts those for which it is defined, and is absent when
    there are none. Raises `UsageError` when no question is judged.
    """
    judged = _judged(scores)
    defined = {name: [s for s in judged if name in s.values] for name in contract.MEASURES}
    found = estimates({name: [s.values[name] for s in some] for name, some in defined.items() if some}, draws, seed)
    result = {}
    for name, e in found.items():
        levels = [s.chance[name] for s in defined[name] if name in s.chance]
        result[name] = Estimate(e.mean, e.low, e.high, e.n, mean(levels) if levels else None)
    return result


def summarise_by_type(scores: Iterable[QuestionScore], draws: int, seed: int) -> dict[str, dict[str, Estimate]]:
    """`summarise` for each question type by name; questions without a type are `(none)`."""
    types: dict[str, list[QuestionScore]] = {}
    for score in _judged(scores):
        types.setdefault(score.type or UNTYPED, []).append(score)
    return {name: summarise(types[name], draws, seed) for name in sorted(types)}


@dataclass(frozen=True, slots=True)
class TieExposure:
    """How much of a mean hangs on the order of equal scores: `questions` whose value could differ, and
    the mean if every tie fell badly (`worst`) or well (`best`).
    """

    questions: int
    worst: float
    best: float


def tie_exposure(scores: Iterable[QuestionScore]) -> dict[str, TieExposure]:
    """Exposure of each ranking and budget measure over the judged questions; evidence has none.

    For Recall@k, `questions` is how many depend on a tie at cut-off k. Raises as `summarise`.
    """
    judged = _judged(scores)
    result = {}
    for name in contract.MEASURES:
        bounds = [score.bounds[name] for score in judged if name in score.bounds]
        if bounds:
            questions = sum(worst != best for worst, best in bounds)
            result[name] = TieExposure(questions, mean([w for w, _ in bounds]), mean([b for _, b in bounds]))
    return result


def leave_out_unreached(scores: Iterable[QuestionScore]) -> tuple[list[QuestionScore], list[str]]:
    """Drop each token budget that some question's candidates don't fill, and say which.

    It is dropped for every question: a mean over those that happen to reach it would be another measure.
    """
    kept = list(scores)
    unreached = {name for score in kept for name in score.unreached}
    if not unreached:
        return kept, []

    def without(values: Mapping[str, Value]) -> dict[str, Value]:
        return {name: value for name, value in values.items() if name not in unreached}

    return [replace(s, values=without(s.values), chance=without(s.chance), bounds=without(s.bounds)) for s in kept], [
        name for name in contract.MEASURES if name in unreached
    ]


def count_losses(scores: Iterable[QuestionScore]) -> dict[str, int]:
    """Judgments lost at each stage, every stage named."""
    lost = [loss.stage for score in scores for loss in score.losses]
    return {stage: lost.count(stage) for stage in STAGES}


def coverable_share(scores: Iterable[QuestionScore]) -> float:
    """The share of all judgments that some chunk can cover at all. Raises as `summarise`."""
    flags = [flag for score in _judged(scores) for flag in score.coverable]
    return sum(flags) / len(flags)


def _judged(scores: Iterable[QuestionScore]) -> list[QuestionScore]:
    judged = [score for score in scores if score.judged]
    if not judged:
        raise UsageError("no judged question to score: check the questions file and dataset.split")
    return judged
