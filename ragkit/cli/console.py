"""How commands print: rich on a terminal, plain text in a pipe; progress only on a terminal's stderr.

Names and texts come from files that anybody may have written, so everything goes through here: no escape
sequence reaches a terminal, and no text is markup to rich.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ragkit.files import canonical_json
from ragkit.records import Progress
from ragkit.report.tables import Table, plain
from ragkit.text import visible


def say(text: object) -> None:
    """Print a line of the result; control characters in it are shown, not sent."""
    click.echo(visible(str(text)))


def show(table: Table) -> None:
    """Print a table: drawn with rich on a terminal, tab-separated with a header line elsewhere."""
    if not sys.stdout.isatty():
        say(plain(table))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table as Drawn
    from rich.text import Text

    title = Text(visible(table.title)) if table.title else None
    drawn = Drawn(title=title, title_justify="left", box=box.SIMPLE_HEAD, title_style="bold")
    for column, numeric in zip(table.columns, table.numeric, strict=True):
        drawn.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(visible(cell)) for cell in row))
    Console().print(drawn)


def show_json(value: Any) -> None:
    """Print JSON in the one canonical form, but for characters that a terminal would obey: they are escaped."""
    click.echo(visible(canonical_json(value)), nl=False)


def notice(message: str) -> None:
    """Tell the user, on stderr, something that is not the result."""
    click.echo(visible(message), err=True)


@contextmanager
def progress(label: str, total: int | None, *, in_bytes: bool = False) -> Iterator[Progress]:
    """A progress bar that advances by what it is called with; silent where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    count = DownloadColumn() if in_bytes else MofNCompleteColumn()
    columns = (TextColumn("{task.description:<12}"), BarColumn(), count, TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda done: bar.advance(task, done)
