"""What a comparison found, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ragkit.comparison.detectable import Headroom
from ragkit.comparison.guard import Guard
from ragkit.comparison.paired import Split
from ragkit.comparison.verdict import Primary, Verdict

SCHEMA = "ragkit-comparison-1"


@dataclass(frozen=True, slots=True)
class Delta:
    """One measure over `n` questions: both means, their difference (candidate - baseline) with its 95 % interval
    (`None` for a single question), and how many questions gained, lost and stayed.

    The tests are `None` by type: `p` of single questions, `p_documents` with the questions on one document taken
    together (those of `documents` documents), `detectable` the difference that would have been found.
    """

    measure: str
    n: int
    baseline: float
    candidate: float
    difference: float
    low: float | None
    high: float | None
    wins: int
    losses: int
    ties: int
    p: float | None = None
    p_documents: float | None = None
    documents: int | None = None
    detectable: float | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A question whose primary or guard value moved; `primary` and `guard` are (baseline, candidate).

    `flipped`: its primary value moved. `worse`: that fell, or it stayed and the guard's fell; then `lost_at` says,
    for each judgment that ranks lower now, which stage lost it. The hits are each side's first five.
    """

    id: str
    question: str
    type: str | None
    primary: tuple[float, float] | None
    guard: tuple[float, float] | None
    flipped: bool
    worse: bool
    lost_at: tuple[str, ...]
    baseline_hits: tuple[dict[str, Any], ...]
    candidate_hits: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class System:
    """One side. Times are in ms, `None` when no timing.json lay beside; they belong to `machine`'s fingerprint."""

    name: str
    config_id: str
    chunks: int
    index_bytes: int
    p50: float | None
    p95: float | None
    machine: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything that a comparison found; plain data, `dataclasses.asdict` gives its JSON.

    `settings` are the configuration entries that differ: (entry, baseline, candidate). `confirmation` is the entry
    in the ledger of a confirmatory test.
    """

    schema: str
    baseline: System
    candidate: System
    split: Split
    settings: tuple[tuple[str, Any, Any], ...]
    verdict: Verdict
    primary: Primary
    guard: Guard
    headroom: Headroom
    measures: tuple[Delta, ...]
    by_type: dict[str, tuple[Delta, ...]]
    changed: tuple[Changed, ...]
    notes: tuple[str, ...]
    confirmation: dict[str, Any] | None = None
