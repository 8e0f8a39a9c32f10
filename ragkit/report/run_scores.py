"""The scores of a TREC run as tables and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragkit.measures.intervals import estimates
from ragkit.measures.runs import Scores
from ragkit.report.tables import Table, number, table


def notes(scores: Scores) -> list[str]:
    """What a reader should know beside the means; nothing in the ordinary case."""
    return [
        f"{_count(names)} {what}"
        for names, what in (
            (scores.missing, "not in the run: 0 in every mean"),
            (scores.unjudged, "in the run without judgments: ignored"),
            (scores.without_relevant, "judged without a relevant document: in no mean (trec_eval counts 0)"),
        )
        if names
    ]


def scores_table(scores: Scores, *, intervals: bool) -> Table:
    """A row for each measure: mean, its 95 % interval unless it is left out, number of questions."""
    columns = ["measure", "#mean", *(["95 % interval"] if intervals else []), "#questions"]
    rows = []
    for name, found in _measures(scores, intervals=intervals).items():
        interval = [f"{number(found['low'])} to {number(found['high'])}"] if intervals else []
        rows.append([name, number(found["mean"]), *interval, str(found["n"])])
    return table("Measures", columns, rows)


def question_table(scores: Scores) -> Table:
    """A row for each question, in the order of the judgments."""
    values = [column.tolist() for column in scores.values.values()]
    rows = [[question, *map(number, row)] for question, *row in zip(scores.questions, *values, strict=True)]
    return table("Questions", ["question", *(f"#{name}" for name in scores.values)], rows)


def scores_json(scores: Scores, *, intervals: bool, per_question: bool) -> dict[str, Any]:
    """`measures` (mean, low, high, n), the questions that are left out or missing, and `questions` if asked for."""
    found: dict[str, Any] = {
        "measures": _measures(scores, intervals=intervals),
        "missing": list(scores.missing),
        "unjudged": list(scores.unjudged),
        "without_relevant": list(scores.without_relevant),
    }
    if per_question:
        values = [column.tolist() for column in scores.values.values()]
        found["questions"] = {
            question: dict(zip(scores.values, row, strict=True))
            for question, *row in zip(scores.questions, *values, strict=True)
        }
    return found


def _measures(scores: Scores, *, intervals: bool) -> dict[str, dict[str, Any]]:
    if not intervals:
        return {name: {"mean": mean, "n": len(scores.questions)} for name, mean in scores.means().items()}
    found = estimates({name: column.tolist() for name, column in scores.values.items()})
    return {name: {"mean": e.mean, "low": e.low, "high": e.high, "n": e.n} for name, e in found.items()}


def _count(names: Sequence[str]) -> str:
    return f"{len(names)} question{'' if len(names) == 1 else 's'} ({names[0]}{' ...' if len(names) > 1 else ''})"
