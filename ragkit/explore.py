"""Why does this question fail: what was asked for, what came instead, and the texts of both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.dataset import dataset_hashes, read_questions, resolve
from ragkit.errors import FileError, UsageError
from ragkit.files import read_json, read_text
from ragkit.ingest import read_corpus
from ragkit.records import Document, Target
from ragkit.report.tables import Table, number, table

WIDTH = 400
"""Characters of a text that a table shows."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run with the corpus and the labels it was scored on; `rankings` and `targets` go by question id."""

    metrics: Mapping[str, Any]
    rankings: Mapping[str, Sequence[Mapping[str, Any]]]
    documents: Mapping[str, Document]
    targets: Mapping[str, Sequence[Target]]


@dataclass(frozen=True, slots=True)
class Case:
    """One question: where its answers are, what was retrieved, and the best hit that is no answer."""

    question: str
    scores: Table
    judgments: Table
    hits: Table
    nearest_wrong: Table


def open_run(folder: Path, corpus: Path, questions: Path) -> Run:
    """Read a run and what it was scored on. Raises `FileError`, and `UsageError` when the data are others by now."""
    metrics = read_json(folder / "metrics.json")
    documents = read_corpus(corpus)
    found = dataset_hashes(documents, questions, None)
    for name, path in (("corpus", corpus), ("questions", questions)):
        if metrics["dataset"][name] != found[name]:
            raise UsageError(f"{path}: is not what the run in {folder} was made on: run `ragkit eval` again")
    try:
        lines = [json.loads(line) for line in read_text(folder / "rankings.jsonl").splitlines()]
    except json.JSONDecodeError as error:
        raise FileError(f"{folder / 'rankings.jsonl'}: not JSON Lines: {error}") from error
    targets = resolve(read_questions(questions), documents, str(questions)).targets
    by_slug = {document.slug: document for document in documents}
    return Run(metrics, {line["id"]: line["hits"] for line in lines}, by_slug, targets)


def failures(run: Run, split: str) -> Table:
    """The questions of `split` ("all": of both) that lost a judgment."""
    rows = [
        (q["id"], q["question"], q["type"] or "–", ", ".join(loss["stage"] for loss in q["losses"]))
        for q in run.metrics["questions"]
        if q["losses"] and split in ("all", q["split"])
    ]
    return table("Questions that lost a judgment", ("id", "question", "type", "lost at"), rows)


def look_at(run: Run, identifier: str) -> Case:
    """One question by its id. Raises `UsageError` when the run has none of that id."""
    found = next((q for q in run.metrics["questions"] if q["id"] == identifier), None)
    if found is None:
        raise UsageError(f"no question {identifier!r} in this run")
    hits = run.rankings[found["id"]]
    stages = {loss["judgment"]: loss["stage"] for loss in found["losses"]}
    ranks = found["first_ranks"]
    judgments = [
        (
            str(target.group),
            _place(target.slug, [span.block for span in target.spans]),
            str(target.grade),
            "–" if not ranks or ranks[target.group] is None else str(ranks[target.group]),
            stages.get(target.group, "found"),
            _text(run, target.slug, [(span.start, span.end) for span in target.spans]),
        )
        for target in run.targets.get(found["id"], ())
    ]
    wrong = next((hit for hit in hits if not hit["covered"]), None)
    return Case(
        question=f"{found['id']}: {found['question']}",
        scores=table("Scores", ("measure", "#value"), [(n, number(v)) for n, v in sorted(found["measures"].items())]),
        judgments=table("What answers it", ("#judgment", "place", "#grade", "#rank", "stage", "text"), judgments),
        hits=table("What was retrieved", ("#rank", "#score", "covers", "place", "text"), [_hit(run, h) for h in hits]),
        nearest_wrong=table("Nearest wrong hit", ("what", "value"), _wrong(run, wrong) if wrong else []),
    )


def _hit(run: Run, hit: Mapping[str, Any]) -> tuple[str, ...]:
    blocks, spans = [span[0] for span in hit["spans"]], [(span[1], span[2]) for span in hit["spans"]]
    covers = ", ".join(map(str, hit["covered"])) or "–"
    where = _place(hit["document"], blocks)
    return str(hit["rank"]), number(hit["score"], 4), covers, where, _text(run, hit["document"], spans)


def _wrong(run: Run, hit: Mapping[str, Any]) -> list[tuple[str, str]]:
    rank, score, _, where, text = _hit(run, hit)
    block = run.documents[hit["document"]].blocks[hit["spans"][0][0]]
    headings = " > ".join(block.breadcrumb) or "–"
    return [("rank", rank), ("score", score), ("place", where), ("headings", headings), ("text", text)]


def _place(slug: str, blocks: Sequence[int]) -> str:
    if not blocks:
        return slug
    return f"{slug}#{blocks[0]}" if blocks[0] == blocks[-1] else f"{slug}#{blocks[0]}-{blocks[-1]}"


def _text(run: Run, slug: str, spans: Sequence[tuple[int, int]]) -> str:
    if not spans or slug not in run.documents:
        return "–"
    text = " ".join(run.documents[slug].text[spans[0][0] : spans[-1][1]].split())
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
