"""Answers and citations in `metrics.json`, and the tables that are made of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ragkit.config import Configuration
from ragkit.measures.answers import AnswerScore, summarise_answers, summarise_citations
from ragkit.measures.unanswerable import auroc, declining, learn_threshold
from ragkit.records import Estimate
from ragkit.report.tables import Table, number, table


def answer_sections(scores: Sequence[AnswerScore], settings: Configuration, recorded: str | None) -> dict[str, Any]:
    """The sections `citations` and `answers`; `recorded` is the SHA-256 of the answers file, if there is one.

    On dev the extractive answerer's section says from which similarity down it would best decline.
    """
    draws, seed = settings.evaluation.bootstrap, settings.evaluation.seed
    judged = [score.citations for score in scores if score.citations is not None]
    groups = [[score.evidence for score in scores if score.answerable is kind] for kind in (True, False)]
    answers: dict[str, Any] = {
        "source": "extractive" if recorded is None else "recorded",
        "recorded_sha256": recorded,
        "measures": estimates(summarise_answers(scores, draws, seed)),
        "without_gold": sum(score.answerable and score.f1 is None for score in scores),
        "declining": dataclasses.asdict(declining((score.answerable, score.declined) for score in scores)),
        "evidence_auroc": auroc(*groups) if recorded is None else None,
    }
    if recorded is None and settings.dataset.split == "dev":
        learned = learn_threshold(*groups)
        answers["learned_decline_below"] = learned and learned.value
        answers["learned_balanced_accuracy"] = learned and learned.balanced_accuracy
    citations = {
        "measures": estimates(summarise_citations(scores, draws, seed)),
        "uncited": sum(found.cited == 0 for found in judged),
        "unjudged": sum(score.answerable and score.citations is None for score in scores),
    }
    return {"citations": citations, "answers": answers}


def answer_record(score: AnswerScore) -> dict[str, Any]:
    """A question's answer in `metrics.json`; citations as slug#block, those that lead nowhere apart."""
    found = score.citations
    return {
        "text": score.text,
        "declined": score.declined,
        "evidence": score.evidence,
        "citations": [f"{place[0]}#{place[1]}" for place in score.cited if not isinstance(place, str)],
        "unresolved": [place for place in score.cited if isinstance(place, str)],
        "f1": score.f1,
        "chrf": score.chrf,
        "citation_precision": found and found.precision,
        "citation_recall": found and found.recall,
        "citation_f1": found and found.f1,
        "judgment_recall": score.judgment_recall,
        "all_judged": found and found.all_judged,
        "resolution": found and found.resolution,
    }


def estimates(found: Mapping[str, Estimate]) -> dict[str, Any]:
    """Means by measure, as `metrics.json` has them."""
    return {
        name: {"mean": e.mean, "low": e.low, "high": e.high, "n": e.n}
        | ({} if e.chance is None else {"chance": e.chance})
        for name, e in found.items()
    }


MEANING = {
    "f1": "answer: token F1 against the gold answer",
    "chrf": "answer: chrF against the gold answer",
    "precision": "citations: share that is judged",
    "recall": "citations: share of the judged blocks that is cited",
    "judgment_recall": "citations: share of the judgments that have a cited block",
    "all_judged": "answers with citations that are all judged",
    "resolution": "citations: share that exists in the corpus",
}
_CITATION_F1 = "citations: F1 of the two"


def answers_table(metrics: Mapping[str, Any]) -> Table:
    """Means of answers and citations, with intervals and what they are over."""
    rows = [
        (
            _CITATION_F1 if section == "citations" and name == "f1" else MEANING[name],
            number(e["mean"]),
            f"{number(e['low'])} to {number(e['high'])}",
            str(e["n"]),
        )
        for section in ("answers", "citations")
        for name in MEANING
        if (e := metrics[section]["measures"].get(name)) is not None
    ]
    title = f"Answers ({metrics['answers']['source']}) and their citations"
    return table(title, ("measure", "#mean", "#95 % interval", "#questions"), rows)


def declining_table(metrics: Mapping[str, Any]) -> Table:
    """Whether what can't be answered is declined, and only that."""
    found = metrics["answers"]["declining"]
    rows = [
        (kind, str(found[f"{kind}_answered"]), str(found[f"{kind}_declined"]))
        for kind in ("answerable", "unanswerable")
    ]
    return table("Answered or declined", ("questions", "#answered", "#declined"), rows)


def threshold_line(metrics: Mapping[str, Any]) -> str | None:
    """What dev says about declining, in a sentence of Markdown; `None` where there is nothing to say."""
    learned = metrics["answers"].get("learned_decline_below")
    if learned is None:
        return None
    accuracy = number(metrics["answers"]["learned_balanced_accuracy"])
    return f"Learned on these questions: `answers.decline_below = {learned:.6f}` (balanced accuracy {accuracy})."
