"""`ragkit freeze` and `ragkit check`."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click

from ragkit import config
from ragkit.cli.console import notice, progress, say, show_json
from ragkit.cli.options import configuration_options, policy_option


@click.command("freeze")
@configuration_options
@policy_option
@click.option(
    "--allow",
    type=click.Choice(["dirty", "saturated"]),
    multiple=True,
    help="Freeze although: the work tree has uncommitted changes; no candidate could be found better. Repeatable.",
)
def freeze_command(settings: config.Configuration, policy_path: Path, allow: tuple[str, ...]) -> None:
    """Run a configuration and make it the baseline that experiments are compared with.

    Writes docs/eval/baseline-NAME.json (the run's metrics.json), .meta.json (commit, command, environment),
    .timing.json and .md, for you to commit. Nothing else in ragkit ever writes them.

    \b
    ragkit freeze
    ragkit freeze --config eval/configs/v1.4.toml
    """
    from ragkit.baseline import freeze
    from ragkit.comparison import read_policy

    paths = freeze(
        settings,
        click.get_current_context().params["path"],
        shlex.join(["ragkit", *sys.argv[1:]]),
        evaluate=_evaluation(settings),
        policy=read_policy(policy_path),
        allow=allow,
    )
    for written in dataclasses.astuple(paths):
        say(written)


@click.command("check")
@configuration_options
@policy_option
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def check_command(settings: config.Configuration, policy_path: Path, as_json: bool) -> None:
    """Run the baseline's configuration again and compare with what is committed.

    On the kind of machine that froze it, every byte must be the same; on another, scores may move within the
    policy's tolerance. Exits with 1 and the questions that moved otherwise, with 4 when there is no baseline or it
    doesn't compare.

    \b
    ragkit check
    ragkit check --config eval/configs/v1.4.toml
    """
    from ragkit.baseline import check
    from ragkit.comparison import read_policy

    found = check(settings, evaluate=_evaluation(settings), policy=read_policy(policy_path))
    if as_json:
        show_json(dataclasses.asdict(found))
    for line in found.notices:
        notice(line)
    found.raise_problems()
    if not as_json:
        say(f"baseline {settings.name} reproduced: {len(found.flips)} questions moved")


def _evaluation(settings: config.Configuration) -> Callable[[Path], object]:
    from ragkit.embedding import cache_root
    from ragkit.experiment import run

    return lambda folder: run(settings, cache=cache_root(), out=folder, progress=progress, notice=notice)
