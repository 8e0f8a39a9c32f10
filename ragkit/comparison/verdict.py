"""Adopt, reject or cannot decide: the table of the protocol, and the sentence that says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ragkit.comparison.detectable import Headroom
from ragkit.comparison.guard import Guard, GuardState

Decision = Literal["adopt", "reject", "cannot decide"]
Effect = Literal["better", "neither", "worse"]
Reason = Literal["better", "worse", "guard", "no headroom", "not significant", "ties", "not promoted"]

TABLE: Final[dict[tuple[Effect, GuardState], tuple[Decision, Reason]]] = {
    ("better", "holds"): ("adopt", "better"),
    ("better", "undecided"): ("cannot decide", "guard"),
    ("better", "broken"): ("reject", "guard"),
    ("neither", "holds"): ("cannot decide", "not significant"),
    ("neither", "undecided"): ("cannot decide", "not significant"),
    ("neither", "broken"): ("reject", "guard"),
    ("worse", "holds"): ("reject", "worse"),
    ("worse", "undecided"): ("reject", "worse"),
    ("worse", "broken"): ("reject", "worse"),
}
"""Without headroom, `not significant` is `no headroom`."""


@dataclass(frozen=True, slots=True)
class Primary:
    """What was found of the primary measure; `level` is what p is compared with."""

    measure: str
    difference: float
    p: float
    level: float
    min_difference: float

    @property
    def effect(self) -> Effect:
        """better: p <= level and the gain is large enough; worse: p <= level and a loss; else neither."""
        difference = round(self.difference, 9)  # a mean of exactly 0.01 is that, whatever the last bits say
        if self.p <= self.level and difference >= self.min_difference:
            return "better"
        return "worse" if self.p <= self.level and difference < 0 else "neither"


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that a verdict is made of."""

    primary: Primary
    guard: Guard
    headroom: Headroom
    detectable: float


@dataclass(frozen=True, slots=True)
class Verdict:
    decision: Decision
    reason: Reason
    sentence: str

    def __str__(self) -> str:
        return f"{self.decision}: {self.reason}" if self.decision == "cannot decide" else self.decision


def decide(found: Findings) -> Verdict:
    """The verdict by the table."""
    decision, reason = TABLE[found.primary.effect, found.guard.state]
    if reason == "not significant" and not found.headroom.enough:
        reason = "no headroom"
    return Verdict(decision, reason, _sentence(decision, reason, found))


def settle(verdict: Verdict, against: Verdict, favourable: Verdict, *, promoted: bool) -> Verdict:
    """The final verdict: none for a candidate that was not promoted, none that hangs on tied scores.

    `against` and `favourable` are the verdicts when every tie falls against the candidate or for it.
    """
    if not promoted:
        return Verdict(
            "cannot decide",
            "not promoted",
            "Only the configuration that did best on dev gets a verdict, from one test on the test questions;"
            f" here, {verdict.sentence}",
        )
    if against.decision != favourable.decision:
        return Verdict(
            "cannot decide",
            "ties",
            f"The verdict hangs on the order of hits with equal scores: {against.decision} when they fall against"
            f" the candidate, {favourable.decision} when they fall for it.",
        )
    return verdict


def _sentence(decision: Decision, reason: Reason, found: Findings) -> str:
    primary, guard, headroom = found.primary, found.guard, found.headroom
    test = f"p = {primary.p:.4f}, at most {primary.level:g} needed"
    moved = "did not change" if not primary.difference else f"{'rose' if primary.difference > 0 else 'fell'} by"
    change = f"{primary.measure} {moved}" + (f" {abs(primary.difference):.3f}" if primary.difference else "")
    between = "" if guard.low is None else f" (change between {guard.low:+.3f} and {guard.high:+.3f})"
    if reason == "better":
        return f"{change} ({test}), and {guard.measure} did not fall by {guard.margin:g}{between}."
    if reason == "worse":
        return f"{change} ({test})."
    if reason == "guard" and decision == "reject":
        return f"{guard.measure} fell, perhaps by more than {guard.margin:g}{between}; {change} ({test})."
    if reason == "guard":
        return f"{change} ({test}), but {guard.measure} may have fallen by {guard.margin:g} or more{between}."
    if reason == "no headroom":
        return (
            f"{headroom.improvable} of {headroom.n} questions leave the baseline room to improve in"
            f" {primary.measure}, too few for any candidate to prove a gain; {change} ({test})."
        )
    if primary.p <= primary.level:
        return f"{change} ({test}), less than the {primary.min_difference:g} that is worth a change."
    if found.detectable > 1:
        return f"{change} ({test}); so few questions can't prove any difference."
    return f"{change} ({test}); a difference of {found.detectable:.3f} would be found in four cases of five."
