"""A run for other tools: TREC files under a collection's own ids, and BEIR folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragkit.errors import DataError, Problem
from ragkit.files import read_json
from ragkit.interop import trec
from ragkit.interop.beir import beir_line, beir_qrels
from ragkit.measures.document_unit import document_grades
from ragkit.records import Document, Question
from ragkit.strict import explain

_Id = Annotated[str, Field(pattern=r"^[^\t\n\r]+$")]  # else it would be two fields or lines of a TSV file


class Ids(BaseModel):
    """The ids that a collection had before it was imported (`ids.json`); without it, ours are kept.

    A question may stand for several queries that ask the same.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    documents: dict[str, _Id] = {}
    questions: dict[str, Annotated[list[_Id], Field(min_length=1)]] = {}

    def document(self, slug: str) -> str:
        return self.documents.get(slug, slug)

    def queries(self, question: str) -> Sequence[str]:
        return self.questions.get(question, [question])


def read_ids(path: Path) -> Ids:
    """Read an `ids.json`. Raises `DataError` when it has another form, `FileError`."""
    try:
        return Ids.model_validate(read_json(path))
    except ValidationError as error:
        remedy = "give the ids.json that `ragkit import` wrote"
        raise DataError(
            Problem(str(path), 0, fault.rule, fault.found, remedy) for fault in explain(Ids, error)
        ) from error


def trec_files(run: Path, ids: Ids) -> dict[str, str]:
    """`run.trec` and `qrels.trec` of the results folder `run`, under the collection's ids.

    Where queries were joined because they ask the same, these two have the first of them, so that the
    means of other tools are ours; `run-all-queries.trec` has all, for the collection's own qrels. Raises
    `DataError`, `FileError`.
    """

    def named(documents: Iterable[str]) -> list[str]:
        return [ids.document(trec.unescape(document)) for document in documents]

    rankings = {
        question: named(document for document, _ in ranking)
        for question, ranking in trec.read_run(run / "run.trec").items()
    }
    queries = {question: ids.queries(trec.unescape(question)) for question in rankings}
    qrels = {
        ids.queries(trec.unescape(question))[0]: dict(zip(named(grades), grades.values(), strict=True))
        for question, grades in trec.read_qrels(run / "qrels.trec").items()
    }
    files = {
        "run.trec": trec.format_run({queries[question][0]: ranking for question, ranking in rankings.items()}),
        "qrels.trec": trec.format_qrels(qrels),
    }
    if any(len(names) > 1 for names in queries.values()):
        everything = {name: ranking for question, ranking in rankings.items() for name in queries[question]}
        files["run-all-queries.trec"] = trec.format_run(everything)
    return files


def beir_files(
    metrics: Mapping[str, Any],
    documents: Sequence[Document],
    questions: Sequence[Question],
    splits: Mapping[str, str],
    ids: Ids,
) -> dict[str, str]:
    """The dataset of a run as a BEIR folder: documents whole, judgments by document with their largest grade.

    Only the questions that the run scored are in it; those without judgments have none in BEIR either.
    """
    scored = {entry["id"] for entry in metrics["questions"]}
    questions = [question for question in questions if question.id in scored]
    qrels: dict[str, dict[str, dict[str, int]]] = {}
    for question in questions:
        grades = {ids.document(slug): grade for slug, grade in document_grades(question.relevant).items()}
        for query in ids.queries(question.id):
            qrels.setdefault(splits[question.id], {})[query] = grades
    return {
        "corpus.jsonl": "".join(beir_line(ids.document(d.slug), d.text, d.title) for d in documents),
        "queries.jsonl": "".join(beir_line(q, each.question) for each in questions for q in ids.queries(each.id)),
        **{f"qrels/{split}.tsv": beir_qrels(judgments) for split, judgments in sorted(qrels.items())},
    }
