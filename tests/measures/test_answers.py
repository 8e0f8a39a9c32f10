"""Answers and citations reckoned by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.measures.answers import (
    AnswerScore,
    Cited,
    chrf,
    score_answer,
    summarise_answers,
    summarise_citations,
    token_f1,
    tokens,
)
from ragkit.measures.unanswerable import Threshold, learn_threshold
from ragkit.records import Judgment, Question, Span, Target


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The battery, an O-ring and a lid!", ["battery", "oring", "and", "lid"]),
        ("“Straße” 2.5 V; 1,200 h. v2.", ["strasse", "2.5", "v", "1.200", "h", "v2"]),
        ("电池寿命6年。", ["电", "池", "寿", "命", "6", "年"]),
        ("メーター（赤）は20℃", ["メ", "ー", "タ", "ー", "赤", "は", "20℃"]),
        ("...", []),
    ],
)
def test_tokens_are_compared_without_presentation(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [
        ("The six years.", "six years", 1.0),
        ("about six years", "six long years", 2 / 3),  # 2 of 3 and 2 of 3
        ("years years", "years", 2 / 3),  # one of two counts
        ("ten", "six", 0.0),
        ("", "six", 0.0),
        ("the", "an", 1.0),  # neither has a token
        ("六年", "六个月", 2 / 5),
    ],
)
def test_token_f1(answer: str, gold: str, expected: float) -> None:
    assert token_f1(answer, gold) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("answer", "gold", "expected"),
    [  # what sacrebleu 2.6.0 gives: CHRF().sentence_score(answer, [gold]).score / 100
        ("six years", "six years", 1.0),
        ("It lasts six years.", "six years", 0.7674880456578744),
        ("six", "The battery lasts six years.", 0.10500221693740176),
        ("电池寿命为六年。", "寿命六年", 0.3403465346534653),
        ("a", "ab", 0.5555555555555556),
        ("xyz", "abc", 0.0),
        ("", "abc", 0.0),
        ("Die Dichtung hält", "Die Dichtung wird mit 63 N gehalten", 0.3811781725990873),
    ],
)
def test_chrf_is_that_of_sacrebleu(answer: str, gold: str, expected: float) -> None:
    assert chrf(answer, gold) == pytest.approx(expected, abs=1e-10)


@given(st.text(max_size=30), st.text(max_size=30))
def test_answer_measures_stay_within_0_and_1(answer: str, gold: str) -> None:
    assert 0 <= chrf(answer, gold) <= 1
    assert 0 <= token_f1(answer, gold) <= 1
    assert token_f1(gold, gold) == 1


def question(*judgments: Judgment, gold: str | None = "six years") -> Question:
    return Question("q", "How long?", judgments, gold, None, bool(judgments), 1)


def quote(document: str, block: int, group: int = 0) -> Target:
    return Target(document, "quote", (Span(block, 0, 5),), 1, group)


TWO = question(Judgment("a", block=1, quote="x"), Judgment("b", block=2, quote="y"))
TARGETS = [quote("a", 1, 0), quote("b", 2, 1)]


@pytest.mark.parametrize(
    ("cited", "precision", "recall", "f1", "resolution", "all_judged"),
    [
        ([("a", 1), ("b", 2)], 1.0, 1.0, 1.0, 1.0, True),
        ([("a", 1), ("a", 1)], 1.0, 0.5, 2 / 3, 1.0, True),  # distinct ones count
        ([("a", 1), ("a", 9)], 0.5, 0.5, 0.5, 1.0, False),
        ([("a", 1), "c#7"], 0.5, 0.5, 0.5, 0.5, True),  # what exists is judged; what doesn't costs precision
        (["c#7"], 0.0, 0.0, 0.0, 0.0, False),
        ([], None, 0.0, 0.0, None, False),
    ],
)
def test_citations_against_the_judged_blocks(
    cited: list[Cited], precision: float | None, recall: float, f1: float, resolution: float | None, all_judged: bool
) -> None:
    found = score_answer(TWO, TARGETS, "six", cited, None).citations
    assert found is not None
    assert (found.precision, found.recall, found.resolution, found.all_judged) == (
        precision,
        recall,
        resolution,
        all_judged,
    )
    assert found.f1 == pytest.approx(f1)


def test_equal_places_are_blocks_of_their_own_but_one_judgment() -> None:
    same = question(Judgment("a", block=1, group="g"), Judgment("b", block=2, group="g"))
    score = score_answer(same, [quote("a", 1), quote("b", 2)], "six", [("b", 2)], None)
    assert score.citations is not None
    assert (score.citations.recall, score.judgment_recall) == (0.5, 1.0)


def test_two_quotes_of_one_block_are_one_block() -> None:
    score = score_answer(TWO, [quote("a", 1, 0), quote("a", 1, 1)], "six", [("a", 1)], None)
    assert score.citations is not None
    assert (score.citations.recall, score.judgment_recall) == (1.0, 1.0)


def test_a_judgment_that_was_not_located_still_counts() -> None:
    score = score_answer(TWO, TARGETS[:1], "six", [("a", 1)], None)
    assert score.citations is not None
    assert (score.citations.recall, score.judgment_recall) == (0.5, 0.5)


@pytest.mark.parametrize("judgment", [Judgment("a"), Judgment("a", page=2)])
def test_judged_pages_and_documents_ask_for_no_block(judgment: Judgment) -> None:
    kind = "page" if judgment.page else "document"
    score = score_answer(question(judgment), [Target("a", kind, (Span(4, 0, 5),), 1, 0)], "six", [("a", 4)], None)
    assert (score.citations, score.judgment_recall) == (None, None)


def test_declining_scores_0_and_an_unanswerable_question_has_no_score() -> None:
    declined = score_answer(TWO, TARGETS, None, [], 0.8)
    assert (declined.declined, declined.f1, declined.chrf) == (True, 0.0, 0.0)
    nothing = score_answer(question(), [], "six", [("a", 1)], 0.8)
    assert (nothing.f1, nothing.chrf, nothing.citations) == (None, None, None)


def test_means_are_over_what_is_defined() -> None:
    scores = [
        score_answer(TWO, TARGETS, "six years", [("a", 1), ("a", 9)], None),
        score_answer(TWO, TARGETS, None, [], None),
        score_answer(question(gold=None), [], "six", ["c#1"], None),
        score_answer(question(Judgment("a"), gold=None), [], "six", [], None),
    ]
    answers = summarise_answers(scores, 100, 1)
    assert {name: (e.mean, e.n) for name, e in answers.items()} == {"f1": (0.5, 2), "chrf": (0.5, 2)}
    assert {name: (e.mean, e.n) for name, e in summarise_citations(scores, 100, 1).items()} == {
        "precision": (0.5, 1), "recall": (0.25, 2), "f1": (0.25, 2), "judgment_recall": (0.25, 2),
        "all_judged": (0.0, 2), "resolution": (1.0, 1),
    }  # fmt: skip
    none: list[AnswerScore] = scores[3:]
    assert (summarise_answers(none, 100, 1), summarise_citations(none, 100, 1)) == ({}, {})


@pytest.mark.parametrize(
    ("answerable", "unanswerable", "value", "accuracy"),
    [
        ([0.9, 0.8], [0.5, 0.6], 0.7, 1.0),  # the middle of the gap
        ([0.5], [0.9], 0.0, 0.5),  # nothing beats answering all
        ([0.7], [0.7], 0.0, 0.5),  # equal scores can't be parted
        ([0.9, 0.7, 0.5], [0.8, 0.6, 0.4], 0.45, 2 / 3),  # 0.45, 0.65 and 0.85 are as good: the smallest
        ([0.9, None], [0.5, None], 0.7, 0.75),  # without a score there is no answer at any threshold
        ([0.3], [-0.5], 0.0, 0.5),  # no negative threshold: 0 is for never
        ([None], [None], 0.0, 0.5),
    ],
)
def test_the_threshold_is_the_smallest_of_the_best(
    answerable: list[float | None], unanswerable: list[float | None], value: float, accuracy: float
) -> None:
    found = learn_threshold(answerable, unanswerable)
    assert found == Threshold(pytest.approx(value), pytest.approx(accuracy))


SCORES = st.lists(st.sampled_from([None, -0.5, 0.0, 0.1, 0.2, 0.3, 0.7, 0.8]), min_size=1, max_size=8)


@given(SCORES, SCORES)
def test_the_threshold_is_what_trying_each_one_gives(
    answerable: list[float | None], unanswerable: list[float | None]
) -> None:
    def accuracy(threshold: float) -> float:
        def answered(score: float | None) -> bool:
            return score is not None and (threshold == 0 or score >= threshold)

        kept, passed = sum(map(answered, answerable)), sum(map(answered, unanswerable))
        return (kept / len(answerable) + 1 - passed / len(unanswerable)) / 2

    scores = sorted({score for score in answerable + unanswerable if score is not None})
    middles = [0.0, *((low + high) / 2 for low, high in pairwise(scores) if low + high > 0)]
    best = max(map(accuracy, middles))
    found = learn_threshold(answerable, unanswerable)
    assert found is not None
    assert found.balanced_accuracy == pytest.approx(best)
    assert found.value == min(threshold for threshold in middles if accuracy(threshold) > best - 1e-9)


def test_no_threshold_without_both_groups() -> None:
    assert learn_threshold([0.9], []) is None
    assert learn_threshold([], [0.9]) is None
