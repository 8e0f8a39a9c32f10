"""Runs in arrays against pytrec_eval, and against a reference that is slow and obvious."""

from __future__ import annotations

import math

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.errors import UsageError
from ragkit.measures.runs import Qrels, score

THEIRS = {"Recall@10": "recall_10", "RR": "recip_rank", "nDCG@10": "ndcg_cut_10"}
DOCUMENTS = [f"d{n}" for n in range(30)] + ["é", "日本", "\U0001f600", "\uffee", "D 1", "d"]

grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), max_size=20)
scores = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.00000001, 1.0000002, 0.5, -3.0]),  # ties, some in float32 alone
    st.floats(-1e30, 1e30, allow_nan=False),
    st.integers(-5, 5),
)
hits = st.dictionaries(st.sampled_from(DOCUMENTS), scores, max_size=36)
questions = st.sampled_from(["q1", "q2", "q3", "q4", "é"])
judgments = st.dictionaries(questions, grades, min_size=1).filter(
    lambda found: any(grade > 0 for each in found.values() for grade in each.values())
)


def reference(grades, hits):
    """One question by the definitions alone."""
    ranking = sorted(hits, key=lambda document: (np.float32(hits[document]) + np.float32(0), document), reverse=True)
    gains = [max(grades.get(document, 0), 0) for document in ranking]
    relevant = sorted((grade for grade in grades.values() if grade > 0), reverse=True)

    def dcg(gains):
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains[:10], start=1))

    return {
        "Recall@10": sum(gain > 0 for gain in gains[:10]) / len(relevant),
        "RR": next((1 / rank for rank, gain in enumerate(gains, start=1) if gain > 0), 0.0),
        "nDCG@10": dcg(gains) / dcg(relevant),
    }


def check(qrels, run):
    if not any(question in run and any(g > 0 for g in grades.values()) for question, grades in qrels.items()):
        with pytest.raises(UsageError, match="none of the judged questions"):
            score(Qrels.of(qrels), run)
        return
    found = score(Qrels.of(qrels), run)
    judged = [question for question, grades in qrels.items() if any(grade > 0 for grade in grades.values())]
    having = {question: qrels[question] for question in judged}  # it crashes where all grades are below 0
    theirs = pytrec_eval.RelevanceEvaluator(having, set(THEIRS.values())).evaluate(run)
    assert list(found.questions) == judged
    for name, values in found.values.items():
        for question, value in zip(judged, values.tolist(), strict=True):
            assert value == theirs.get(question, {}).get(THEIRS[name], 0.0), (question, name)
            assert value == pytest.approx(reference(qrels[question], run.get(question, {}))[name], abs=1e-12)
            assert 0 <= value <= 1
        assert found.means()[name] == math.fsum(values) / len(judged)
    assert set(found.missing) == set(judged) - set(run)
    assert set(found.unjudged) == set(run) - set(qrels)
    assert set(found.without_relevant) == set(qrels) - set(judged)


@settings(max_examples=300, deadline=None)
@given(qrels=judgments, run=st.dictionaries(questions, hits))
def test_every_value_is_pytrec_evals_and_the_definitions(qrels, run):
    check(qrels, run)


def test_ten_thousand_random_rankings():
    """Graded judgments, ties at every second score, empty rankings, more hits than a block has."""
    random = np.random.default_rng(5)
    qrels, run = {}, {}
    for n in range(10_000):
        documents = random.permutation(60)
        retrieved = documents[: random.integers(0, 40)]
        run[f"q{n}"] = {f"d{d}": round(float(random.normal()), int(random.integers(0, 4))) for d in retrieved}
        judged = random.choice(60, size=random.integers(1, 15), replace=False)
        qrels[f"q{n}"] = {f"d{d}": int(random.integers(-1, 4)) for d in judged}
    check(qrels, run)


def test_equal_scores_are_in_descending_order_of_document_as_trec_eval_has_it():
    qrels = Qrels.of({"q": {"b": 1}})
    assert score(qrels, {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}).values["RR"].tolist() == [0.5]
    assert score(qrels, {"q": {"a": 1.00000001, "b": 1.0}}).values["RR"].tolist() == [1.0]  # one float32


def test_a_judged_question_that_the_run_does_not_have_scores_0():
    found = score(Qrels.of({"q": {"a": 1}, "gone": {"a": 1}, "none": {"a": 0}}), {"q": {"a": 1.0}, "new": {"a": 1.0}})
    assert found.means() == {"Recall@10": 0.5, "RR": 0.5, "nDCG@10": 0.5}
    assert (found.missing, found.unjudged, found.without_relevant) == (("gone",), ("new",), ("none",))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_refused_by_name(bad):
    with pytest.raises(UsageError, match=f"question q gives b the score {bad}"):
        score(Qrels.of({"q": {"a": 1}}), {"q": {"a": 1.0, "b": bad}})


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        ({}, "no question has a relevant document"),
        ({"q": {"a": 0, "b": -1}}, "no question has a relevant document"),
        ({"q": {"a": 1.5}}, "whole numbers"),
        ({"q": {"a": "high"}}, "a grade is not a number"),
    ],
)
def test_judgments_that_score_nothing_are_refused(qrels, message):
    with pytest.raises(UsageError, match=message):
        Qrels.of(qrels)
