"""`ragkit eval`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ragkit import config
from ragkit.cli.console import notice, progress, say, show, show_json
from ragkit.cli.options import configuration_options
from ragkit.errors import UsageError

RUNS = Path("eval/runs")


@click.command("eval")
@configuration_options
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the results; replaced as a whole.  [default: eval/runs/NAME]",
)
@click.option(
    "--no-cache", is_flag=True, help="Parse every document and embed every chunk, even if an earlier run did."
)
@click.option(
    "--allow-drift", is_flag=True, help="Go on although some labels can't be found; they count as not retrieved."
)
@click.option(
    "--answers",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Score recorded answers (JSON Lines: id, answer, citations) instead of making them.",
)
@click.option(
    "--retriever",
    metavar="MODULE:FUNCTION|http",
    help="Evaluate your own retriever: a function of (question, k), or the service at --url.",
)
@click.option("--url", help="The service to ask (--retriever http).")
@click.option("--map", "mapping", type=click.Path(path_type=Path), help="How to ask it and read its answers.")
@click.option("--json", "as_json", is_flag=True, help="Print metrics.json instead of the summary.")
def eval_command(
    settings: config.Configuration,
    out: Path | None,
    no_cache: bool,
    allow_drift: bool,
    answers: Path | None,
    retriever: str | None,
    url: str | None,
    mapping: Path | None,
    as_json: bool,
) -> None:
    """Run one configuration over corpus and questions and print its measures.

    Writes metrics.json, rankings.jsonl, run.trec, qrels.trec (the same bytes on every run), timing.json and
    summary.md. Works without a network. Never touches the committed baseline.

    \b
    ragkit eval
    ragkit eval --set chunking.chunk_size=250 --set name=small
    ragkit eval --set dataset.split=dev     # also says from which similarity down answers would best decline
    ragkit eval --answers answers.jsonl     # {"id": ..., "answer": ..., "citations": [{"document": ..., "block": 3}]}
    ragkit eval --retriever my_app.search:retrieve
    ragkit eval --config my.toml --out eval/runs/mine --json | jq '.measures["Recall@5"]'
    """
    if retriever is not None:
        settings = config.external(settings, retriever, url, mapping)
    elif url or mapping:
        raise UsageError("--url and --map go with --retriever")
    from ragkit.embedding import begin_loading, cache_root

    loading = begin_loading(settings.model, cache_root())  # before the imports, which take as long

    from ragkit.experiment import run
    from ragkit.report.answers import threshold_line
    from ragkit.report.summary import headline, summary, summary_tables

    folder = out or RUNS / settings.name
    result = run(
        settings,
        cache=cache_root(),
        out=folder,
        use_cache=not no_cache,
        allow_drift=allow_drift,
        answers=answers,
        loading=loading,
        progress=progress,
        notice=notice,
    )
    if as_json:
        show_json(result.metrics)
        return
    if sys.stdout.isatty():
        say(headline(result.metrics))
        for shown in summary_tables(result.metrics, result.timing):
            show(shown)
        if (learned := threshold_line(result.metrics)) is not None:
            say(learned)
    else:
        say(summary(result.metrics, result.timing))
    notice(f"results: {folder}")
