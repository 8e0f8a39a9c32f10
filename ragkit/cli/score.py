"""`ragkit score`: any system's TREC run against TREC judgments."""

from __future__ import annotations

from pathlib import Path

import click

from ragkit.cli.console import notice, show, show_json


@click.command("score")
@click.argument("run", metavar="RUN", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--qrels", "qrels_path", metavar="QRELS", type=click.Path(dir_okay=False, path_type=Path), required=True,
    help="The judgments: question 0 document grade.",
)  # fmt: skip
@click.option("--per-question", is_flag=True, help="Show the values of every question, too.")
@click.option("--no-intervals", is_flag=True, help="Means alone: quicker where there are thousands of questions.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def score_command(run: Path, qrels_path: Path, per_question: bool, no_intervals: bool, as_json: bool) -> None:
    """Score a TREC run file against a qrels file: Recall@10, RR and nDCG@10, as trec_eval computes them.

    Hits are ordered by score (as float32), then by document id, both descending; ranks in the file are not believed.
    The mean is over every judged question that has a relevant document (a grade of 1 or more); one that the run
    doesn't have scores 0.

    \b
    ragkit score run.trec --qrels qrels.trec
    ragkit score run.trec --qrels qrels.trec --per-question --json > scores.json
    """
    from ragkit.interop.run_file import read_blocks
    from ragkit.interop.trec import read_qrels
    from ragkit.measures.runs import Qrels, score
    from ragkit.report.run_scores import notes, question_table, scores_json, scores_table

    scores = score(Qrels.of(read_qrels(qrels_path)), read_blocks(run))
    for note in notes(scores):
        notice(note)
    if as_json:
        show_json(scores_json(scores, intervals=not no_intervals, per_question=per_question))
        return
    show(scores_table(scores, intervals=not no_intervals))
    if per_question:
        show(question_table(scores))
