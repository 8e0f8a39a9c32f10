"""`ragkit init`."""

from __future__ import annotations

from pathlib import Path

import click

from ragkit.cli.console import notice, say


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path))
def init_command(folder: Path) -> None:
    """Lay out an evaluation folder for your own documents, with a worked example.

    \b
    ragkit init my-eval
    ragkit eval --config my-eval/configs/first.toml
    """
    from ragkit.dataset.layout import lay_out

    for name in lay_out(folder):
        say(folder / name)
    notice(f"read {folder / 'README.md'} next")
