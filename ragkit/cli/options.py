"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ragkit import config


def configuration_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--config` and `--set`; the command gets the parsed configuration as `settings`."""

    @click.option(
        "--config",
        "path",
        type=click.Path(path_type=Path),
        default=config.DEFAULT_PATH,
        show_default=True,
        help="The configuration, a TOML file.",
    )
    @click.option(
        "--set", "overrides", multiple=True, metavar="SECTION.KEY=VALUE", help="Override one entry; repeatable."
    )
    @functools.wraps(command)
    def wrapped(path: Path, overrides: tuple[str, ...], **arguments: Any) -> Any:
        return command(settings=config.load(path, overrides), **arguments)

    return wrapped


def policy_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--policy`; the command gets the file's path as `policy_path`."""
    return click.option(
        "--policy",
        "policy_path",
        type=click.Path(path_type=Path),
        default=Path("eval/policy.toml"),
        show_default=True,
        help="What is adopted, when there is headroom, how far scores may move.",
    )(command)
