"""A comparison for people: tables, and the Markdown that goes under a pull request."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from ragkit.comparison import Comparison
from ragkit.comparison.model import Changed
from ragkit.comparison.signflip import seed_of
from ragkit.report.tables import Table, escape, markdown, number, table

SHOWN = 50
"""Questions that Markdown lists of a kind; the JSON has all."""
QUESTION_WIDTH = 100


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The whole comparison as plain JSON values."""
    return dataclasses.asdict(found)


def headline(found: Comparison) -> str:
    """Who against whom, on what, and the verdict."""
    baseline, candidate = found.baseline, found.candidate
    where = "all questions" if found.split == "all" else f"the {found.split} questions"
    return f"{candidate.name} against {baseline.name} on {where}: {found.verdict}"


def remarks(found: Comparison) -> list[str]:
    """How to read it: what was not confirmed, what changed too much, what can't be told."""
    entry = found.confirmation
    if entry is None:
        return ["Exploratory: a decision takes one confirmatory test (--confirm) on the test questions.", *found.notes]
    standing = ["Confirmatory test, recorded in the ledger."]
    if entry["again"]:
        standing.append("It repeats an earlier test of the same pair: its p is not that of a first one.")
    if entry["tests"] > entry["planned"]:
        standing.append(f"{entry['tests']} candidates were tested, alpha was shared among {entry['planned']} sweeps.")
    return [*standing, *found.notes]


def comparison_tables(found: Comparison) -> list[Table]:
    """Settings, measures, types, cost, questions that got worse, those that flipped."""
    return [
        settings_table(found),
        measures_table(found),
        types_table(found),
        cost_table(found),
        worse_table(found),
        flipped_table(found),
    ]


def settings_table(found: Comparison) -> Table:
    """The configuration entries that differ."""
    rows = [(entry, str(b), str(c)) for entry, b, c in found.settings]
    return table("What was changed", ("entry", "baseline", "candidate"), rows)


def measures_table(found: Comparison) -> Table:
    """Every measure's paired difference over all questions, tested."""
    marks = {found.primary.measure: " (primary)", found.guard.measure: " (guard)"}
    rows = [
        (
            d.measure + marks.get(d.measure, ""),
            number(d.baseline),
            number(d.candidate),
            _signed(d.difference),
            "–" if d.low is None else f"{_signed(d.low)} to {_signed(d.high)}",
            f"{d.wins} / {d.losses} / {d.ties}",
            number(d.p, 4),
            number(d.p_documents, 4),
            "> 1" if d.detectable is None or d.detectable > 1 else number(d.detectable),
        )
        for d in found.measures
    ]
    columns = ("measure", "#baseline", "#candidate", "#difference", "#95 % interval", "#won / lost / same")
    return table("Measures", (*columns, "#p", "#p by document", "#detectable"), rows)


def types_table(found: Comparison) -> Table:
    """Primary and guard by type of question; too few of each for a test."""
    rows = []
    for name, deltas in found.by_type.items():
        by_measure = {delta.measure: delta for delta in deltas}
        cells = [name, str(max(delta.n for delta in deltas))]
        for measure in (found.primary.measure, found.guard.measure):
            d = by_measure.get(measure)
            cells += ["–", "–", "–"] if d is None else [number(d.baseline), number(d.candidate), _signed(d.difference)]
        rows.append(cells)
    pairs = [f"#{m}{what}" for m in (found.primary.measure, found.guard.measure) for what in ("", " candidate", " +/-")]
    return table("By type", ("type", "#questions", *pairs), rows)


def worse_table(found: Comparison) -> Table:
    """The questions that got worse, with the stage that lost what the baseline had found."""
    rows = [
        (q.id, _cut(q.question), _moved(q.primary), _moved(q.guard), "; ".join(q.lost_at) or "–")
        for q in found.changed
        if q.worse
    ]
    columns = ("id", "question", f"#{found.primary.measure}", f"#{found.guard.measure}", "lost at")
    return table("Questions that got worse", columns, rows)


def cost_table(found: Comparison) -> Table:
    """Index size and latency, side by side."""
    b, c = found.baseline, found.candidate
    rows = [
        ("chunks", str(b.chunks), str(c.chunks)),
        ("index, MB", number(b.index_bytes / 1e6, 2), number(c.index_bytes / 1e6, 2)),
        ("question, median, ms", number(b.p50, 1), number(c.p50, 1)),
        ("question, 95th percentile, ms", number(b.p95, 1), number(c.p95, 1)),
    ]
    return table("Cost", ("", "#baseline", "#candidate"), rows)


def flipped_table(found: Comparison) -> Table:
    """The questions whose primary value moved, with both systems' first hits; * marks those that cover a judgment."""
    rows = []
    for q in found.changed:
        if q.flipped:
            hits = ("\n".join(map(_hit, side)) or "–" for side in (q.baseline_hits, q.candidate_hits))
            rows.append((q.id, _cut(q.question), _moved(q.primary), *hits))
    columns = ("id", "question", f"#{found.primary.measure}", "baseline's first hits", "candidate's first hits")
    return table("Questions that flipped (* covers a judgment)", columns, rows)


def _hits_markdown(question: Changed, measure: str) -> list[str]:
    """A flipped question's hits side by side; cells of Markdown have no lines."""
    ranked = zip_longest(map(_hit, question.baseline_hits), map(_hit, question.candidate_hits), fillvalue="–")
    rows = [(str(rank), *cells) for rank, cells in enumerate(ranked, start=1)]
    title = f"**{escape(question.id)}: {escape(_cut(question.question))}** {measure} {_moved(question.primary)}"
    return [title, markdown(table("", ("#rank", "baseline", "candidate"), rows))]


def comparison_markdown(found: Comparison) -> str:
    """What is posted under a pull request: verdict, reason and measures first, the rest folded away."""
    settings, measures, types, cost, worse, flipped = comparison_tables(found)
    questions = [question for question in found.changed if question.flipped][:SHOWN]
    hits = [part for question in questions for part in _hits_markdown(question, found.primary.measure)]
    parts = [
        f"## {escape(headline(found))}",
        escape(found.verdict.sentence),
        *(f"*{escape(remark)}*" for remark in remarks(found)),
        markdown(measures),
        _details(worse, [markdown(dataclasses.replace(worse, rows=worse.rows[:SHOWN]))], counted=True),
        _details(flipped, hits, counted=True),
        _details(types, [markdown(types)]),
        _details(settings, [markdown(settings)]),
        _details(cost, [markdown(cost)]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def adjudication(found: Comparison, text_of: Callable[[str], str | None]) -> list[dict[str, Any]]:
    """The flipped questions' unlabelled hits, to be judged blind: one line each, without rank, score or system.

    `text_of` gives a place's text, or `None`. A hit of both systems stands there once; the order within a
    question is random, the same for the same pair.
    """
    seed = seed_of(found.baseline.config_id, found.candidate.config_id, "adjudicate", found.split)
    shuffle = random.Random(seed).shuffle  # noqa: S311 - a reproducible order, not a secret
    lines = []
    for question in sorted((q for q in found.changed if q.flipped), key=lambda q: q.id):
        places = sorted({h["at"] for h in (*question.baseline_hits, *question.candidate_hits) if not h["covers"]})
        shuffle(places)
        lines += [
            {"id": question.id, "question": question.question, "at": at, "text": text_of(at), "relevant": None}
            for at in places
        ]
    return lines


def _details(shown: Table, body: Sequence[str], *, counted: bool = False) -> str:
    if not shown.rows:
        return ""
    count, more = len(shown.rows), []
    if counted and count > SHOWN:
        more = [f"... and {count - SHOWN} more in the JSON."]
    title = f"{shown.title}: {count}" if counted else shown.title
    return "\n\n".join([f"<details><summary>{title}</summary>", *body, *more, "</details>"])


def _hit(hit: Mapping[str, Any]) -> str:
    return f"{hit['at']} *" if hit["covers"] else str(hit["at"])


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _moved(values: tuple[float, float] | None) -> str:
    return "–" if values is None else f"{number(values[0])} to {number(values[1])}"


def _cut(text: str) -> str:
    return text if len(text) <= QUESTION_WIDTH else text[: QUESTION_WIDTH - 1] + "…"
