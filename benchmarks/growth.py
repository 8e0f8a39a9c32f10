"""How the cost of an eval grows with documents and with questions: each phase's time, the whole's memory, the exponents.

The corpus is made up (synthetic.py), the encoder is the hashing one, nothing is cached; each point is an eval in a process of
its own, the largest once and all others three times, around it: the median of each phase is shown. An exponent is the
slope between the last two points in logarithms: 1 is linear growth. Searching compares every question with every chunk,
so documents grow with the questions fixed, and questions with the documents fixed.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from frame import Bar, Row, Section
from synthetic import write_dataset
from table import markdown_table

HERE = Path(__file__).resolve().parent
DOCUMENTS = (20, 200, 2_000, 20_000)
QUESTIONS = (200, 2_000, 20_000)
FIXED_QUESTIONS, FIXED_DOCUMENTS = 200, 200
TOLERANCE = 1.1
"""The greatest exponent that still counts as linear: a constant cost bends the line of small points, caches that of large."""
SHORT = 1.0
"""Seconds below which a phase's time at the larger point says nothing about growth."""
REPEATS = 3
"""Of every point but the largest: a phase of a fraction of a second says little in one run on a machine with neighbours."""
REST, WHOLE = "start, write and end", "whole process"


@dataclass(frozen=True)
class Point:
    """One eval: seconds by phase, with the `whole process`, and peak memory in MB."""

    documents: int
    questions: int
    chunks: int
    seconds: dict[str, float]
    peak_mb: float


def evaluated(documents: int, questions: int) -> Point:
    print(f"  {documents} documents, {questions} questions", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_dataset(folder, documents, questions)
        settings = {
            "dataset.corpus": folder / "corpus",
            "dataset.questions": folder / "questions.jsonl",
            "dataset.splits": folder / "splits.json",
            "model.name": "hashing",
            "model.source": "builtin",
        }
        entries = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        command = [sys.executable, "-m", "ragkit", "eval", "--no-cache", "--out", folder / "run", *entries]
        started = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        whole = time.perf_counter() - started
        timing = json.loads((folder / "run/timing.json").read_text(encoding="utf-8"))
        chunks = json.loads((folder / "run/metrics.json").read_text(encoding="utf-8"))["dataset"]["chunks"]
    phases = timing["phases"]
    rest = max(whole - sum(phases.values()), 0.0)  # less than nothing where phases run side by side
    seconds = {**phases, REST: rest, WHOLE: whole}
    return Point(documents, questions, chunks, seconds, timing["peak_memory_mb"] or math.nan)


def in_turn(sizes: Sequence[int], at: Callable[[int], Point]) -> list[Point]:
    """The points at these sizes, the last of which is measured once, between the rounds of the others."""
    *small, largest = sizes
    found = {size: [at(size)] for size in sizes}
    for size in small * (REPEATS - 1):
        found[size].append(at(size))
    return [middle(found[size]) for size in (*small, largest)]


def middle(runs: Sequence[Point]) -> Point:
    """The median of each phase; the greatest peak."""
    first = runs[0]
    seconds = {phase: statistics.median(run.seconds.get(phase, 0.0) for run in runs) for phase in first.seconds}
    return Point(first.documents, first.questions, first.chunks, seconds, max(run.peak_mb for run in runs))


def exponent(small: tuple[float, float], large: tuple[float, float]) -> float:
    """Of a power law through two (size, cost) points.

    >>> exponent((10, 3), (100, 300))
    2.0
    """
    return math.log(large[1] / small[1]) / math.log(large[0] / small[0])


def exponents(points: list[Point], axis: str) -> dict[str, float]:
    """By phase, between the last two points; phases that are short even at the last are left out."""
    small, large = points[-2:]
    sizes = getattr(small, axis), getattr(large, axis)
    return {
        phase: exponent((sizes[0], small.seconds[phase]), (sizes[1], seconds))
        for phase, seconds in large.seconds.items()
        if seconds >= SHORT and small.seconds.get(phase)
    }


def slope(points: list[Point], axis: str) -> float:
    """MB of peak memory for each 1,000 more, between the last two points."""
    small, large = points[-2:]
    return 1000 * (large.peak_mb - small.peak_mb) / (getattr(large, axis) - getattr(small, axis))


def plot(points: list[Point], axis: str, fixed: str, path: Path) -> None:
    """Seconds by phase and peak memory against the size, both axes logarithmic."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": axis, "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(10, 4), layout="constrained")
        times, memory = figure.subplots(1, 2, width_ratios=(3, 2))
        sizes = [getattr(point, axis) for point in points]
        for phase in points[-1].seconds:
            cost = [point.seconds.get(phase, math.nan) for point in points]
            whole = phase == WHOLE
            times.loglog(sizes, cost, marker="o", markersize=3, color="black" if whole else None, label=phase)
        guide = points[-1].seconds[WHOLE]
        times.loglog(sizes, [guide * size / sizes[-1] for size in sizes], color="grey", ls=":", label="linear")
        times.set(xlabel=f"{axis} ({fixed})", ylabel="seconds", ylim=(1e-2, None))
        figure.legend(*times.get_legend_handles_labels(), loc="outside left center", fontsize=8)  # beside the lines
        memory.loglog(sizes, [point.peak_mb for point in points], marker="o", markersize=3, color="black")
        memory.set(xlabel=axis, ylabel="peak memory, MB")
        for axes in (times, memory):
            axes.grid(visible=True, which="major", alpha=0.3)
        figure.savefig(path, metadata={"Date": None, "Creator": None})


def table_of(points: list[Point], axis: str, found: dict[str, float]) -> str:
    phases = list(points[-1].seconds)
    body = [
        [
            phase,
            *(f"{point.seconds.get(phase, 0):.2f} s" for point in points),
            f"{found[phase]:.2f}" if phase in found else "short",
        ]
        for phase in phases
    ]
    memory = exponent(*((getattr(point, axis), point.peak_mb) for point in points[-2:]))
    body.append(["peak memory", *(f"{point.peak_mb:,.0f} MB" for point in points), f"{memory:.2f}"])
    body.append(["chunks", *(f"{point.chunks:,}" for point in points), ""])
    return markdown_table(("phase", *(f"{getattr(point, axis):,} {axis}" for point in points), "exponent"), body)


def grown(points: list[Point], axis: str, fixed: str, drawn: Path | None) -> tuple[Row, list[str]]:
    found = exponents(points, axis)
    bars = [
        Bar("exponent of the phase that grows fastest", max(found.values(), default=0.0), TOLERANCE, at_least=False)
    ]
    last, per_thousand = points[-1], slope(points, axis)
    row = Row(
        f"{axis} growing to {getattr(last, axis):,}, {fixed}",
        "ragkit eval, hashing encoder",
        "ragkit",
        (last.seconds[WHOLE],),
        getattr(last, axis),
        axis,
        last.peak_mb,
        checked=f"{per_thousand:.1f} MB more for 1,000 more {axis}",
        bars=tuple(bars),
    )
    notes = [
        f"**{axis.capitalize()}**, {fixed}. Peak memory at {getattr(last, axis):,}: {last.peak_mb:,.0f} MB;"
        f" {per_thousand:.1f} MB more for 1,000 more.",
        table_of(points, axis, found),
    ]
    if drawn:
        plot(points, axis, fixed, drawn)
        notes.append(f"![Seconds by phase, and peak memory, as {axis} grow]({drawn.name})")
    return row, notes


def measure(quick: bool) -> Section:
    documents, questions = ((20, 40), (200, 400)) if quick else (DOCUMENTS, QUESTIONS)
    by_documents = in_turn(documents, lambda count: evaluated(count, FIXED_QUESTIONS))
    few = 20 if quick else FIXED_DOCUMENTS
    by_questions = in_turn(questions, lambda count: evaluated(few, count))
    found = [
        grown(
            by_documents, "documents", f"{FIXED_QUESTIONS} questions", None if quick else HERE / "growth-documents.svg"
        ),
        grown(by_questions, "questions", f"{few} documents", None if quick else HERE / "growth-questions.svg"),
    ]
    notes = [__doc__.partition("\n\n")[2].strip(), *(note for _, notes in found for note in notes)]
    return Section("Growth", [row for row, _ in found], ("apsw", "sqlite-vec"), notes)
