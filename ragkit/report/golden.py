"""The golden report as Markdown and as tables; pure functions of the JSON report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragkit.report.tables import Table, escape, markdown, number, table


def headline(report: Mapping[str, Any]) -> str:
    """One line: what was judged and how."""
    levels = ", ".join(f"{count} {level}" for level, count in report["levels"].items())
    return f"{len(report['cases'])} cases: {levels} ({report['notice']})"


def levels_table(report: Mapping[str, Any]) -> Table:
    """How many cases are on each level, and what the documents alone say."""
    found = report["documents"]
    rows = [(level, str(count)) for level, count in report["levels"].items()]
    rows.append((f"document recall@{report['k']} (mean of {found['n']})", number(found["recall"])))
    rows.append((f"document MRR@{report['k']}", number(found["mrr"])))
    return table("Levels", ("", "#cases"), rows)


def cases_table(report: Mapping[str, Any]) -> Table:
    """A line per case: its level and the evidence that decided it."""
    rows = [
        (
            case["caseId"],
            case["level"],
            _told(case["document"], case["first_rank"]),
            _told(case["breadcrumb"], case["breadcrumb_rank"]),
            _words(case),
            number(case["recall"]),
        )
        for case in report["cases"]
    ]
    return table("Cases", ("case", "level", "document", "breadcrumb", "keywords", f"#recall@{report['k']}"), rows)


def changes_table(changes: Sequence[tuple[str, str | None, str | None, str]]) -> Table:
    """Cases that moved: name, old level, new level, verdict."""
    rows = [(case, old or "–", new or "–", verdict) for case, old, new, verdict in changes]
    return table("Changes", ("case", "before", "now", ""), rows)


def _told(state: str, rank: int | None) -> str:
    return f"rank {rank}" if rank else state


def _words(case: Mapping[str, Any]) -> str:
    if case["keywords"] == "n/a":
        return "n/a"
    return f"{case['keywords']} ({len(case['keywords_found'])} of {len(case['expected']['keywords'])})"


def golden_markdown(report: Mapping[str, Any]) -> str:
    """The report for reviewers."""
    parts = [
        "# Golden cases",
        f"**{report['notice'][0].upper()}{report['notice'][1:]}.** Saved results were scored; no retriever ran.",
        f"Only the first {report['k']} candidates of a case count; keywords are complete from a coverage of"
        f" {report['min_coverage']:g}.",
        f"Cases: sha256 `{report['cases_sha256']}`.\nFixtures: sha256 `{report['fixtures_sha256']}`.",
        *[f"Captured: {_provenance(each)}." for each in report["provenance"]],
    ]
    if not report["provenance"]:
        parts.append("Captured: the fixtures don't say from what.")
    for shown in (levels_table(report), cases_table(report)):
        parts += [f"## {shown.title}", markdown(shown)]
    short = [case for case in report["cases"] if case["level"] != "strong"]
    if short:
        parts += ["## Cases that are not strong", *map(_case, short)]
    if report["warnings"]:
        parts += ["## Warnings", "\n".join(f"- {escape(each)}" for each in report["warnings"])]
    return "\n\n".join(parts) + "\n"


def _provenance(entry: Mapping[str, Any]) -> str:
    flat = ", ".join(f"{key} {value}" for key, value in sorted(entry.items()) if not isinstance(value, dict | list))
    return escape(flat)


def _case(case: Mapping[str, Any]) -> str:
    missing = [word for word in case["expected"]["keywords"] if word not in case["keywords_found"]]
    wanted = [name for name in case["expected"]["documents"] if name not in case["documents_found"]]
    lines = [f"### {escape(case['caseId'])}: {case['level']}", "", escape(case["query"]), ""]
    if wanted:
        lines.append(f"- documents not found: {escape(', '.join(wanted))}")
    if case["breadcrumb"] == "not found":
        paths = "; ".join(" > ".join(each) for each in case["expected"]["breadcrumbs"])
        lines.append(f"- breadcrumb not found: {escape(paths)}")
    if missing:
        lines.append(f"- keywords not found: {escape(', '.join(missing))}")
    ranks = ", ".join(map(str, case["evidence_ranks"])) or "none"
    lines.append(f"- evidence looked for in the candidates of rank: {ranks}")
    if case["first"]:
        path = " > ".join([case["first"]["docId"], *case["first"]["breadcrumb"]])
        lines.append(f"- first candidate: {escape(path)}")
    if case["notes"]:
        lines.append(f"- notes: {escape(case['notes'])}")
    return "\n".join(lines)
