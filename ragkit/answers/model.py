"""What an answer is, whoever gave it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragkit.measures.answers import AnswerScore, Cited, score_answer
from ragkit.records import Question, Target
from ragkit.store import Store


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited block by its runtime id; an empty id names none.

    `told` is the place in words that don't change from run to run, for reports of what leads nowhere.
    """

    block_id: str
    told: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question; `text` is `None` when it was declined, which cites nothing.

    `evidence` is the best similarity of a retrieved sentence to the question, in [-1, 1]: what the
    decision to decline was made by, given for declined questions too. `None`: nothing was retrieved,
    or the answer was recorded.
    """

    text: str | None
    citations: tuple[Citation, ...] = ()
    evidence: float | None = None


def score_answers(
    answers: Sequence[Answer], questions: Sequence[Question], targets: Mapping[str, Sequence[Target]], store: Store
) -> list[AnswerScore]:
    """Score each question's answer; its citations go from runtime ids through the database, as in an application.

    `targets` are the located judgments by question id.
    """
    return [
        score_answer(
            question,
            targets.get(question.id, ()),
            answer.text,
            [_locate(citation, store) for citation in answer.citations],
            answer.evidence,
        )
        for question, answer in zip(questions, answers, strict=True)
    ]


def _locate(citation: Citation, store: Store) -> Cited:
    try:
        return store.locate_block(citation.block_id)
    except KeyError:
        return citation.told
