"""One comparison: paired differences, what they prove, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragkit.comparison.changes import changed_questions, differing, notes
from ragkit.comparison.detectable import detectable_difference, headroom
from ragkit.comparison.evaluation import Metrics, Timing
from ragkit.comparison.guard import judge_guard, t_interval
from ragkit.comparison.model import SCHEMA, Comparison, Delta, System
from ragkit.comparison.paired import Pair, Split, Ties, difference, pair, paired_values
from ragkit.comparison.policy import Policy
from ragkit.comparison.signflip import cluster_signflip, seed_of, signflip
from ragkit.comparison.verdict import Findings, Primary, decide, settle
from ragkit.errors import UsageError
from ragkit.measures import MEASURES
from ragkit.measures.intervals import DRAWS, FEW, bootstrap
from ragkit.measures.summary import UNTYPED


def compare(
    baseline: Metrics,
    candidate: Metrics,
    policy: Policy,
    split: Split = "all",
    *,
    promoted: bool | None = None,
    timing: tuple[Timing | None, Timing | None] = (None, None),
) -> Comparison:
    """Compare two evaluations on the questions of `split`.

    `promoted`: whether the candidate may get a verdict; by default not on dev, where candidates are chosen.
    Headroom is that of the compared questions.
    Raises as `paired.pair`, and `UsageError` when no question has the primary or the guard measure.
    """
    pairs = pair(baseline, candidate, split)
    test = _Test(pairs, policy, (baseline.config_id, candidate.config_id), split)
    measure = primary_measure(baseline, candidate, policy)
    found = test.findings(measure)
    verdict = settle(
        decide(found),
        decide(test.findings(measure, "against")),
        decide(test.findings(measure, "for")),
        promoted=split != "dev" if promoted is None else promoted,
    )
    by_type: dict[str, list[Pair]] = {}
    for both in pairs:
        by_type.setdefault(both.baseline.type or UNTYPED, []).append(both)
    settings = differing(baseline.configuration, candidate.configuration)
    return Comparison(
        schema=SCHEMA,
        baseline=_system(baseline, timing[0]),
        candidate=_system(candidate, timing[1]),
        split=split,
        settings=settings,
        verdict=verdict,
        primary=found.primary,
        guard=found.guard,
        headroom=found.headroom,
        measures=tuple(test.with_p(delta) for delta in test.deltas(pairs)),
        by_type={name: tuple(test.deltas(by_type[name])) for name in sorted(by_type)},
        changed=changed_questions(pairs, measure, policy.guard.measure),
        notes=notes(settings, timing),
    )


def primary_measure(baseline: Metrics, candidate: Metrics, policy: Policy) -> str:
    """The measure that decides. With documents as the unit there are no token budgets, and chunk size buys nothing."""
    differs = baseline.configuration.get("chunking") != candidate.configuration.get("chunking")
    return policy.primary.across_chunkings if differs and baseline.unit == "passage" else policy.primary.measure


@dataclass(frozen=True, slots=True)
class _Test:
    """The statistics of one pair on one split; `ids` seed them."""

    pairs: Sequence[Pair]
    policy: Policy
    ids: tuple[str, str]
    split: Split

    def findings(self, measure: str, ties: Ties = "as ranked") -> Findings:
        """What the verdict is made of, with hits of equal score ordered as `ties` says."""
        rule, level = self.policy.guard, self.policy.level
        values, guarded = paired_values(self.pairs, measure, ties), paired_values(self.pairs, rule.measure, ties)
        for name, column in ((measure, values), (rule.measure, guarded)):
            if not column:
                raise UsageError(f"{name}: the policy needs it, and no question has it (evaluation.unit?)")
        differences = [difference(both) for both in values]
        p = signflip(differences, seed_of(*self.ids, measure, self.split))
        return Findings(
            Primary(measure, _mean(differences), p, level, self.policy.primary.min_difference),
            judge_guard(rule.measure, [difference(both) for both in guarded], rule.margin),
            headroom([b for b, _ in values], level),
            detectable_difference(differences, level),
        )

    def deltas(self, pairs: Sequence[Pair]) -> list[Delta]:
        """Every measure over `pairs`, without tests."""
        found = {name: values for name in MEASURES if (values := paired_values(pairs, name))}
        differences = {name: [difference(both) for both in values] for name, values in found.items()}
        ends = self._intervals(differences)
        result = []
        for name, ds in differences.items():
            wins, losses = sum(d > 0 for d in ds), sum(d < 0 for d in ds)
            b, c = (_mean(column) for column in zip(*found[name], strict=True))
            result.append(Delta(name, len(ds), b, c, _mean(ds), *ends[name], wins, losses, len(ds) - wins - losses))
        return result

    def with_p(self, delta: Delta) -> Delta:
        """A measure over all pairs, tested."""
        having = [both for both in self.pairs if both.values(delta.measure)]
        differences = [difference(values) for values in paired_values(having, delta.measure)]
        # The document of its first judgment is a question's own.
        documents = [(both.baseline.documents or [both.baseline.id])[0] for both in having]
        return replace(
            delta,
            p=signflip(differences, seed_of(*self.ids, delta.measure, self.split)),
            p_documents=cluster_signflip(
                differences, documents, seed_of(*self.ids, f"{delta.measure} by document", self.split)
            ),
            documents=len(set(documents)),
            detectable=detectable_difference(differences, self.policy.level),
        )

    def _intervals(self, columns: Mapping[str, list[float]]) -> dict[str, tuple[float | None, float | None]]:
        """95 % intervals of mean differences: whole questions resampled; Student's t for few or equal values."""
        result: dict[str, tuple[float | None, float | None]] = {}
        resampled: dict[int, list[str]] = {}
        for name, values in columns.items():
            if len(values) < FEW or min(values) == max(values):
                ends = t_interval(values, 0.975)
                result[name] = (max(-1.0, ends[0]), min(1.0, ends[1])) if ends else (None, None)
            else:
                resampled.setdefault(len(values), []).append(name)
        for names in resampled.values():
            rows = np.array([columns[name] for name in names]).T
            drawn = bootstrap(rows, DRAWS, seed_of(*self.ids, "intervals", self.split))
            result.update((name, (float(low), float(high))) for name, low, high in zip(names, *drawn, strict=True))
        return result


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _system(metrics: Metrics, timing: Timing | None) -> System:
    return System(
        metrics.name,
        metrics.config_id,
        metrics.dataset.chunks,
        metrics.dataset.index_bytes,
        timing.latency_ms.p50 if timing else None,
        timing.latency_ms.p95 if timing else None,
        timing.fingerprint if timing else None,
    )
