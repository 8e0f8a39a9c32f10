"""`metrics.json`, `rankings.jsonl` and the TREC files: what is compared, so nothing volatile is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ragkit.config import Configuration
from ragkit.files import canonical_json, canonical_line
from ragkit.interop import trec
from ragkit.measures import (
    CONTRACT,
    QuestionScore,
    count_losses,
    coverable_share,
    summarise,
    summarise_by_type,
    tie_exposure,
)
from ragkit.measures.answers import AnswerScore
from ragkit.measures.unanswerable import auroc
from ragkit.records import Hit, Question
from ragkit.report.answers import answer_record, answer_sections, estimates

SCHEMA = "ragkit-metrics-1"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a run found out: `scores` are in the order of `questions`; `splits` maps question ids.

    `dataset` has the hashes and counts of corpus, questions and index; `model` is what the encoder says
    of itself. `answers`, scored, are in the order of `questions`; `recorded` is the SHA-256 of the file
    they were read from, `None` when the configuration's own answerer gave them.
    """

    settings: Configuration
    dataset: Mapping[str, Any]
    model: Mapping[str, Any]
    questions: Sequence[Question]
    splits: Mapping[str, str]
    scores: Sequence[QuestionScore]
    answers: Sequence[AnswerScore]
    recorded: str | None = None


def metrics(evaluation: Evaluation) -> dict[str, Any]:
    """The content of `metrics.json`: plain JSON values, floats not yet rounded."""
    settings, scores = evaluation.settings, evaluation.scores
    draws, seed = settings.evaluation.bootstrap, settings.evaluation.seed
    return {
        "schema": SCHEMA,
        "configuration": {"name": settings.name, **settings.identity()},
        "config_id": settings.config_id,
        "dataset": dict(evaluation.dataset),
        "model": dict(evaluation.model),
        "contract": CONTRACT,
        "measures": estimates(summarise(scores, draws, seed)),
        "by_type": {name: estimates(found) for name, found in summarise_by_type(scores, draws, seed).items()},
        **answer_sections(evaluation.answers, settings, evaluation.recorded),
        "unanswerable": _unanswerable(scores),
        "ties": {
            name: {"questions": tie.questions, "worst": tie.worst, "best": tie.best}
            for name, tie in tie_exposure(scores).items()
        },
        "losses": {"coverable": coverable_share(scores), "stages": count_losses(scores)},
        "questions": [
            {**_question(question, score, evaluation.splits.get(question.id)), "answer": answer_record(answer)}
            for question, score, answer in zip(evaluation.questions, scores, evaluation.answers, strict=True)
        ],
    }


def stable_files(evaluation: Evaluation, found: Mapping[str, Any]) -> dict[str, str]:
    """File name -> content of everything that is byte-identical on a rerun; `found` is `metrics(evaluation)`."""
    judged = [score for score in evaluation.scores if score.judged]
    if evaluation.settings.evaluation.unit == "document":
        rankings = {s.id: [hit.chunk.slug for hit in s.ranking] for s in judged}
        qrels = {s.id: dict(zip(s.judged_documents, s.grades, strict=True)) for s in judged}
    else:
        rankings = {s.id: trec.passage_ranking(s.slots, len(s.ranking)) for s in judged}
        qrels = {s.id: trec.passage_judgments(s.grades) for s in judged}
    lines = [
        canonical_line({"id": s.id, "hits": [_ranked(h, c) for h, c in zip(s.ranking, s.covered, strict=True)]})
        for s in evaluation.scores
    ]
    return {
        "metrics.json": canonical_json(found),
        "rankings.jsonl": "".join(lines),
        "run.trec": trec.format_run(rankings),
        "qrels.trec": trec.format_qrels(qrels),
    }


def _unanswerable(scores: Sequence[QuestionScore]) -> dict[str, Any]:
    answerable = [s.top_score for s in scores if s.judged]
    others = [s.top_score for s in scores if not s.judged]
    return {"n": len(others), "answerable": len(answerable), "auroc": auroc(answerable, others)}


def _question(question: Question, score: QuestionScore, split: str | None) -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.question,
        "type": question.type,
        "split": split,
        "answerable": question.answerable,
        "documents": list(dict.fromkeys(judgment.document for judgment in question.relevant)),
        "measures": dict(score.values),
        "bounds": {name: list(bounds) for name, bounds in score.bounds.items() if bounds[0] != bounds[1]},
        "first_ranks": list(score.first_ranks),
        "losses": [
            {
                "judgment": loss.judgment,
                "stage": loss.stage,
                "nearest_wrong": None if loss.nearest_wrong is None else place(loss.nearest_wrong),
            }
            for loss in score.losses
        ],
        "hits": [
            {"at": place(hit), "score": hit.score, "covers": list(covered)}
            for hit, covered in zip(score.ranking, score.covered, strict=True)
        ],
    }


def place(hit: Hit) -> str:
    """Where a hit is, as people write it: slug, then the first and last block that it holds a part of."""
    first, last = hit.chunk.spans[0].block, hit.chunk.spans[-1].block
    return f"{hit.chunk.slug}#{first}" if first == last else f"{hit.chunk.slug}#{first}-{last}"


def _ranked(hit: Hit, covered: Sequence[int]) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "document": hit.chunk.slug,
        "spans": [[span.block, span.start, span.end] for span in hit.chunk.spans],
        "score": hit.score,
        "covered": list(covered),
    }
