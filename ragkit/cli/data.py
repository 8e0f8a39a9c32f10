"""`ragkit blocks`, `ragkit locate` and `ragkit validate`: looking at documents and their labels."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from ragkit import config
from ragkit.cli.console import notice, progress, say, show, show_json
from ragkit.cli.options import configuration_options
from ragkit.errors import DataError, Problem
from ragkit.records import Document
from ragkit.report.tables import table


@click.command("blocks")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def blocks_command(file: Path, as_json: bool) -> None:
    """Show the blocks of one document: order, page, kind, breadcrumb and text, as labels number them.

    \b
    ragkit blocks eval/corpus/manuals/wl-logger.pdf
    ragkit blocks report.html --json | jq '.blocks[12].text'
    """
    from ragkit.ingest import parse_document

    document = parse_document(file, file.name)
    if as_json:
        show_json(dataclasses.asdict(document))
        return
    rows = [
        (str(b.order), "–" if b.page is None else str(b.page), b.kind, " > ".join(b.breadcrumb), b.text)
        for b in document.blocks
    ]
    show(table(f"{document.title} ({document.format})", ("#order", "#page", "kind", "breadcrumb", "text"), rows))


@click.command("locate")
@click.argument("words", nargs=-1, required=True)
@configuration_options
@click.option("--limit", type=click.IntRange(1), default=5, show_default=True, help="How many places to show.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def locate_command(words: tuple[str, ...], settings: config.Configuration, limit: int, as_json: bool) -> None:
    """Find the block that a label should point to: an exact phrase first, then the most words found.

    \b
    ragkit locate "desiccant cartridge"
    ragkit locate --limit 20 battery pack replacement
    """
    from ragkit.dataset import locate

    places = locate(corpus(settings), " ".join(words), limit)
    if as_json:
        show_json([dataclasses.asdict(place) for place in places])
        return
    rows = [
        (p.slug, "–" if p.page is None else str(p.page), str(p.order), p.kind, " > ".join(p.breadcrumb), p.snippet)
        for p in places
    ]
    show(table("", ("document", "#page", "#block", "kind", "breadcrumb", "text"), rows))


def corpus(settings: config.Configuration) -> list[Document]:
    """The configured corpus, parsed, with progress on a terminal."""
    from ragkit.ingest import read_corpus

    with progress("documents", None) as advance:
        return read_corpus(Path(settings.dataset.corpus), advance)


@click.command("validate")
@configuration_options
@click.option("--json", "as_json", is_flag=True, help="Print the whole report as JSON.")
def validate_command(settings: config.Configuration, as_json: bool) -> None:
    """Check questions, splits and corpus; print every problem at once, with file and line.

    Warnings don't fail: a document that no question points to, a quote that an unjudged block has too.

    \b
    ragkit validate
    ragkit validate --set dataset.questions=mine/questions.jsonl --set dataset.corpus=mine/corpus
    """
    from ragkit.dataset import validate

    problems: tuple[Problem, ...] = ()
    documents = None
    try:
        documents = corpus(settings)
    except DataError as error:
        problems = error.problems  # the questions are still worth a look
    report = validate(Path(settings.dataset.questions), Path(settings.dataset.splits), documents)
    problems += report.problems
    if as_json:
        show_json(dataclasses.asdict(dataclasses.replace(report, problems=problems)))
    else:
        for warning in report.warnings:
            notice(f"warning: {warning}")
        types = [(name, str(count)) for name, count in report.by_type.items()]
        show(table("Questions", ("type", "#questions"), [*types, ("all", str(report.questions))]))
    if problems:
        raise DataError(problems)
    if not as_json:
        say(
            f"no problems: {report.questions} questions, {report.judgments} judgments, {len(documents or ())} documents"
        )
