"""Figures of one evaluation; matplotlib is imported here and nowhere else.

Every function returns a matplotlib `Figure` that no window shows by itself; the figure's label is its
alternative text, made of the same numbers. `inline` puts one into a page, where its text takes
the page's own colour. The hues can be told apart with any colour vision and on a light and a dark ground.
"""

from __future__ import annotations

import functools
import html
import io
import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from ragkit.comparison import Comparison
from ragkit.measures.contract import NDCG, RANK_CUTOFF, RECALL_CUTOFFS
from ragkit.measures.losses import STAGES
from ragkit.measures.summary import UNTYPED
from ragkit.report.page import Html
from ragkit.text import visible

BLUE, ORANGE, GREEN, PURPLE = "#2b88c8", "#d55e00", "#009e73", "#cc79a7"
"""After Okabe and Ito, the blue lightened: each has a contrast of 3 or more with white and with a dark page."""
INK = "#31373d"
"""Text and axes; a page puts its own text colour in its place."""
WIDTH = 7.0
LABEL_WIDTH = 40
"""Characters of a name that a label has room for."""
_STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "font.size": 10.5,
    "grid.alpha": 0.18,
    "grid.color": INK,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "text.color": INK,
    "text.parse_math": False,  # a $ in a name is a dollar
    "xtick.color": INK,
    "ytick.color": INK,
}
P = ParamSpec("P")
LEGEND_ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "ncols": 3, "borderaxespad": 0.2}


def _styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in the style of this module, whatever the notebook has set."""

    @functools.wraps(draw)
    def drawn(*arguments: P.args, **keywords: P.kwargs) -> Figure:
        with mpl.rc_context(_STYLE):
            return draw(*arguments, **keywords)

    return drawn


@_styled
def recall_curve(metrics: Mapping[str, Any]) -> Figure:
    """Recall@k for each k up to the depth that rankings are judged to, with intervals where there are any."""
    judged = [question["first_ranks"] for question in metrics["questions"] if question["first_ranks"]]
    ks = range(1, max(RANK_CUTOFF, metrics["configuration"]["retrieval"]["top_k"]) + 1)
    means = [_mean([sum(r is not None and r <= k for r in ranks) / len(ranks) for ranks in judged]) for k in ks]
    figure, axes = _figure(3.6)
    axes.plot(ks, means, color=BLUE, marker="o", markersize=4, label="Recall@k")
    shown = {k: metrics["measures"][f"Recall@{k}"] for k in RECALL_CUTOFFS}
    _intervals(axes, list(shown), list(shown.values()), BLUE)
    axes.plot(
        list(shown),
        [e["chance"] for e in shown.values()],
        color=ORANGE,
        ls="--",
        marker="s",
        ms=4,
        label="random order",
    )
    axes.set(xlabel="k, hits looked at", ylabel="share of judgments found", xticks=ks, ylim=(0, 1.02))
    axes.legend(**LEGEND_ABOVE)
    told = ", ".join(f"{e['mean']:.3f} at k = {k} (random order {e['chance']:.3f})" for k, e in shown.items())
    return _named(figure, f"Line chart of Recall@k: {told}.")


@_styled
def by_type(metrics: Mapping[str, Any], measures: Sequence[str] = ("Recall@5", NDCG)) -> Figure:
    """Measures by type of question, with intervals."""
    names = [name for name in metrics["by_type"] if set(measures) <= set(metrics["by_type"][name])]
    figure, axes = _figure(1.1 + 0.2 * len(measures) * len(names) + 0.12 * len(names))
    height = 0.8 / len(measures)
    for at, (measure, colour) in enumerate(zip(measures, (BLUE, GREEN, PURPLE), strict=False)):
        found = [metrics["by_type"][name][measure] for name in names]
        places = [row + (at - (len(measures) - 1) / 2) * height for row in range(len(names))]
        axes.barh(places, [e["mean"] for e in found], height * 0.86, color=colour, label=measure)
        _intervals(axes, places, found, INK, vertical=False)
    counts = [max(e["n"] for e in metrics["by_type"][name].values()) for name in names]
    shown = ["no type" if name == UNTYPED else _short(name) for name in names]
    labels = [f"{name} ({n})" for name, n in zip(shown, counts, strict=True)]
    axes.set(xlabel="mean over the questions of the type, with its 95 % interval", xlim=(0, 1.02))
    axes.set_yticks(range(len(names)), labels)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.legend(**LEGEND_ABOVE)
    told = ", ".join(
        f"{name} {metrics['by_type'][key][measures[0]]['mean']:.3f}" for name, key in zip(shown, names, strict=True)
    )
    return _named(figure, f"Bar chart by type of question; {measures[0]}: {told}.")


@_styled
def scores(metrics: Mapping[str, Any]) -> Figure:
    """How scores are distributed: hits that cover a judgment and others; best hits with and without an answer."""
    answerable = [q for q in metrics["questions"] if q["answerable"]]
    others = [q for q in metrics["questions"] if not q["answerable"]]
    hits = [(hit["score"], bool(hit["covers"])) for q in answerable for hit in q["hits"]]
    groups = (
        ("hits", {"covering": [s for s, covers in hits if covers], "other": [s for s, covers in hits if not covers]}),
        ("best hits", {"answerable": _best(answerable), "unanswerable": _best(others)}),
    )
    every = [s for _, group in groups for values in group.values() for s in values]
    bins = _edges(every, 22)
    figure, panels = _figure(4.6, rows=2)
    told = []
    for axes, (what, group) in zip(panels, groups, strict=True):
        for (name, values), colour, style in zip(group.items(), (BLUE, ORANGE), ("-", "--"), strict=True):
            if not values:
                continue
            weights = [1 / len(values)] * len(values)
            label = f"{name} ({len(values)})"
            axes.hist(values, bins, weights=weights, histtype="stepfilled", color=colour, alpha=0.22)
            axes.hist(values, bins, weights=weights, histtype="step", color=colour, ls=style, lw=1.6, label=label)
            told.append(f"median of {name} {what} {sorted(values)[len(values) // 2]:.3f}")
        axes.set(ylabel=f"share of {what}")
        axes.legend(**LEGEND_ABOVE)
    panels[-1].set(xlabel="score of a hit")
    return _named(figure, f"Histograms of scores: {', '.join(told)}.")


@_styled
def latency(timing: Mapping[str, Any]) -> Figure:
    """How long questions took, their embedding included."""
    found = timing["latency_ms"]
    figure, axes = _figure(3.0)
    axes.ecdf(found["values"], color=BLUE, lw=1.8)
    for name, key, style in (("median", "p50", "-"), ("95th percentile", "p95", "--")):
        axes.axvline(found[key], color=ORANGE, ls=style, lw=1.6, label=f"{name} {found[key]:.1f} ms")
    axes.set(xlabel="time for one question, ms (logarithmic)", ylabel="share of questions", xscale="log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("")
    axes.legend(**LEGEND_ABOVE)
    count, p50, p95 = len(found["values"]), found["p50"], found["p95"]
    return _named(
        figure, f"Cumulative distribution of {count} response times: median {p50:.1f} ms, 95th percentile {p95:.1f} ms."
    )


@_styled
def losses(metrics: Mapping[str, Any]) -> Figure:
    """How many judgments each stage lost."""
    counts = metrics["losses"]["stages"]
    figure, axes = _figure(2.8)
    bars = axes.barh(STAGES, [counts[stage] for stage in STAGES], 0.7, color=BLUE)
    axes.bar_label(bars, padding=4)
    axes.set(xlabel="judgments not found within top k", ylabel="lost at")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.margins(x=0.08)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    return _named(figure, f"Bar chart of lost judgments: {', '.join(f'{stage} {counts[stage]}' for stage in STAGES)}.")


@_styled
def differences(found: Comparison) -> Figure:
    """Each question's difference in the primary measure (candidate - baseline), of those that moved."""
    measure = found.primary.measure
    moved = sorted((q.primary[1] - q.primary[0] for q in found.changed if q.flipped and q.primary), reverse=True)
    figure, axes = _figure(3.0)
    axes.bar(range(1, len(moved) + 1), moved, 0.9, color=[GREEN if d > 0 else ORANGE for d in moved])
    axes.axhline(0, color=INK, lw=0.8)
    axes.set(xlabel="questions that moved, from won to lost", ylabel=f"difference in {measure}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    won = sum(d > 0 for d in moved)
    return _named(figure, f"Bar chart of differences in {measure}: {won} questions won, {len(moved) - won} lost.")


@_styled
def quality_and_cost(found: Mapping[str, Any], timing: Mapping[str, Any]) -> Figure:
    """A sweep: each configuration's difference in the primary measure on dev, over its index size and its latency."""
    rows = [row for row in found["configurations"] if row.get("measures") and row["label"] in timing["configurations"]]
    deltas = [next(d for d in row["measures"] if d["measure"] == found["primary"]) for row in rows]
    gains = [delta["difference"] for delta in deltas]
    below = [0.0 if d["low"] is None else max(0.0, d["difference"] - d["low"]) for d in deltas]
    above = [0.0 if d["high"] is None else max(0.0, d["high"] - d["difference"]) for d in deltas]
    times, base = timing["configurations"], found["baseline"]
    costs = {
        "index, MB": (base["index_bytes"] / 1e6, [row["index_bytes"] / 1e6 for row in rows]),
        "median time for one question, ms": (times["baseline"]["p50"], [times[row["label"]]["p50"] for row in rows]),
    }
    figure, panels = pyplot.subplots(2, figsize=(WIDTH, 6.4))
    pyplot.close(figure)
    for axes, (name, (cost, values)) in zip(panels, costs.items(), strict=True):
        axes.axhline(0, color=INK, lw=0.8)
        axes.plot([cost], [0], "D", color=ORANGE, ms=7, label="baseline")
        axes.errorbar(values, gains, yerr=[below, above], fmt="o", color=BLUE, elinewidth=1.0, capsize=2, ms=5)
        for place, (value, gain) in enumerate(zip(values, gains, strict=True), start=1):
            axes.annotate(str(place), (value, gain), (5, 5), textcoords="offset points", fontsize=9)
        axes.set(xlabel=name, ylabel=f"difference in {found['primary']}")
        axes.margins(x=0.08)
        axes.legend(loc="best")
    key = ", ".join(f"{place} {row['label']}" for place, row in enumerate(rows, start=1))
    panels[0].set_title(_lines(key, 95), loc="left", fontsize=9)
    told = ", ".join(f"{row['label']} {gain:+.3f}" for row, gain in zip(rows, gains, strict=True))
    return _named(figure, f"Difference in {found['primary']} against cost: {told}.")


def inline(figure: Figure) -> Html:
    """The figure as part of a page: vector graphics in the page's text colour, its label as text alternative.

    The same figure gives the same text: no date, and ids are made of the label. It scrolls where the page is narrow.
    """
    if figure.get_layout_engine() is not None:  # laid out once: a second time it would shift by fractions
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    stream, label = io.StringIO(), str(figure.get_label())
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": label}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' id="[\w.]+_\d+"', "", text)  # numbered from 1 in every figure, and nothing refers to them
    opening = f'<svg role="img" aria-label="{html.escape(label)}" style="width: 100%; min-width: 30rem; height: auto"'
    text = opening + text.removeprefix("<svg").replace(INK, "currentColor")
    return Html(f'<div style="max-width: 46rem; overflow-x: auto">{text}</div>')


def _figure(height: float, rows: int = 1) -> tuple[Figure, Any]:
    """A figure that a notebook shows where it is the value of a cell, and not a second time at the cell's end."""
    figure, axes = pyplot.subplots(rows, figsize=(WIDTH, height), sharex=rows > 1)
    pyplot.close(figure)
    return figure, axes


def _named(figure: Figure, alternative: str) -> Figure:
    figure.set_label(alternative)
    return figure


def _intervals(
    axes: Axes, at: Sequence[float], found: Sequence[Mapping[str, float]], colour: str, *, vertical: bool = True
) -> None:
    means = [e["mean"] for e in found]
    # A Wilson interval need not hold the mean of values that are not 0 or 1.
    ends = [[max(0.0, e["mean"] - e["low"]) for e in found], [max(0.0, e["high"] - e["mean"]) for e in found]]
    style: dict[str, Any] = {"fmt": "none", "ecolor": colour, "elinewidth": 1.2, "capsize": 3}
    if vertical:
        axes.errorbar(at, means, yerr=ends, **style)
    else:
        axes.errorbar(means, at, xerr=ends, **style)


def _best(questions: Sequence[Mapping[str, Any]]) -> list[float]:
    return [q["hits"][0]["score"] for q in questions if q["hits"]]


def _edges(values: Sequence[float], count: int) -> list[float]:
    """The edges of `count` bins over all values, of some width even where all are equal."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    step = (high - low) / count or 1 / count
    return [low + step * at for at in range(count + 1)]


def _short(name: str) -> str:
    """A name that somebody gave, as a label: printable, and no longer than leaves room for the bars."""
    name = visible(" ".join(name.split()))
    return name if len(name) <= LABEL_WIDTH else f"{name[: LABEL_WIDTH - 1]}…"


def _lines(text: str, width: int) -> str:
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
