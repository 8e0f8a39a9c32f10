"""Every cell of the verdict table, and every reason for not deciding."""

from __future__ import annotations

import pytest

from ragkit.comparison.detectable import Headroom
from ragkit.comparison.guard import Guard
from ragkit.comparison.verdict import TABLE, Findings, Primary, Verdict, decide, settle

EFFECTS = {
    "better": Primary("Recall@5", 0.05, 0.001, 0.025, 0.01),
    "neither": Primary("Recall@5", 0.05, 0.3, 0.025, 0.01),
    "worse": Primary("Recall@5", -0.05, 0.001, 0.025, 0.01),
}
GUARDS = {
    "holds": Guard("nDCG@10", 0.02, -0.01, 0.03, "holds"),
    "undecided": Guard("nDCG@10", 0.02, -0.03, 0.01, "undecided"),
    "broken": Guard("nDCG@10", 0.02, -0.05, -0.01, "broken"),
}
ROOM = Headroom(30, 100, True)
NO_ROOM = Headroom(3, 100, False)


def findings(effect: str, guard: str, headroom: Headroom = ROOM) -> Findings:
    return Findings(EFFECTS[effect], GUARDS[guard], headroom, 0.08)


@pytest.mark.parametrize(
    ("effect", "guard", "expected"),
    [
        ("better", "holds", "adopt"),
        ("better", "undecided", "cannot decide: guard"),
        ("better", "broken", "reject"),
        ("neither", "holds", "cannot decide: not significant"),
        ("neither", "undecided", "cannot decide: not significant"),
        ("neither", "broken", "reject"),
        ("worse", "holds", "reject"),
        ("worse", "undecided", "reject"),
        ("worse", "broken", "reject"),
    ],
)
def test_every_cell(effect: str, guard: str, expected: str) -> None:
    verdict = decide(findings(effect, guard))
    assert str(verdict) == expected
    assert verdict.sentence.endswith(".")
    without = decide(findings(effect, guard, NO_ROOM))
    assert str(without) == expected.replace("not significant", "no headroom")


def test_the_table_has_every_cell() -> None:
    assert len(TABLE) == 9


@pytest.mark.parametrize(
    ("difference", "p", "effect"),
    [
        (0.01, 0.025, "better"),
        (0.3 / 30, 0.001, "better"),
        (0.0099, 0.001, "neither"),  # sure, but too small
        (0.5, 0.0251, "neither"),
        (-0.0001, 0.025, "worse"),  # a loss has no least size
        (-0.5, 0.0251, "neither"),
        (0.0, 1.0, "neither"),
    ],
)
def test_what_is_better_and_worse(difference: float, p: float, effect: str) -> None:
    assert Primary("Recall@5", difference, p, 0.025, 0.01).effect == effect


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (findings("better", "holds"), "Recall@5 rose by 0.050 (p = 0.0010, at most 0.025 needed), and nDCG@10 did not"),
        (findings("better", "undecided"), "but nDCG@10 may have fallen by 0.02 or more"),
        (findings("better", "broken"), "nDCG@10 fell, perhaps by more than 0.02 (change between -0.050 and -0.010)"),
        (findings("neither", "holds"), "a difference of 0.080 would be found in four cases of five"),
        (findings("neither", "holds", NO_ROOM), "3 of 100 questions leave the baseline room to improve"),
        (findings("worse", "holds"), "Recall@5 fell by 0.050"),
        (
            Findings(Primary("Recall@5", 0.005, 0.001, 0.025, 0.01), GUARDS["holds"], ROOM, 0.08),
            "rose by 0.005 (p = 0.0010, at most 0.025 needed), less than the 0.01 that is worth a change",
        ),
        (
            Findings(Primary("Recall@5", 0.0, 1.0, 0.025, 0.01), GUARDS["holds"], ROOM, 1.4),
            "did not change (p = 1.0000, at most 0.025 needed); so few questions can't prove any difference",
        ),
    ],
)
def test_the_sentence_says_why(found: Findings, words: str) -> None:
    assert words in decide(found).sentence


ADOPT, REJECT, UNSURE = (
    decide(found) for found in (findings("better", "holds"), findings("worse", "holds"), findings("neither", "holds"))
)


@pytest.mark.parametrize(
    ("against", "favourable", "expected"),
    [
        (ADOPT, ADOPT, "adopt"),
        (UNSURE, ADOPT, "cannot decide: ties"),
        (REJECT, ADOPT, "cannot decide: ties"),
        (REJECT, UNSURE, "cannot decide: ties"),
    ],
)
def test_a_verdict_that_ties_can_flip_is_none(against: Verdict, favourable: Verdict, expected: str) -> None:
    found = settle(ADOPT, against, favourable, promoted=True)
    assert str(found) == expected
    if "ties" in expected:
        assert f"{against.decision} when they fall against the candidate" in found.sentence


@pytest.mark.parametrize("verdict", [ADOPT, REJECT, UNSURE])
def test_a_candidate_that_was_not_promoted_gets_no_verdict(verdict: Verdict) -> None:
    found = settle(verdict, verdict, verdict, promoted=False)
    assert str(found) == "cannot decide: not promoted"
    assert verdict.sentence in found.sentence
