"""A `metrics.json` and a `timing.json`, read strictly: the part of them that a comparison looks at."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragkit.comparison.policy import told
from ragkit.errors import BaselineError, FileError
from ragkit.files import canonical_json, read_json

SCHEMA = "ragkit-metrics-1"
"""The form of `metrics.json` that is read here."""


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
        """16 hexadecimal digits over what decides a ranking: the same for runs on dev and on test, whatever answers them."""
        idle = "name", "dataset", "answers", "evaluation"
        deciding = {k: v for k, v in self.configuration.items() if k not in idle}
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
