"""Two `metrics.json`, read strictly, refused when they don't compare, paired question by question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragkit.comparison.policy import told
from ragkit.comparison.signflip import TOLERANCE
from ragkit.errors import BaselineError, FileError, UsageError
from ragkit.files import DECIMALS, canonical_json, read_json

SCHEMA = "ragkit-metrics-1"
"""The form of `metrics.json` that is read here."""

Split = Literal["all", "dev", "test"]
Ties = Literal["as ranked", "against", "for"]
"""Hits of equal score: as they were ordered, or all of them against (for) the candidate."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)


Share = Annotated[float, Field(ge=0, le=1)]


class ScoredHit(_Part):
    at: Annotated[str, Field(pattern=r"#\d+(-\d+)?$")]
    score: float
    covers: list[int]


class LostJudgment(_Part):
    judgment: int
    stage: str


class ScoredQuestion(_Part):
    """One entry of `questions`; `bounds` (worst, best over tied orders) has only what ties can change."""

    id: str
    question: str
    type: str | None
    split: str | None
    documents: list[str]
    measures: dict[str, Share]
    bounds: dict[str, Annotated[list[Share], Field(min_length=2, max_length=2)]]
    first_ranks: list[int | None]
    losses: list[LostJudgment]
    hits: list[ScoredHit]

    def spread(self, measure: str) -> tuple[float, float, float]:
        """Worst, actual and best value over the orders of tied hits."""
        value = self.measures[measure]
        worst, best = self.bounds.get(measure, (value, value))
        return worst, value, best


class Dataset(_Part):
    corpus: str
    questions: str
    splits: str | None
    chunks: int
    index_bytes: int


class Model(_Part):
    name: str
    source: str


class _Evaluation(_Part):
    unit: str


class _Configuration(_Part):
    name: str
    evaluation: _Evaluation


class _Contract(_Part):
    coverage: str


class _Required(_Part):
    """What must be in the entries that are otherwise kept as they are."""

    configuration: _Configuration
    contract: _Contract


class Metrics(_Part):
    """The part of a `metrics.json` that a comparison looks at; `path` is where it was read, for messages."""

    path: str
    configuration: dict[str, Any]
    config_id: str
    dataset: Dataset
    model: Model
    contract: dict[str, Any]
    questions: list[ScoredQuestion]

    @property
    def name(self) -> str:
        return str(self.configuration["name"])

    @property
    def unit(self) -> str:
        return str(self.configuration["evaluation"]["unit"])

    @property
    def system_id(self) -> str:
        """16 hexadecimal digits over what decides a ranking: the same for a run on dev and one on test."""
        deciding = {k: v for k, v in self.configuration.items() if k not in ("name", "dataset", "evaluation")}
        return hashlib.sha256(canonical_json(deciding).encode()).hexdigest()[:16]


class Latency(_Part):
    """Milliseconds per question."""

    p50: float
    p95: float


class Timing(_Part):
    """The part of a `timing.json` that is shown; `fingerprint` is the machine's."""

    latency_ms: Latency
    fingerprint: str


def read_timing(metrics: Path) -> Timing | None:
    """What a run cost: timing.json beside its metrics.json, `<name>.timing.json` beside a baseline's `<name>.json`.

    `None` when there is none. Raises `FileError` when it can't be read.
    """
    path = metrics.with_name("timing.json" if metrics.name == "metrics.json" else f"{metrics.stem}.timing.json")
    if not path.exists():
        return None
    try:
        return Timing.model_validate(read_json(path))
    except ValidationError as error:
        raise FileError("\n".join(f"{path}: {line}" for line in told(error))) from error


def read_metrics(path: Path) -> Metrics:
    """Read a `metrics.json`. Raises `FileError` when it isn't one (unreadable, cut off, keys missing, values
    out of range; every problem is told), `BaselineError` when another version of ragkit wrote its form.
    """
    raw = read_json(path)
    if not isinstance(raw, dict) or "schema" not in raw:
        raise FileError(f"{path}: not a metrics.json: `schema` is missing")
    if raw["schema"] != SCHEMA:
        raise BaselineError(
            f"{path}: written in the form {raw['schema']!r}, this ragkit reads {SCHEMA!r}:"
            " evaluate again, or use the ragkit that wrote it"
        )
    try:
        metrics = Metrics.model_validate({**raw, "path": str(path)})
        _Required.model_validate(raw)
    except ValidationError as error:
        lines = told(error)
        more = [f"and {len(lines) - 5} more"] if len(lines) > 5 else []
        problems = "\n".join(f"{path}: {line}" for line in [*lines[:5], *more])
        raise FileError(f"{problems}\n{path}: not a whole metrics.json: evaluate again") from error
    ids = [question.id for question in metrics.questions]
    if len(set(ids)) < len(ids):
        twice = next(identifier for identifier in ids if ids.count(identifier) > 1)
        raise FileError(f"{path}: question {json.dumps(twice)} stands twice: evaluate again")
    return metrics


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
