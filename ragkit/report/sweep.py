"""A sweep for people: tables, Markdown and a document, all pure functions of its JSON and its times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragkit.errors import FileError
from ragkit.files import read_json
from ragkit.measures.contract import BUDGET_RECALLS
from ragkit.report.page import Text
from ragkit.report.tables import Table, escape, markdown, number, table

SCHEMA = "ragkit-sweep-1"
QUESTION_WIDTH = 80


def read_report(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """A sweep's `NAME.json` and the times beside it. Raises `FileError` when one is missing or isn't one."""
    found, timing = read_json(path), read_json(path.with_suffix(".timing.json"))
    if not isinstance(found, dict) or found.get("schema") != SCHEMA or "configurations" not in timing:
        raise FileError(f"{path}: not the report of a sweep in the form {SCHEMA!r}: restore it, or run ragkit sweep")
    return found, timing


def headline(found: Mapping[str, Any]) -> str:
    """The outcome in a sentence."""
    promoted = found["promoted"]
    if promoted is None:
        return f"Sweep {found['name']}: nothing to test ({found['untested']})."
    verdict = next(row["verdict"] for row in found["configurations"] if row["label"] == promoted["label"])
    return f"Sweep {found['name']}: {promoted['label']} against {found['baseline']['name']}: {verdict}."


def test_text(found: Mapping[str, Any]) -> Text:
    """Which configuration was promoted and why, and what its one test said."""
    promoted, test = found["promoted"], found["test"]
    if promoted is None or test is None:
        chosen = f" Promoted: **{escape(promoted['label'])}**, {promoted['rule']}." if promoted else ""
        return Text(f"No confirmatory test: {escape(found['untested'])}.{chosen}")
    entry = test["confirmation"]
    tests = f"test {entry['tests']} of this baseline, {entry['planned']} sweeps were planned"
    again = "; it repeats an earlier test of the same pair" if entry["again"] else ""
    return Text(
        f"Promoted: **{escape(promoted['label'])}**, {promoted['rule']}. Tested once on {test['n']} test questions"
        f" (in the ledger: {tests}{again}): **{escape(entry['decision'])}**. {escape(test['sentence'])}"
    )


def results_table(found: Mapping[str, Any]) -> Table:
    """Every configuration on dev: the primary's difference with interval and p, recall at equal budgets, guard, verdict."""
    primary, guard = found["primary"], found["policy"]["guard"]["measure"]
    others = [name for name in ("Recall@5", *BUDGET_RECALLS, guard) if name != primary and _has(found, name)]
    rows = []
    for row in found["configurations"]:
        measures = {delta["measure"]: delta for delta in row.get("measures", ())}
        main = measures.get(primary, {})
        rows.append(
            (
                row["label"],
                row["verdict"],
                _signed(main.get("difference")),
                "–" if main.get("low") is None else f"{_signed(main['low'])} to {_signed(main['high'])}",
                number(row.get("p"), 4),
                number(row.get("p_holm"), 4),
                *(_signed(measures.get(name, {}).get("difference")) for name in others),
                row.get("guard", {}).get("state", "–"),
            )
        )
    columns = ("configuration", "verdict", f"#{primary}", "#95 % interval", "#p", "#p (Holm)")
    names = (f"#{name}" for name in others)
    return table("Differences from the baseline on dev", (*columns, *names, "guard"), rows)


def test_table(found: Mapping[str, Any]) -> Table:
    """The promoted configuration's measures on test."""
    rows = [
        (
            d["measure"],
            number(d["baseline"]),
            number(d["candidate"]),
            _signed(d["difference"]),
            "–" if d["low"] is None else f"{_signed(d['low'])} to {_signed(d['high'])}",
            f"{d['wins']} / {d['losses']} / {d['ties']}",
            number(d["p"], 4),
            number(d["p_documents"], 4),
        )
        for d in (found["test"] or {}).get("measures", ())
    ]
    columns = ("measure", "#baseline", "#candidate", "#difference", "#95 % interval", "#won / lost / same", "#p")
    return table("The promoted configuration on test", (*columns, "#p by document"), rows)


def cost_table(found: Mapping[str, Any], timing: Mapping[str, Any]) -> Table:
    """Index size, indexing time and latency."""
    rows = []
    for label, entry in [("baseline", found["baseline"]), *((row["label"], row) for row in found["configurations"])]:
        cost = timing["configurations"].get(label, {})
        size = entry.get("index_bytes")
        rows.append(
            (
                label,
                str(entry.get("chunks", "–")),
                number(None if size is None else size / 1e6, 2),
                number(cost.get("index_seconds"), 1),
                number(cost.get("p50"), 1),
                number(cost.get("p95"), 1),
            )
        )
    columns = (
        "configuration",
        "#chunks",
        "#index, MB",
        "#indexing, s",
        "#question, median, ms",
        "#95th percentile, ms",
    )
    return table("Cost", columns, rows)


def cost_text(timing: Mapping[str, Any]) -> Text:
    """How the times were taken."""
    at_once, seconds = timing["at_once"], timing["seconds"]
    whole = "" if seconds is None else f" The sweep took {seconds:.0f} s."
    busy = "one at a time" if at_once == 1 else f"{at_once} at a time, so their times include waiting for each other"
    return Text(
        f"Configurations were executed {busy}, on {escape(timing['environment']['processor'])}. Indexing is parsing,"
        f" chunking, and embedding without a cache at the measured {timing['characters_per_second']:,.0f} characters a"
        f" second; vectors that configurations share were embedded once.{whole}"
    )


def settings_table(found: Mapping[str, Any]) -> Table:
    """What each configuration changes."""
    rows = [(row["label"], ", ".join(row["set"]), row["config_id"]) for row in found["configurations"]]
    return table("Configurations", ("configuration", "changes", "id"), rows)


def worse_table(found: Mapping[str, Any]) -> Table:
    """The questions that got worse: of the promoted configuration on test (if it was tested), of all on dev."""
    tested = found["test"]
    groups = [(found["promoted"]["label"], "test", tested["worse"])] if tested else []
    groups += [(row["label"], "dev", row.get("worse", ())) for row in found["configurations"]]
    rows = [
        (
            label,
            split,
            q["id"],
            q["question"] if len(q["question"]) <= QUESTION_WIDTH else q["question"][: QUESTION_WIDTH - 1] + "…",
            _moved(q["primary"]),
            _moved(q["guard"]),
            "; ".join(q["lost_at"]) or "–",
        )
        for label, split, worse in groups
        for q in worse
    ]
    columns = ("configuration", "split", "id", "question", f"#{found['primary']}")
    return table("What got worse", (*columns, f"#{found['policy']['guard']['measure']}", "lost at"), rows)


def undetected_text(found: Mapping[str, Any]) -> Text:
    """What the question set could not have shown."""
    primary, level = found["primary"], found["policy"]["level"]
    rows = [row for row in found["configurations"] if row.get("p_holm") is not None]
    if not rows:
        return Text("No configuration differs from the baseline.")
    low, high = min(row["detectable"] for row in rows), max(row["detectable"] for row in rows)
    between = number(low) if number(low) == number(high) else f"{number(low)} to {number(high)} (by configuration)"
    parts = [
        f"With {rows[0]['n']} dev questions, a mean difference in {primary} below {between} would mostly go unnoticed (80 %"
        f" power at p ≤ {level:g}, before Holm's correction for {len(rows)} configurations)."
    ]
    if found["test"]:
        test = found["test"]
        parts.append(f"On {test['n']} test questions the promoted one needed {number(test['detectable'])}.")
    room = (found["test"] or rows[0])["headroom"]
    parts.append(f"The baseline left room to improve on {room['improvable']} of {room['n']} questions.")
    parts.append("Differences by type of question were not tested: there are too few of each.")
    return Text(" ".join(parts))


def sweep_markdown(found: Mapping[str, Any], timing: Mapping[str, Any]) -> str:
    """`NAME.md`."""
    worse, tested = worse_table(found), test_table(found)
    best = (found["promoted"] or {}).get("label")
    shown = tuple(row for row in worse.rows if row[0] == best)
    parts = [
        f"# {escape(headline(found))}",
        "Made by `ragkit sweep`. Differences are configuration - baseline on the same questions.",
        test_text(found).markdown,
        markdown(tested) if tested.rows else "",
        f"## {results_table(found).title}",
        "Exploration: p values are Holm-corrected, only the promoted configuration gets a verdict.",
        markdown(results_table(found)),
        "## Cost",
        cost_text(timing).markdown,
        markdown(cost_table(found, timing)),
        "## What the questions could not show",
        undetected_text(found).markdown,
        f"## {worse.title} with {escape(best)}: {len(shown)}" if best else "",
        markdown(replace(worse, rows=shown)) if shown else "",
        "What got worse with the others is in the JSON and on the page." if best else "",
        "## Configurations",
        markdown(settings_table(found)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def document(name: str) -> str:
    """`NAME.qmd`, to which people may add words; its numbers come from the JSON beside it."""
    return (Path(__file__).parent / "sweep.qmd").read_text(encoding="utf-8").replace("SWEEP", name)


def _has(found: Mapping[str, Any], measure: str) -> bool:
    return any(d["measure"] == measure for row in found["configurations"] for d in row.get("measures", ()))


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _moved(values: Sequence[float] | None) -> str:
    return "–" if values is None else f"{number(values[0])} to {number(values[1])}"
