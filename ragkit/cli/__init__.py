"""The command line: parse, call one function, print.

One module per command; `COMMANDS` says where each is, and it is imported only when it is called or its
help is shown, so that `ragkit --help` costs no model, database or notebook library.
A known error is its message on stderr and the exit code that `ragkit.errors` documents.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from ragkit import __version__
from ragkit.errors import RagkitError

COMMANDS = {
    "prepare": (
        "ragkit.cli.prepare",
        "Download, convert and check the embedding model (once; the only step that needs a network).",
    ),
    "cache-key": ("ragkit.cli.prepare", "Print the key under which CI caches the prepared model."),
    "eval": ("ragkit.cli.evaluate", "Run one configuration over corpus and questions and print its measures."),
    "freeze": (
        "ragkit.cli.baseline",
        "Run a configuration and make it the baseline that experiments are compared with.",
    ),
    "check": ("ragkit.cli.baseline", "Run the baseline's configuration again and compare with what is committed."),
    "compare": ("ragkit.cli.compare", "Compare a run with the baseline: differences, what they prove, a verdict."),
    "sweep": ("ragkit.cli.sweep", "Execute every configuration of a sweep as a notebook, and judge them all."),
    "render": ("ragkit.cli.render", "Execute documents and make each one an HTML page, with Quarto or without."),
    "validate": ("ragkit.cli.data", "Check questions, splits and corpus; print every problem with file and line."),
    "blocks": ("ragkit.cli.data", "Show the blocks of one document, as labels number them."),
    "locate": ("ragkit.cli.data", "Find the block that a label should point to."),
    "golden": ("ragkit.cli.golden", "Score saved results of any system against golden cases; no model, no network."),
    "record": ("ragkit.cli.golden", "Save what a retriever or a service returns for the golden cases."),
    "score": ("ragkit.cli.score", "Score any system's TREC run against TREC judgments, as trec_eval does."),
    "import": ("ragkit.cli.interchange", "Make an evaluation folder of a BEIR or TREC collection."),
    "export": ("ragkit.cli.interchange", "Write a run for trec_eval, ir_measures, ranx or as a BEIR folder."),
    "init": ("ragkit.cli.init", "Lay out an evaluation folder for your own documents."),
}
"""Command: the module that has it, its line in `ragkit --help`."""

INTERRUPTED = 130
"""The exit code that shells use for Ctrl-C."""


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(module), cmd_name.replace("-", "_") + "_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="ragkit")
def cli() -> None:
    """Did this change make retrieval better?

    \b
    First time:      ragkit prepare && ragkit eval
    Another setting: ragkit eval --set chunking.chunk_size=250 --out eval/runs/small
    Where is it?     ragkit locate "some words of a document"

    Exit codes: 0 fine; 1 numbers differ or a candidate was rejected; 2 usage, configuration or data;
    3 model missing or damaged; 4 baseline missing or not comparable.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit the process with its code."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code. What `main` does, without leaving the process."""
    try:
        result: Any = cli.main(arguments, prog_name="ragkit", standalone_mode=False)
    except RagkitError as error:
        _tell(str(error))
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        _tell("interrupted: nothing half-written was left")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, say) went away; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return result if isinstance(result, int) else 0


def _tell(message: str) -> None:
    from ragkit.cli.console import notice  # `ragkit --help` doesn't pay for it

    notice(message)
