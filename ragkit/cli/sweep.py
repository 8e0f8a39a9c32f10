"""`ragkit sweep`."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ragkit.cli.console import notice, say, show
from ragkit.errors import RagkitError, UsageError
from ragkit.text import visible


@click.command("sweep")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Notebooks at a time; with more than one, times include waiting for each other.",
)
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler (tcp://host:8786) in place of processes here.")
@click.option("--yes", is_flag=True, help="Don't ask, however many configurations there are.")
@click.option("--no-confirm", is_flag=True, help="Explore only: no confirmatory test, nothing goes into the ledger.")
def sweep_command(file: Path, workers: int, scheduler: str | None, yes: bool, no_confirm: bool) -> None:
    """Execute every configuration of a sweep as a notebook and judge all against the frozen baseline.

    FILE says what varies (docs/experiments.qmd). Results go to eval/runs/NAME, and what is there already is not made
    again; the report goes to docs/eval/experiments. The best configuration on dev is tested once on test, and the test
    recorded in the ledger. Exits with 1 when a configuration failed.

    \b
    ragkit sweep eval/sweeps/chunking.toml
    ragkit sweep eval/sweeps/retrieval.toml --workers 2
    """
    from ragkit.comparison import Policy, read_policy
    from ragkit.comparison.policy import DEFAULT_PATH
    from ragkit.embedding import cache_root
    from ragkit.execution.executors import preload, processes
    from ragkit.execution.grid import read_sweep
    from ragkit.execution.sweep import run_sweep
    from ragkit.report.sweep import headline, results_table
    from ragkit.report.tables import table

    sweep = read_sweep(file, functools.partial(_ask, yes=yes))
    rows = [(each.label, each.config_id, ", ".join(each.overrides[:-1])) for each in sweep.variants]
    title = f"Sweep {sweep.name} varies {' and '.join(sweep.variables)}"
    show(table(f"{title}: {len(rows)} configurations", ("configuration", "id", "changes"), rows))
    if not DEFAULT_PATH.exists():
        notice(f"{DEFAULT_PATH}: not there; the protocol's own values are used")
    if scheduler is None:
        preload()  # beside the check of the data
        open_executor: Any = functools.partial(processes, workers)
    else:
        from ragkit.execution.cluster import cluster

        open_executor = functools.partial(cluster, scheduler)
    with _watching(len(rows)) as watch:
        done = run_sweep(
            sweep,
            cache=cache_root(),
            open_executor=open_executor,
            at_once=workers if scheduler is None else len(rows),
            policy=read_policy(DEFAULT_PATH) if DEFAULT_PATH.exists() else Policy(),
            book=DEFAULT_PATH.with_name("ledger.jsonl"),
            confirm=not no_confirm,
            watch=watch,
        )
    show(results_table(done.found))
    say(headline(done.found))
    for path in done.written:
        notice(str(path))
    if done.failures:
        lines = [f"{label}: {reason}" for label, reason in done.failures.items()]
        kept = f"the notebooks, with tracebacks, are in eval/runs/{sweep.name}; run it again for these alone"
        raise RagkitError("\n".join([f"{len(lines)} of {len(rows)} configurations failed; {kept}", *lines]))


def _ask(count: int, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(f"{count} configurations: say --yes if you mean it")
    click.confirm(f"{count} configurations. Go on?", abort=True, err=True)


@contextmanager
def _watching(total: int) -> Iterator[Callable[[str, str, str], None]]:
    """Tell what becomes of each configuration: a line for each on a terminal, with its time; elsewhere what changes."""
    if not sys.stderr.isatty():
        ended = 0

        def tell(label: str, state: str, remark: str) -> None:
            nonlocal ended
            ended += state in ("kept", "done", "failed")
            if state != "waiting" or remark:
                notice(f"[{ended}/{total}] {label}: {state}{f' ({remark})' if remark else ''}")

        yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TextColumn("{task.fields[state]}", markup=False), console=Console(stderr=True),
    ) as bars:  # fmt: skip
        overall = bars.add_task("all configurations", total=total, state="")
        tasks: dict[str, Any] = {}

        def draw(label: str, state: str, remark: str) -> None:
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=1, start=False, state="")
            bars.update(tasks[label], state=visible(f"{state} {remark}".strip()))
            if state in ("running", "again"):
                bars.start_task(tasks[label])
            elif state in ("kept", "done", "failed") and not bars.tasks[tasks[label]].finished:
                bars.update(tasks[label], completed=1)
                bars.advance(overall)

        yield draw
