"""Recall, hit rate, reciprocal rank and nDCG on worked examples and on random rankings."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.errors import UsageError
from ragkit.measures.ranking import first_ranks, hit_rate, ndcg, recall, reciprocal_rank, slots

A, B, C = 0, 1, 2


@pytest.mark.parametrize(
    ("hits", "grades", "expected"),
    [
        ([{A}, {A}, {A}], [1], 1.0),
        ([{A, B}], [1, 1], 1.0),
        ([{A, B}, set(), {C}], [1, 1, 1], 1.0),
        ([{A}, {A}, {B}], [1, 1], (1 + 1 / 2) / (1 + 1 / math.log2(3))),
        ([{A}, {B, C}], [1, 1, 3], 0.8213),
        ([{A, B}, {C}], [1, 1, 3], 0.8213),
        ([], [1], 0.0),
        ([set(), set()], [3], 0.0),
        ([set()] * 10 + [{A}], [1], 0.0),
        ([{j} for j in range(10)], [1] * 12, 1.0),  # the ideal is cut at 10 too
    ],
)
def test_ndcg_examples(hits, grades, expected):
    assert ndcg(first_ranks(hits, len(grades)), grades, depth=10) == pytest.approx(expected, abs=5e-5)


def test_slot_takes_the_highest_grade_then_label_order():
    assert slots((1, 1, 1, 2), (1, 2, 2, 3), 5) == (1, 3, 2, 0, None)


def test_slots_wait_for_their_hit():
    assert slots((3, None, 3), (1, 1, 1), 4) == (None, None, 0, 2)


def test_judgment_is_credited_once_however_many_hits_cover_it():
    ranks = first_ranks([{A}, {A}, {A}], 2)
    assert ranks == (1, None)
    assert recall(ranks, 5, depth=10) == 0.5


def test_recall_divides_by_the_labels_and_is_not_hit_rate():
    ranks = first_ranks([{A}], 4)
    assert recall(ranks, 1, depth=10) == 0.25
    assert hit_rate(ranks, 1, depth=10) == 1.0


def test_cutoffs_include_their_own_rank():
    ranks = (5, 6)
    assert recall(ranks, 5, depth=10) == 0.5
    assert hit_rate((6,), 5, depth=10) == 0.0
    assert reciprocal_rank((10,), depth=10) == 0.1
    assert reciprocal_rank((11,), depth=20) == 0.0
    assert reciprocal_rank((None,), depth=10) == 0.0


@pytest.mark.parametrize("k", [11, 0, -1])
def test_cutoff_outside_the_depth_is_refused(k):
    for measure in (recall, hit_rate):
        with pytest.raises(UsageError, match=f"cut-off {k}: must be from 1 to the retrieval depth, 10"):
            measure((1,), k, 10)


def test_shallow_ranking_has_no_mrr_or_ndcg_at_10():
    with pytest.raises(UsageError, match="cut-off 10"):
        reciprocal_rank((1,), depth=5)
    with pytest.raises(UsageError, match="cut-off 10"):
        ndcg((1,), (1,), depth=5)


def test_question_without_judgments_is_refused():
    with pytest.raises(UsageError, match="its own group"):
        recall((), 1, depth=10)


@st.composite
def rankings(draw):
    judgments = draw(st.integers(1, 6))
    hits = draw(st.lists(st.sets(st.integers(0, judgments - 1), max_size=3), max_size=14))
    grades = draw(st.lists(st.integers(1, 3), min_size=judgments, max_size=judgments))
    return first_ranks(hits, judgments), grades


@given(rankings())
def test_every_measure_is_between_0_and_1(case):
    ranks, grades = case
    measured = [ndcg(ranks, grades, 10), reciprocal_rank(ranks, 10), *(recall(ranks, k, 10) for k in (1, 5, 10))]
    assert all(0 <= value <= 1 for value in measured)


@given(rankings(), st.data())
def test_better_rank_never_lowers_a_measure(case, data):
    ranks, grades = case
    moved = data.draw(st.integers(0, len(ranks) - 1))
    better = list(ranks)
    better[moved] = data.draw(st.integers(1, (ranks[moved] or 15)))
    assert ndcg(better, grades, 10) >= ndcg(ranks, grades, 10) - 1e-15
    assert reciprocal_rank(better, 10) >= reciprocal_rank(ranks, 10)
    assert recall(better, 5, 10) >= recall(ranks, 5, 10)


@given(rankings())
def test_slots_place_each_found_judgment_once_and_not_before_its_hit(case):
    ranks, grades = case
    placed = slots(ranks, grades, 30)
    assert sorted(j for j in placed if j is not None) == [j for j, r in enumerate(ranks) if r is not None]
    assert all(slot >= (ranks[j] or 99) for slot, j in enumerate(placed, start=1) if j is not None)
