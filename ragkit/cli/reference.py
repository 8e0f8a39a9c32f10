"""Every command's help as one Markdown text, for the documentation."""

from __future__ import annotations

import click

from ragkit.cli import COMMANDS, cli
from ragkit.report.page import Text

WIDTH = 84
"""Columns: what a page shows without scrolling."""


def reference() -> Text:
    """What `ragkit COMMAND --help` prints, command by command."""
    return Text("\n\n".join(f"## ragkit {name}\n\n```text\n{_help(name)}\n```" for name in COMMANDS))


def _help(name: str) -> str:
    group = click.Context(cli, info_name="ragkit")
    command = cli.get_command(group, name)
    if command is None:
        raise click.UsageError(f"no command {name}")
    context = click.Context(command, info_name=name, parent=group, terminal_width=WIDTH, max_content_width=WIDTH)
    return command.get_help(context).rstrip()
