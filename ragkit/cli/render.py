"""`ragkit render`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ragkit.cli.console import notice, say
from ragkit.jupyter import import_jsonschema


@click.command("render")
@click.argument("documents", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--engine",
    type=click.Choice(["auto", "quarto", "jupyter"]),
    default="auto",
    show_default=True,
    help="auto: Quarto where it is on the PATH, else Jupyter's own tools.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the pages.  [default: docs/_site]",
)
def render_command(documents: tuple[Path, ...], engine: Any, out: Path | None) -> None:
    """Execute documents (.qmd) and make each one HTML page; without DOCUMENTS, all below docs.

    \b
    ragkit render docs/eval/baseline-v1.4.qmd
    ragkit render --engine jupyter --out pages
    """
    import_jsonschema()
    from ragkit.render import find_documents, render

    for page in render(documents or find_documents(Path()), engine, out, notice):
        say(page)
