"""The baseline's Markdown: a pure function of the three JSON files beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ragkit.report.answers import answers_table, declining_table
from ragkit.report.document import questions_table, ties_table, unanswerable_line
from ragkit.report.page import folded
from ragkit.report.summary import (
    describe_chunking,
    describe_retrieval,
    describe_weights,
    losses_table,
    measures_table,
    timing_table,
    types_table,
)
from ragkit.report.tables import Table, escape, markdown, number, table


def baseline_markdown(metrics: Mapping[str, Any], meta: Mapping[str, Any], timing: Mapping[str, Any]) -> str:
    """`baseline-NAME.md`."""
    parts = [
        f"# Baseline {escape(meta['name'])}",
        (
            "Made by `ragkit freeze`; `ragkit check` makes it again and compares. Experiments are reported as"
            " differences from it (`ragkit compare`), and are adopted by the rule in eval/policy.toml."
        ),
        markdown(settings_table(metrics, meta)),
        "## Measures",
        markdown(measures_table(metrics)),
        "## By type",
        markdown(types_table(metrics)),
        "## Lost judgments",
        f"{number(100 * metrics['losses']['coverable'], 1)} % of the judgments can be covered by some chunk.",
        markdown(losses_table(metrics)),
        "## Unanswerable questions",
        unanswerable_line(metrics).markdown,
        "## Answers and citations",
        markdown(answers_table(metrics)),
        markdown(declining_table(metrics)),
        "## Ties",
        markdown(ties_table(metrics)),
        "## Time and memory",
        f"On {escape(meta['environment']['processor'])}, {meta['environment']['cores']} cores.",
        markdown(timing_table(timing)),
    ]
    parts += ["## Every question", folded(questions_table(metrics)).markdown]
    if meta["history"]:
        parts += ["## Earlier baselines of this name", markdown(history_table(metrics, meta))]
    return "\n\n".join(parts) + "\n"


def settings_table(metrics: Mapping[str, Any], meta: Mapping[str, Any]) -> Table:
    """What a baseline is known by."""
    configuration, dataset = metrics["configuration"], metrics["dataset"]
    chunking, retrieval = configuration["chunking"], configuration["retrieval"]
    separators = chunking.get("separators")
    rows = [
        ("Embedding", describe_weights(metrics["model"])),
        ("Chunking", describe_chunking(configuration)),
        *([("Separators", " ".join(json.dumps(s, ensure_ascii=False) for s in separators))] if separators else []),
        ("Retrieval", describe_retrieval(configuration)),
        ("TopK and threshold", f"{retrieval['top_k']}, {retrieval['threshold']}"),
        ("Corpus", f"{meta['dataset']['corpus']} @ {meta['commit']}"),
        (
            "Size",
            f"{dataset['documents']} documents, {dataset['chunks']} chunks, {len(metrics['questions'])} questions",
        ),
        ("Configuration", f"{meta['configuration']} ({metrics['config_id']})"),
        ("Command", meta["command"]),
    ]
    return table("Baseline", ("", "value"), rows)


def history_table(metrics: Mapping[str, Any], meta: Mapping[str, Any]) -> Table:
    """The means of the baselines that this one replaced, oldest first, and its own."""
    names = [name for name in metrics["measures"] if name in ("Recall@5", "MRR", "nDCG@10", "Recall@1000tok")]
    now = {name: found["mean"] for name, found in metrics["measures"].items()}
    entries = [*meta["history"], {"commit": meta["commit"], "config_id": metrics["config_id"], "measures": now}]
    rows = [
        (entry["commit"][:12], entry["config_id"], *(number(entry["measures"].get(name)) for name in names))
        for entry in entries
    ]
    return table("Earlier baselines", ("commit", "configuration", *(f"#{name}" for name in names)), rows)
