"""Citations, declining, AUROC, percentiles, labels and the document unit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from ragkit.errors import UsageError
from ragkit.measures.citations import CitationScore, score_citations
from ragkit.measures.document_unit import collapse, document_grades
from ragkit.measures.labels import group_grades
from ragkit.measures.latency import nearest_rank
from ragkit.measures.unanswerable import Declining, auroc, declining
from ragkit.records import Hit, Judgment


def test_citations_by_hand():
    """Two judged blocks; cited: one of them twice, a wrong block, one that does not exist."""
    cited = [("a", 1), ("a", 1), ("b", 0), ("a", 99)]
    found = score_citations(cited, judged=[("a", 1), ("a", 2)], resolved=[("a", 1), ("b", 0)])
    assert found == CitationScore(cited=3, precision=1 / 3, recall=1 / 2, f1=2 / 5, resolution=2 / 3, all_judged=False)


def test_answer_without_citations_has_no_precision_and_zero_recall():
    found = score_citations([], judged=[("a", 1)], resolved=[])
    assert found == CitationScore(0, None, 0.0, 0.0, None, all_judged=False)


def test_seed_form_looks_at_resolved_citations_only():
    assert score_citations([("a", 1), ("z", 9)], [("a", 1)], [("a", 1)]).all_judged
    assert not score_citations([("z", 9)], [("a", 1)], []).all_judged
    assert not score_citations([("a", 1), ("a", 2)], [("a", 1)], [("a", 1), ("a", 2)]).all_judged


def test_citations_of_an_unjudged_question_are_refused():
    with pytest.raises(UsageError, match="its own group"):
        score_citations([("a", 1)], [], [])


@given(*[st.sets(st.integers(0, 5)) for _ in range(2)], st.sets(st.integers(0, 5), min_size=1))
def test_citation_measures_are_between_0_and_1(cited, resolved, judged):
    found = score_citations(cited, judged, resolved)
    assert all(0 <= v <= 1 for v in (found.precision, found.recall, found.f1, found.resolution) if v is not None)


def test_declining_counts_all_four_cells():
    rows = [(True, False)] * 4 + [(True, True)] * 3 + [(False, False)] * 2 + [(False, True)]
    assert declining(rows) == Declining(4, 3, 2, 1)


scores = st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.9]), min_size=1, max_size=8)


@given(scores, scores)
def test_auroc_is_mann_whitneys_u_over_all_pairs(answerable, unanswerable):
    expected = mannwhitneyu(answerable, unanswerable).statistic / (len(answerable) * len(unanswerable))
    assert auroc(answerable, unanswerable) == pytest.approx(expected, abs=1e-12)


def test_auroc_of_an_empty_group_is_unknown_and_no_hit_is_the_lowest_score():
    assert auroc([], [0.5]) is None
    assert auroc([0.5], []) is None
    assert auroc([0.5, None], [None]) == 0.75
    assert auroc([-1.0], [None]) == 1.0


def test_percentile_is_a_value_that_was_measured():
    times = [float(i) for i in range(20, 0, -1)]
    assert nearest_rank(times, 50) == 10
    assert nearest_rank(times, 95) == 19
    assert nearest_rank(times, 95.1) == 20
    assert nearest_rank(times, 100) == 20
    assert nearest_rank([7.0], 1) == 7


@pytest.mark.parametrize(("times", "percent"), [([], 50), ([1.0], 0), ([1.0], 101), ([1.0], float("nan"))])
def test_percentile_of_nothing_or_outside_0_to_100_is_refused(times, percent):
    with pytest.raises(UsageError):
        nearest_rank(times, percent)


def test_group_has_the_largest_grade_of_its_members_at_the_place_of_the_first():
    labels = [
        Judgment("a", grade=2),
        Judgment("b", grade=1, group="fact"),
        Judgment("c", grade=1),
        Judgment("d", grade=3, group="fact"),
    ]
    assert group_grades(labels) == (2, 3, 1)
    assert group_grades([]) == ()


def test_group_name_never_meets_a_place_number():
    assert group_grades([Judgment("a"), Judgment("b", group="0")]) == (1, 1)


def test_documents_take_their_largest_grade_in_label_order():
    labels = [Judgment("b", grade=1), Judgment("a", grade=2, group="f"), Judgment("b", grade=3, group="f")]
    assert list(document_grades(labels).items()) == [("b", 3), ("a", 2)]


def test_collapse_keeps_the_first_hit_of_each_document(document, chunk):
    a, b = document("a", "aaaa"), document("b", "bbbb")
    hits = [Hit(chunk(a, 0, 2), 0.9, 1), Hit(chunk(a, 2, 4), 0.8, 2), Hit(chunk(b, 0, 2), 0.7, 3)]
    assert collapse(hits) == (hits[0], Hit(hits[2].chunk, 0.7, 2))
