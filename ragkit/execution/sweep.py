"""A whole sweep: check the data, execute what is missing, judge, write the report."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit import environment
from ragkit.baseline import Paths
from ragkit.chunking import chunk_document
from ragkit.comparison import Metrics, Policy, read_metrics, read_timing
from ragkit.comparison.frozen import check_whole
from ragkit.config import Bm25Retrieval, Configuration, ExternalRetrieval
from ragkit.dataset import dataset_hashes
from ragkit.embedding import load_encoder
from ragkit.errors import BaselineError, FileError
from ragkit.execution.executors import Open
from ragkit.execution.grid import Sweep
from ragkit.execution.judge import judge
from ragkit.execution.run import Executed, Watch, execute_sweep, run_folder
from ragkit.files import canonical_json, read_json, write_atomic, write_together
from ragkit.ingest import read_corpus
from ragkit.records import Document
from ragkit.report.sweep import document, sweep_markdown

REPORTS = Path("docs/eval/experiments")
SAMPLE = 64
"""Chunks that are embedded once more to learn how long that takes: in a sweep most vectors come from the cache."""


@dataclass(frozen=True, slots=True)
class Done:
    """The report's contents and files, and what went wrong by label."""

    found: dict[str, Any]
    timing: dict[str, Any]
    written: tuple[Path, ...]
    failures: Mapping[str, str]


def run_sweep(
    sweep: Sweep,
    *,
    cache: Path,
    open_executor: Open,
    at_once: int,
    policy: Policy,
    book: Path,
    confirm: bool,
    watch: Watch,
) -> Done:
    """Execute what is missing, judge all, write NAME.json, .timing.json, .md and, where it isn't there, .qmd.

    Raises `BaselineError` before anything runs when there is no baseline or it is of other data; `FileError` when no
    configuration has results; and what its parts raise. A configuration that fails is in `failures`.
    """
    started = time.perf_counter()
    baseline = _baseline(sweep)
    documents = read_corpus(Path(sweep.baseline.dataset.corpus))  # what an index would cost: nothing from the cache
    parsing = time.perf_counter() - started
    data = _data(sweep.baseline, documents)
    _check_data(sweep, baseline, data)
    executed = execute_sweep(sweep, data, open_executor, at_once, watch)
    seconds = time.perf_counter() - started
    if not executed.metrics:
        reasons = "\n".join(f"{label}: {reason}" for label, reason in executed.failures.items())
        raise FileError(f"{sweep.name}: no configuration has results\n{reasons}")
    found = judge(sweep, executed.metrics, baseline, policy, book, confirm=confirm)
    path = REPORTS / f"{sweep.name}.json"
    timing = _timing(sweep, executed, documents, parsing, cache, at_once, seconds, path.with_suffix(".timing.json"))
    page = path.with_suffix(".qmd")
    content = canonical_json(found)
    write_together(
        [
            (path.with_suffix(".timing.json"), canonical_json(timing)),
            (path.with_suffix(".md"), sweep_markdown(json.loads(content), timing)),
            (path, content),
        ]
    )
    if not page.exists():  # people add words to it
        write_atomic(page, document(sweep.name))
    written = tuple(path.with_suffix(ending) for ending in (".json", ".timing.json", ".md", ".qmd"))
    return Done(found, timing, written, executed.failures)


def _baseline(sweep: Sweep) -> Metrics:
    path = Paths.of(sweep.baseline.name).metrics
    if not path.is_file():
        raise BaselineError(f"{path}: no baseline {sweep.baseline.name!r} to compare with: ragkit freeze makes one")
    metrics = read_metrics(path)
    check_whole(path)
    if read_timing(path) is None:  # the report shows it: before anything runs
        raise BaselineError(f"{path.with_suffix('.timing.json')}: is missing: restore it from git, or freeze again")
    return metrics


def _data(settings: Configuration, documents: list[Document]) -> dict[str, str | None]:
    return dataset_hashes(documents, Path(settings.dataset.questions), Path(settings.dataset.splits))


def _check_data(sweep: Sweep, baseline: Metrics, data: Mapping[str, str | None]) -> None:
    own = sweep.baseline.dataset
    other = [
        f"{name} ({getattr(own, name)})" for name, value in data.items() if getattr(baseline.dataset, name) != value
    ]
    if baseline.config_id != sweep.baseline.config_id:
        other.append(f"configuration ({sweep.base})")
    if other:
        raise BaselineError(
            f"{baseline.path}: was frozen with another {', '.join(other)}: restore it, or freeze a new baseline"
        )


def _timing(
    sweep: Sweep,
    executed: Executed,
    documents: list[Document],
    parsing: float,
    cache: Path,
    at_once: int,
    seconds: float,
    path: Path,
) -> dict[str, Any]:
    """What the sweep cost; unchanged when nothing was executed since it was written."""
    if not executed.ran and path.exists():
        known = read_json(path)
        if isinstance(known, dict) and known.get("configurations", {}).keys() == {"baseline", *executed.metrics}:
            return known
    whole = len(executed.ran) == len(sweep.variants)
    speed = _speed(sweep.baseline, documents, cache)
    frozen = read_json(Paths.of(sweep.baseline.name).timing)
    rows = {"baseline": _cost(sweep.baseline, frozen, documents, parsing, speed)}
    for variant in sweep.variants:
        if variant.label in executed.metrics:
            cost = read_json(run_folder(sweep, variant) / "timing.json")
            rows[variant.label] = _cost(variant.settings, cost, documents, parsing, speed)
    machine = environment.describe()
    return {
        "at_once": at_once,
        "seconds": seconds if whole else None,
        "characters_per_second": speed,
        "environment": machine,
        "fingerprint": environment.fingerprint(machine),
        "configurations": rows,
    }


def _cost(
    settings: Configuration, timing: Mapping[str, Any], documents: list[Document], parsing: float, speed: float
) -> dict[str, float]:
    """`index_seconds`: parsing and embedding as they are without a cache, and chunking; storing is left out."""
    phases, own = timing["phases"], settings.retrieval
    passes = 0
    if not isinstance(own, ExternalRetrieval):
        passes = int(not isinstance(own, Bm25Retrieval) or own.rerank == "mmr") + int(own.rerank == "maxsim")
    chunks = (chunk for each in documents for chunk in chunk_document(each, settings.chunking))
    embedding = passes * sum(len(chunk.embedded_text) for chunk in chunks) / speed
    found = timing["latency_ms"]
    return {"p50": found["p50"], "p95": found["p95"], "index_seconds": parsing + phases["chunk"] + embedding}


def _speed(settings: Configuration, documents: list[Document], cache: Path) -> float:
    """Characters that are embedded in a second, of a sample of the baseline's chunks."""
    texts = [chunk.embedded_text for each in documents for chunk in chunk_document(each, settings.chunking)]
    sample = texts[:: max(1, len(texts) // SAMPLE)][:SAMPLE]
    encoder = load_encoder(settings.model, cache)
    encoder.encode(sample[:1], "passage")
    started = time.perf_counter()
    encoder.encode(sample, "passage")
    return sum(map(len, sample)) / max(time.perf_counter() - started, 1e-6)
