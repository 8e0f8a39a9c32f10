"""The summary of one run, as tables and as Markdown; a pure function of `metrics.json` and `timing.json`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragkit.measures import MEASURES
from ragkit.report.answers import answers_table, declining_table, threshold_line
from ragkit.report.tables import Table, escape, markdown, number, table

BY_TYPE = ("Recall@1", "Recall@5", "Recall@10", "MRR", "nDCG@10", "Recall@1000tok")
"""The measures that are shown by type; the others are in metrics.json."""


def headline(metrics: Mapping[str, Any]) -> str:
    """One line that says what was run on what."""
    dataset, configuration = metrics["dataset"], metrics["configuration"]
    return (
        f"{configuration['name']} ({metrics['config_id']}): {describe_chunking(configuration)},"
        f" {describe_retrieval(configuration)}; {dataset['documents']} documents, {dataset['chunks']} chunks,"
        f" {len(metrics['questions'])} questions"
    )


def describe_chunking(configuration: Mapping[str, Any]) -> str:
    """The chunking in a few words, every parameter but the separators."""
    if configuration["retrieval"]["strategy"] == "external":
        return "its own chunks"
    return _described(configuration["chunking"], {"separators"})


def describe_retrieval(configuration: Mapping[str, Any]) -> str:
    """The retrieval in a few words; what only a rerank stage reads is left out where there is none."""
    idle = {"rerank_k", "redundancy", "cross_encoder"} if configuration["retrieval"].get("rerank") == "none" else set()
    return _described(configuration["retrieval"], idle)


def _described(section: Mapping[str, Any], hidden: set[str]) -> str:
    """The strategy, then its entries; those that are empty or say "none" are left out."""
    entries = {key: value for key, value in section.items() if key not in {"strategy", *hidden}}
    shown = [f"{key}={value}" for key, value in sorted(entries.items()) if value not in (None, "none")]
    return " ".join([section["strategy"], *shown])


def describe_weights(model: Mapping[str, Any]) -> str:
    """The honest line about the weights: what the numbers were made with."""
    weights = model.get("weights")
    return f"{model['name']}, source {model['source']}, {model['precision']}" + (f" ({weights})" if weights else "")


def summary_tables(metrics: Mapping[str, Any], timing: Mapping[str, Any]) -> list[Table]:
    """Measures, measures by type, losses, answers, and time, in the order in which they are read."""
    return [
        measures_table(metrics),
        types_table(metrics),
        losses_table(metrics),
        answers_table(metrics),
        declining_table(metrics),
        timing_table(timing),
    ]


def measures_table(metrics: Mapping[str, Any]) -> Table:
    """Every measure with its interval, and the level that a random order of the same chunks reaches."""
    found = {name: metrics["measures"][name] for name in MEASURES if name in metrics["measures"]}
    rows = [
        (name, number(e["mean"]), f"{number(e['low'])} to {number(e['high'])}", number(e.get("chance")), str(e["n"]))
        for name, e in found.items()
    ]
    return table("Measures", ("measure", "#mean", "#95 % interval", "#chance", "#questions"), rows)


def types_table(metrics: Mapping[str, Any]) -> Table:
    """The main measures for each type of question."""
    shown = [name for name in BY_TYPE if name in metrics["measures"]]
    rows = []
    for name, found in metrics["by_type"].items():
        count = max(e["n"] for e in found.values())
        rows.append((name, str(count), *(number(found[m]["mean"]) if m in found else "–" for m in shown)))
    return table("By type", ("type", "#questions", *(f"#{name}" for name in shown)), rows)


def losses_table(metrics: Mapping[str, Any]) -> Table:
    """Where the judgments that no hit within top k covers were lost."""
    counts = metrics["losses"]["stages"]
    rows = [(stage, str(counts[stage]), meaning) for stage, meaning in MEANING.items() if stage in counts]
    return table("Lost judgments, by the stage that lost them", ("stage", "#judgments", "meaning"), rows)


MEANING = {
    "parse": "the label was found in no block",
    "chunk": "no chunk holds enough of it (cut in two, say)",
    "candidates": "no covering chunk among the first candidate_k",
    "threshold": "its covering chunks scored below the threshold",
    "rerank": "within top k before reranking, outside after",
    "rank": "among the candidates, but below top k",
}


PHASES = ("model", "parse", "chunk", "embed and index", "resolve", "retrieve", "answer", "measure")
"""In the order in which a run goes through them."""


def timing_table(timing: Mapping[str, Any]) -> Table:
    """What the run cost on the machine it was made on."""
    latency = timing["latency_ms"]
    phases = timing["phases"]
    known = [name for name in PHASES if name in phases]
    rows = [(name, f"{phases[name]:.2f} s") for name in (*known, *sorted(phases.keys() - known))]
    rows.append(("question, median", f"{latency['p50']:.1f} ms"))
    rows.append(("question, 95th percentile", f"{latency['p95']:.1f} ms"))
    if timing.get("peak_memory_mb") is not None:
        rows.append(("peak memory", f"{timing['peak_memory_mb']:.0f} MB"))
    return table("Time and memory, on this machine", ("phase", "#cost"), rows)


def summary(metrics: Mapping[str, Any], timing: Mapping[str, Any]) -> str:
    """`summary.md`."""
    parts = [
        f"# Evaluation {escape(metrics['configuration']['name'])}",
        escape(headline(metrics)) + ".",
        f"Model: {escape(describe_weights(metrics['model']))}.",
    ]
    for shown in summary_tables(metrics, timing):
        parts += [f"## {shown.title}", markdown(shown)]
    found = metrics["unanswerable"]
    if found["n"]:
        parts += [
            "## Unanswerable questions",
            f"{found['n']} questions have no answer in the corpus. AUROC of the best hit's score, answerable over"
            f" unanswerable: {number(found['auroc'])} (0.5 tells nothing).",
        ]
    if (learned := threshold_line(metrics)) is not None:
        parts.append(learned)
    return "\n\n".join(parts) + "\n"
