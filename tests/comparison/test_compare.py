"""A comparison from two evaluations to the verdict."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats

from ragkit.comparison import Metrics, Policy, compare
from ragkit.errors import UsageError
from ragkit.files import canonical_json

Make = Callable[..., Metrics]
POLICY = Policy()


def rechunked(metrics: Metrics) -> Metrics:
    chunking = {"strategy": "recursive", "chunk_size": 250}
    return metrics.model_copy(update={"configuration": {**metrics.configuration, "chunking": chunking}})


@pytest.mark.parametrize(
    ("baseline", "candidate", "guard", "expected"),
    [
        ([0.0] * 10, [1.0] * 10, [0.5] * 10, "adopt"),
        ([0.0] * 10, [1.0] * 10, [0.9, 0.1] * 5, "cannot decide: guard"),
        ([0.0] * 10, [1.0] * 10, [0.2, 0.3] * 5, "reject"),
        ([0.0] * 10, [1.0] * 3 + [0.0] * 7, [0.5] * 10, "cannot decide: not significant"),
        ([1.0] * 5 + [0.0] * 5, [1.0] * 10, [0.5] * 10, "cannot decide: no headroom"),
        ([0.0] * 10, [1.0] * 3 + [0.0] * 7, [0.2] * 10, "reject"),
        ([1.0] * 10, [0.0] * 10, [0.9] * 10, "reject"),
        ([0.0] * 10, [0.0] * 10, [0.5] * 10, "cannot decide: not significant"),
    ],
)
def test_the_verdict(
    parsed: Make, baseline: list[float], candidate: list[float], guard: list[float], expected: str
) -> None:
    assert str(compare(parsed(baseline), parsed(candidate, guard, name="c"), POLICY).verdict) == expected


def test_ties_that_can_flip_the_verdict_leave_it_open(parsed: Make) -> None:
    """Seven gains are enough for p = 2/128; as ties could take one away, they are not."""
    baseline = parsed([0.0] * 10)
    gains = [1.0] * 7 + [0.0] * 3
    tied = {0: {"Recall@5": [0.0, 1.0]}}
    assert str(compare(baseline, parsed(gains, name="c"), POLICY).verdict) == "adopt"
    found = compare(baseline, parsed(gains, name="c", bounds=tied), POLICY)
    assert str(found.verdict) == "cannot decide: ties"
    # The baseline's ties count as much: its best could have been 1.
    found = compare(parsed([0.0] * 10, bounds=tied), parsed(gains, name="c"), POLICY)
    assert str(found.verdict) == "cannot decide: ties"
    # A tie that decides nothing changes nothing.
    more = parsed([1.0] * 10, name="c", bounds=tied)
    assert str(compare(baseline, more, POLICY).verdict) == "adopt"


def test_ties_in_the_guard_count_too(parsed: Make) -> None:
    tied = {i: {"nDCG@10": [0.1, 0.5]} for i in range(5)}
    found = compare(parsed([0.0] * 10), parsed([1.0] * 10, name="c", bounds=tied), POLICY)
    assert str(found.verdict) == "cannot decide: ties"


def test_dev_only_chooses_and_test_decides(parsed: Make) -> None:
    baseline, candidate = parsed([0.0] * 30), parsed([1.0] * 30, name="c")
    dev, test = (compare(baseline, candidate, POLICY, split) for split in ("dev", "test"))
    assert (str(dev.verdict), dev.headroom.n) == ("cannot decide: not promoted", 10)
    assert (str(test.verdict), test.headroom.n) == ("adopt", 20)
    assert str(compare(baseline, candidate, POLICY, "test", promoted=False).verdict) == "cannot decide: not promoted"


def test_across_chunkings_the_token_budget_decides(parsed: Make) -> None:
    baseline = parsed([0.0] * 10, budget=[0.0] * 10)
    candidate = rechunked(parsed([1.0] * 10, name="c", budget=[0.0] * 10))
    found = compare(baseline, candidate, POLICY)
    assert found.primary.measure == "Recall@1000tok"
    assert str(found.verdict) == "cannot decide: not significant"
    assert found.settings == (("chunking.chunk_size", 500, 250),)
    with pytest.raises(UsageError, match="Recall@1000tok: the policy needs it"):
        compare(parsed([0.0] * 10), rechunked(parsed([1.0] * 10, name="c")), POLICY)


def test_alpha_is_shared_among_the_planned_sweeps(parsed: Make) -> None:
    baseline, candidate = parsed([0.0] * 10), parsed([1.0] * 6 + [0.0] * 4, name="c")  # p = 1/32
    assert str(compare(baseline, candidate, POLICY).verdict) == "cannot decide: not significant"
    assert str(compare(baseline, candidate, Policy(family=["one"])).verdict) == "adopt"


def test_differences_intervals_and_p_values_agree_with_scipy(parsed: Make) -> None:
    generator = np.random.default_rng(4)
    b, c = generator.choice([0.0, 0.5, 1.0], size=(2, 60))
    few = compare(parsed(list(b[:12])), parsed(list(c[:12]), name="c"), POLICY).measures[0]
    d = c[:12] - b[:12]
    theirs = scipy.stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert few.p == pytest.approx(theirs.pvalue, abs=1e-12)
    interval = scipy.stats.ttest_1samp(d, 0).confidence_interval(0.95)
    assert (few.low, few.high) == pytest.approx((max(-1, interval.low), min(1, interval.high)))
    many = compare(parsed(list(b)), parsed(list(c), name="c"), POLICY).measures[0]
    drawn = scipy.stats.bootstrap((c - b,), np.mean, method="percentile", rng=np.random.default_rng(1))
    interval = drawn.confidence_interval
    assert (many.low, many.high) == pytest.approx((interval.low, interval.high), abs=0.01)
    assert many.difference == pytest.approx(np.mean(c - b))
    assert (many.wins, many.losses, many.ties) == (sum(c > b), sum(c < b), sum(c == b))


def test_questions_on_one_document_are_one_event(parsed: Make) -> None:
    documents = ["a.md"] * 8 + ["b.md", "c.md"]
    found = compare(parsed([0.0] * 10, documents=documents), parsed([1.0] * 10, name="c", documents=documents), POLICY)
    recall = found.measures[0]
    assert (recall.p, recall.p_documents, recall.documents) == (2 / 2**10, 2 / 2**3, 3)


def test_types_get_differences_but_no_p_values(parsed: Make) -> None:
    types = ["table"] * 4 + [None] * 6
    found = compare(parsed([0.0] * 10, types=types), parsed([1.0] * 4 + [0.0] * 6, name="c", types=types), POLICY)
    assert {name: deltas[0].difference for name, deltas in found.by_type.items()} == {"(none)": 0.0, "table": 1.0}
    assert all(d.p is None and d.detectable is None for deltas in found.by_type.values() for d in deltas)


def test_changed_questions_tell_what_was_lost_and_both_rankings(parsed: Make) -> None:
    baseline = parsed([1.0, 0.0, 1.0, 1.0], [0.9, 0.0, 0.5, 0.5])
    found = compare(baseline, parsed([0.0, 1.0, 1.0, 1.0], [0.0, 0.9, 0.4, 0.5], name="c"), POLICY)
    assert [(q.id, q.flipped, q.worse) for q in found.changed] == [
        ("q0", True, True), ("q2", False, True), ("q1", True, False),
    ]  # fmt: skip
    lost = found.changed[0]
    assert (lost.primary, lost.guard) == ((1.0, 0.0), (0.9, 0.0))
    assert lost.lost_at == ("candidates (rank 1 to none)",)
    assert [hit["at"] for hit in lost.baseline_hits] == ["0.md#2-3"]
    assert [hit["at"] for hit in lost.candidate_hits] == ["c.md#0"]


def test_rounding_in_the_files_is_no_difference(parsed: Make) -> None:
    found = compare(parsed([0.666667] * 30), parsed([0.666666] * 30, name="c"), POLICY)
    assert (found.primary.p, found.measures[0].ties, found.changed) == (1.0, 30, ())


@pytest.mark.parametrize(
    ("section", "changes", "noted"),
    [
        ("retrieval", {"top_k": 20}, False),
        ("retrieval", {"strategy": "hybrid", "fusion": "rrf", "weight": 1}, False),
        ("retrieval", {"top_k": 20, "threshold": 0.8}, True),
        ("evaluation", {"seed": 2, "bootstrap": 5}, False),
    ],
)
def test_more_than_one_variable_is_pointed_out(
    parsed: Make, section: str, changes: dict[str, object], noted: bool
) -> None:
    candidate = parsed([0.0] * 10, name="c")
    changed = {**candidate.configuration, section: {**candidate.configuration[section], **changes}}
    found = compare(parsed([0.0] * 10), candidate.model_copy(update={"configuration": changed}), POLICY)
    assert bool(found.notes) == noted


def test_a_comparison_is_plain_json_and_the_same_every_time(parsed: Make) -> None:
    generator = np.random.default_rng(2)
    b, c = (list(map(float, values)) for values in generator.choice([0.0, 0.5, 1.0], size=(2, 60)))
    texts = {canonical_json(dataclasses.asdict(compare(parsed(b), parsed(c, name="c"), POLICY))) for _ in range(2)}
    assert len(texts) == 1
    assert json.loads(texts.pop())["schema"] == "ragkit-comparison-1"


def test_one_question_has_no_interval_and_no_verdict(parsed: Make) -> None:
    found = compare(parsed([0.0]), parsed([1.0], name="c"), POLICY)
    assert (found.measures[0].low, found.guard.state) == (None, "undecided")
    assert str(found.verdict) == "cannot decide: no headroom"
