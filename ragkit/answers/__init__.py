"""Answers with citations: made from the first hits (`extractive`), or read from a file (`recorded`).

A citation carries the runtime id of a block, as an application's would, and is looked up in the
database before it is scored.
"""

from ragkit.answers.extractive import answer_questions
from ragkit.answers.model import Answer, Citation, score_answers
from ragkit.answers.passages import Passages
from ragkit.answers.recorded import AnswerEntry, read_answers, recorded_answers

__all__ = [
    "Answer",
    "AnswerEntry",
    "Citation",
    "Passages",
    "answer_questions",
    "read_answers",
    "recorded_answers",
    "score_answers",
]
