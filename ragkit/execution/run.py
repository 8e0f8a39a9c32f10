"""The configurations of a sweep, each executed as a notebook unless its results are there already.

`eval/runs/SWEEP/CONFIG_ID/` has a configuration's results, `CONFIG_ID.ipynb` beside it the executed notebook.
Results are there when metrics.json is, which a run writes last, and it is of the data as they are now.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragkit.comparison import Metrics, read_metrics, read_timing
from ragkit.embedding.locks import locked
from ragkit.errors import BaselineError, FileError
from ragkit.execution.executors import Open, work
from ragkit.execution.grid import Sweep, Variant
from ragkit.execution.notebook import Task, check_notebook, failure

RUNS = Path("eval/runs")
ATTEMPTS = 3
"""How often a configuration is tried whose process or kernel dies (not: whose notebook fails)."""
POLL = 0.5
"""Seconds: where waiting without end can't be interrupted, it is for so long."""
State = Literal["kept", "waiting", "running", "again", "done", "failed"]
Watch = Callable[[str, State, str], None]
"""Called with a configuration's label, its new state, and a remark."""


@dataclass(frozen=True, slots=True)
class Executed:
    """What is there after a sweep: metrics by label, and what went wrong with the others."""

    metrics: Mapping[str, Metrics]
    failures: Mapping[str, str]
    ran: tuple[str, ...]


def run_folder(sweep: Sweep, variant: Variant) -> Path:
    """Where the results of a configuration are."""
    return RUNS / sweep.name / variant.config_id


def execute_sweep(
    sweep: Sweep, data: Mapping[str, str | None], open_executor: Open, at_once: int, watch: Watch
) -> Executed:
    """Execute what is missing; `data` are the hashes of the dataset that results must have been made with.

    A configuration that fails leaves its notebook, with the traceback, and the others go on. Interrupted, it leaves
    whole results or none. Raises `UsageError` and `FileError` as `check_notebook`.
    """
    folder = RUNS / sweep.name
    tasks = {variant.label: _task(sweep, variant) for variant in sweep.variants}
    with locked(folder / ".lock", lambda: watch(sweep.name, "waiting", "another sweep of this name is running")):
        _sweep_up(folder)
        missing = [variant for variant in sweep.variants if _finished(sweep, variant, data) is None]
        for variant in sweep.variants:
            watch(variant.label, "waiting" if variant in missing else "kept", "")
        if missing:
            check_notebook(sweep.notebook, tasks[missing[0].label].parameters)
        for variant in missing:
            shutil.rmtree(run_folder(sweep, variant), ignore_errors=True)
        try:
            errors = _execute({each.label: tasks[each.label] for each in missing}, open_executor, at_once, watch)
        finally:
            _sweep_up(folder)
    found = {each.label: _finished(sweep, each, data) for each in sweep.variants}
    nothing = "the notebook ended without writing metrics.json"
    failures = {label: errors.get(label, nothing) for label, metrics in found.items() if metrics is None}
    for label in failures.keys() - errors.keys():
        watch(label, "failed", nothing)
    metrics = {label: metrics for label, metrics in found.items() if metrics is not None}
    return Executed(metrics, failures, tuple(variant.label for variant in missing))


def _task(sweep: Sweep, variant: Variant) -> Task:
    folder = run_folder(sweep, variant).absolute()
    parameters = {"config": str(sweep.base), "overrides": list(variant.overrides), "out": str(folder)}
    return Task(str(sweep.notebook.absolute()), f"{folder}.ipynb", str(Path.cwd()), parameters)


def _execute(tasks: Mapping[str, Task], open_executor: Open, at_once: int, watch: Watch) -> dict[str, str]:
    """What went wrong, by label. A dead worker takes its whole pool along, so what is left gets a new one."""
    left, errors = dict(tasks), dict[str, str]()
    for attempt in range(ATTEMPTS):
        if not left:
            break
        with open_executor() as executor:
            for label, error in _results(executor, dict(left), at_once, watch):
                errors.pop(label, None)
                if error is not None:
                    errors[label] = failure(error)
                died = isinstance(error, RuntimeError)  # the worker or its kernel, not a cell of the notebook
                again = died and attempt + 1 < ATTEMPTS
                if not again:
                    del left[label]
                watch(label, "again" if again else "failed" if error else "done", errors.get(label, ""))
    return errors


def _results(
    executor: Executor, waiting: dict[str, Task], at_once: int, watch: Watch
) -> Iterator[tuple[str, BaseException | None]]:
    """What became of each, as they end; of none that a broken executor didn't take."""
    futures: dict[Future[None], str] = {}
    while waiting or futures:
        while waiting and len(futures) < at_once:
            label = next(iter(waiting))
            task = waiting.pop(label)
            try:
                futures[executor.submit(work, task)] = label
                watch(label, "running", "")
            except BrokenExecutor:
                waiting.clear()
        for future in wait(futures, POLL, FIRST_COMPLETED).done:
            yield futures.pop(future), future.exception()


def _finished(sweep: Sweep, variant: Variant, data: Mapping[str, str | None]) -> Metrics | None:
    path = run_folder(sweep, variant) / "metrics.json"
    if not path.is_file():
        return None
    try:
        metrics, timing = read_metrics(path), read_timing(path)
    except (FileError, BaselineError):  # damaged, or of another version of ragkit
        return None
    found = {"corpus": metrics.dataset.corpus, "questions": metrics.dataset.questions, "splits": metrics.dataset.splits}
    own = (metrics.config_id, metrics.name) == (variant.config_id, variant.settings.name)
    return metrics if own and found == data and timing is not None else None


def _sweep_up(folder: Path) -> None:
    """Remove what a killed kernel left of results that it was writing."""
    for path in (*folder.glob(".*.tmp"), *folder.glob(".*.old")):
        shutil.rmtree(path, ignore_errors=True)
    for path in folder.glob("*.tmp"):
        path.unlink(missing_ok=True)
