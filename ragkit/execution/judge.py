"""The verdicts of a sweep: explored on dev, the best one tested once on test. Plain JSON without times."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ragkit.comparison import Comparison, Metrics, Policy, compare, holm, ledger
from ragkit.comparison.compare import primary_measure
from ragkit.execution.grid import Sweep
from ragkit.files import alone
from ragkit.report.sweep import SCHEMA


def judge(
    sweep: Sweep, metrics: Mapping[str, Metrics], baseline: Metrics, policy: Policy, book: Path, *, confirm: bool
) -> dict[str, Any]:
    """The content of a sweep's JSON. `metrics` has the configurations that were executed, by label.

    Where the promoted configuration has its test in the ledger at `book` already, on the same data, that entry is
    used; otherwise the test is made and recorded. There is none when a configuration is missing, because the choice
    would be among some only, nor for a sweep that the policy doesn't plan. Raises as `compare`, `FileError` for a
    damaged ledger.
    """
    policy = _one_measure(baseline, metrics, policy)
    explored = {label: compare(baseline, each, policy, "dev") for label, each in metrics.items()}
    rivals = [label for label, each in metrics.items() if each.system_id != baseline.system_id]
    adjusted = dict(zip(rivals, holm([explored[label].primary.p for label in rivals]), strict=True))
    failed = [variant.label for variant in sweep.variants if variant.label not in metrics]
    best, rule = _promoted(explored, adjusted, policy)
    tested: Comparison | None = None
    untested: str | None
    if failed:
        untested = f"no results of {', '.join(failed)}: the choice would be among some only"
    elif best is None:
        untested = "every configuration is the baseline itself"
    elif sweep.name not in policy.family:
        untested = f"the policy plans {', '.join(policy.family)}; another sweep explores only"
    else:
        tested, untested = _confirmed(baseline, metrics[best], policy, book, confirm)
    rows = [
        {
            "label": variant.label,
            "config_id": variant.config_id,
            "set": list(variant.overrides[:-1]),
            **(_explored(explored[variant.label], adjusted.get(variant.label)) if variant.label in metrics else {}),
            "verdict": _verdict(variant.label, explored, adjusted, best, tested),
        }
        for variant in sweep.variants
    ]
    return {
        "schema": SCHEMA,
        "name": sweep.name,
        "variables": list(sweep.variables),
        "base": sweep.base.as_posix(),
        "baseline": {
            "name": baseline.name,
            "config_id": baseline.config_id,
            "chunks": baseline.dataset.chunks,
            "index_bytes": baseline.dataset.index_bytes,
        },
        "dataset": {name: getattr(baseline.dataset, name) for name in ("corpus", "questions", "splits")},
        "policy": {**policy.model_dump(mode="json", exclude={"check"}), "level": policy.level},
        "primary": primary_measure(baseline, next(iter(metrics.values())), policy) if metrics else None,
        "configurations": rows,
        "promoted": None if best is None else {"label": best, "rule": rule},
        "test": None if tested is None else {**_explored(tested, None), "confirmation": tested.confirmation},
        "untested": untested,
    }


def _one_measure(baseline: Metrics, metrics: Mapping[str, Metrics], policy: Policy) -> Policy:
    """The configurations of a sweep are ranked by one measure: if some chunkings differ, by that for chunkings."""
    across = policy.primary.across_chunkings
    if any(primary_measure(baseline, each, policy) == across for each in metrics.values()):
        return policy.model_copy(update={"primary": policy.primary.model_copy(update={"measure": across})})
    return policy


def _promoted(
    explored: Mapping[str, Comparison], adjusted: Mapping[str, float], policy: Policy
) -> tuple[str | None, str]:
    """Of those found better on dev the one with the largest mean difference; else of all. Of equals the first."""
    if not adjusted:
        return None, ""
    gains = {label: round(explored[label].primary.difference, 9) for label in adjusted}
    better = [
        label for label, p in adjusted.items() if p <= policy.level and gains[label] >= policy.primary.min_difference
    ]
    if better:
        return max(better, key=gains.__getitem__), "the largest difference of those that are better on dev (Holm)"
    return max(gains, key=gains.__getitem__), "the largest difference; none is better on dev (Holm)"


def _confirmed(
    baseline: Metrics, candidate: Metrics, policy: Policy, book: Path, confirm: bool
) -> tuple[Comparison | None, str | None]:
    """The test on the test questions with its entry in the ledger, or why there is none."""
    with alone(book.parent):  # two sweeps must not both find the test missing
        return _confirmed_alone(baseline, candidate, policy, book, confirm)


def _confirmed_alone(
    baseline: Metrics, candidate: Metrics, policy: Policy, book: Path, confirm: bool
) -> tuple[Comparison | None, str | None]:
    pair = {"baseline_system": baseline.system_id, "candidate_system": candidate.system_id}
    data = {"questions": baseline.dataset.questions, "corpus": baseline.dataset.corpus, "split": "test"}
    earlier = [entry for entry in ledger.read_ledger(book) if entry.items() >= pair.items()]
    same = [entry for entry in earlier if entry.items() >= data.items()]
    if earlier and not same:
        return None, "the pair was tested on other data before; ragkit compare --confirm --again tests it again"
    if not same and not confirm:
        return None, "the confirmatory test was not asked for"
    found = compare(baseline, candidate, policy, "test")
    entry = same[-1] if same else ledger.record(book, found, baseline, candidate, len(policy.family))
    return dataclasses.replace(found, confirmation=entry), None


def _explored(found: Comparison, p_holm: float | None) -> dict[str, Any]:
    primary = next(delta for delta in found.measures if delta.measure == found.primary.measure)
    return {
        "chunks": found.candidate.chunks,
        "index_bytes": found.candidate.index_bytes,
        "n": primary.n,
        "p": found.primary.p,
        "p_holm": p_holm,
        "detectable": primary.detectable,
        "guard": dataclasses.asdict(found.guard),
        "headroom": dataclasses.asdict(found.headroom),
        "measures": [dataclasses.asdict(delta) for delta in found.measures],
        "notes": list(found.notes),
        "worse": [
            {"id": q.id, "question": q.question, "primary": q.primary, "guard": q.guard, "lost_at": q.lost_at}
            for q in found.changed
            if q.worse
        ],
        "sentence": found.verdict.sentence,
    }


def _verdict(
    label: str,
    explored: Mapping[str, Comparison],
    adjusted: Mapping[str, float],
    best: str | None,
    tested: Comparison | None,
) -> str:
    if label not in explored:
        return "failed"
    if label not in adjusted:
        return "the baseline itself"
    if label == best:
        return str(tested.verdict) if tested else "cannot decide: not tested"
    return str(explored[label].verdict)
