"""What the document of a frozen baseline shows beside the common tables; a pure function of its committed files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.comparison import Policy, read_metrics
from ragkit.comparison.frozen import check_whole
from ragkit.errors import BaselineError, FileError
from ragkit.files import read_json, read_text
from ragkit.measures import MEASURES
from ragkit.report.page import Html, Text, code, embedded
from ragkit.report.tables import Table, escape, number, table

_META = ("name", "commit", "command", "configuration", "dataset", "environment", "fingerprint")
QUESTION_WIDTH = 90


@dataclass(frozen=True, slots=True)
class Frozen:
    """A committed baseline: the contents of its files, and the text of its metrics."""

    path: Path
    text: str
    metrics: Mapping[str, Any]
    meta: Mapping[str, Any]
    timing: Mapping[str, Any]


def read_frozen(path: Path) -> Frozen:
    """Read `baseline-NAME.json` and the two files beside it.

    Raises `BaselineError` when one is missing or of a newer form, `FileError` when one is cut off or lacks a key.
    """
    beside = [path.with_suffix(f".{kind}.json") for kind in ("meta", "timing")]
    for each in (path, *beside):
        if not each.is_file():
            raise BaselineError(f"{each}: no baseline here: ragkit freeze makes one")
    read_metrics(path)
    check_whole(path)
    meta, timing = map(read_json, beside)
    for where, found, wanted in ((beside[0], meta, _META), (beside[1], timing, ("latency_ms", "phases"))):
        missing = [key for key in wanted if not isinstance(found, dict) or key not in found]
        if missing:
            raise FileError(f"{where}: {', '.join(missing)} missing: restore it from git, or freeze again")
    return Frozen(path, read_text(path), read_json(path), meta, timing)


def provenance_table(frozen: Frozen) -> Table:
    """Where the numbers come from: hashes of what went in, the model's own account, the machine."""
    metrics, meta = frozen.metrics, frozen.meta
    sections = (
        ("dataset", {k: v for k, v in metrics["dataset"].items() if isinstance(v, str)}),
        ("model", metrics["model"]),
        ("environment", {**meta["environment"], "fingerprint": meta["fingerprint"]}),
    )
    rows = [(f"{name}: {key}", value) for name, section in sections for key, value in _flat(section)]
    return table("Provenance", ("what", "value"), [("commit", meta["commit"]), *rows])


def contract_table(metrics: Mapping[str, Any]) -> Table:
    """The rules that the numbers were computed under; numbers under two contracts never compare."""
    return table("Contract", ("rule", "value"), list(_flat(metrics["contract"])))


def configuration_table(metrics: Mapping[str, Any]) -> Table:
    """Every entry of the configuration."""
    return table("Configuration", ("entry", "value"), list(_flat(metrics["configuration"])))


def ties_table(metrics: Mapping[str, Any]) -> Table:
    """How many questions depend on the order of equal scores, and between which bounds their mean lies."""
    found = [(name, metrics["ties"][name]) for name in MEASURES if name in metrics["ties"]]
    rows = [(name, str(tie["questions"]), number(tie["worst"]), number(tie["best"])) for name, tie in found]
    return table("Ties", ("measure", "#questions", "#worst", "#best"), rows)


def unanswerable_line(metrics: Mapping[str, Any]) -> Text:
    """What the best hit's score tells about questions without an answer."""
    found = metrics["unanswerable"]
    return Text(
        f"{found['n']} questions have no answer in the corpus, {found['answerable']} have one. The area under the ROC"
        f" curve of the best hit's score, answerable over unanswerable, is **{number(found['auroc'])}** (0.5 tells"
        " nothing, 1 separates them)."
    )


def questions_table(metrics: Mapping[str, Any], measures: tuple[str, ...] = ("Recall@5", "nDCG@10")) -> Table:
    """Every question: its scores, the rank of each judgment, what was lost where, and the nearest wrong hit."""
    rows = []
    for question in metrics["questions"]:
        text, lost = question["question"], question["losses"]
        rows.append(
            (
                question["id"],
                text if len(text) <= QUESTION_WIDTH else text[: QUESTION_WIDTH - 1] + "…",
                question["type"] or "–",
                question["split"] or "–",
                *(number(question["measures"].get(measure), 2) for measure in measures),
                ", ".join("–" if rank is None else str(rank) for rank in question["first_ranks"]),
                ", ".join(loss["stage"] for loss in lost),
                next((loss["nearest_wrong"] for loss in lost if loss["nearest_wrong"]), ""),
            )
        )
    columns = (
        "id",
        "question",
        "type",
        "split",
        *(f"#{m}" for m in measures),
        "#ranks",
        "lost at",
        "nearest wrong hit",
    )
    return table("Questions", columns, rows)


def protocol(policy: Policy) -> Text:
    """How a candidate comes to a verdict, with the numbers of the policy."""
    return Text(
        f"""\
Every v1.5 experiment is reported as a **delta against this baseline**: candidate minus baseline on the same questions,
with an interval and a verdict. It is adopted when **{policy.primary.measure}** (where the chunking differs,
**{policy.primary.across_chunkings}**) is better by at least
**{policy.primary.min_difference:g}** with p ≤ **{policy.level:g}**, and **{policy.guard.measure}** is not worse by
**{policy.guard.margin:g}** or more.

1. Configurations of a sweep are compared with the baseline on the *dev* questions, their p values Holm-corrected. That
   is exploration.
2. The best one is promoted and tested **once** on the *test* questions. The test is recorded in a committed ledger.
3. {len(policy.family)} sweeps are planned ({", ".join(map(escape, policy.family))}), which share alpha = {policy.alpha:g}:
   p is compared with {policy.level:g}. It is that of a two-sided sign-flip test of the paired differences."""
    )


def rules_table(policy: Policy) -> Table:
    """What is asked of the primary measure and of the guard; `ragkit.comparison` does it."""
    primary, guard = policy.primary, policy.guard
    better, margin = f"p ≤ {policy.level:g}, mean difference", f"{-guard.margin:g}"
    rows = [
        ("better", f"{better} at least {primary.min_difference:+g}"),
        ("worse", f"{better} below 0"),
        ("guard holds", f"the lower end of the guard's mean difference (one-sided 95 %) is above {margin}"),
        ("guard broken", f"its upper end is below 0, and its lower end is not above {margin}"),
        ("primary measure", f"{primary.measure}; {primary.across_chunkings} where the chunking differs"),
        ("guard measure", guard.measure),
    ]
    return table("Rules", ("word", "meaning"), rows)


def verdicts_table() -> Table:
    """The verdict for each pair of findings."""
    undecided = "cannot decide"
    rows = [
        ("better", "adopt", undecided, "reject"),
        ("neither", undecided, undecided, "reject"),
        ("worse", "reject", "reject", "reject"),
    ]
    return table("Verdicts", ("primary", "guard holds", "guard undecided", "guard broken"), rows)


def embedded_metrics(frozen: Frozen) -> Html:
    """The committed JSON itself."""
    return embedded(frozen.path.name, frozen.text)


def command(frozen: Frozen) -> Text:
    """What was typed to make the baseline."""
    return code(frozen.meta["command"], "sh")


def _flat(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """The entries of nested objects, as section.key and text."""
    for key, value in section.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
