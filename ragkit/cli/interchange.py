"""`ragkit import` and `ragkit export`: public collections in, our runs out."""

from __future__ import annotations

from pathlib import Path

import click

from ragkit import config
from ragkit.cli.console import notice, progress, say
from ragkit.errors import BaselineError, UsageError

FORMATS = click.Choice(["beir", "trec"])


@click.command("import")
@click.argument("form", metavar="beir|trec", type=FORMATS)
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The new evaluation folder.  [default: eval/collections/<name of DIR>]",
)
def import_command(form: str, folder: Path, out: Path | None) -> None:
    """Make an evaluation folder of a collection whose judgments are of whole documents.

    beir: corpus.jsonl, queries.jsonl, qrels/*.tsv. trec: collection.tsv, queries.tsv, qrels.trec.
    Writes corpus/, questions.jsonl, splits.json, ids.json (the collection's own ids) and config.toml.

    \b
    ragkit import beir scifact && ragkit eval --config eval/collections/scifact/config.toml
    """
    from ragkit.interop.beir import open_beir, open_trec
    from ragkit.interop.importing import import_collection

    target = out or Path("eval/collections") / folder.resolve().name
    if target.exists():
        raise UsageError(f"{target}: exists already; remove it, or name another folder with --out")
    collection = open_beir(folder) if form == "beir" else open_trec(folder)
    with progress("documents", None) as advance:
        done = import_collection(collection, target, advance)
    for note in done.notes:
        notice(note)
    say(f"{target}: {done.documents} documents, {done.questions} questions")
    say(f"next: ragkit eval --config {target / 'config.toml'}")


@click.command("export")
@click.argument("form", metavar="trec|beir", type=FORMATS)
@click.argument("run", metavar="RUN", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The new folder.  [default: RUN-trec or RUN-beir]")
@click.option("--ids", "ids_path", type=click.Path(path_type=Path), help="The ids.json of an imported collection.")
@click.option(
    "--config",
    "path",
    type=click.Path(path_type=Path),
    default=config.DEFAULT_PATH,
    show_default=True,
    help="The configuration that has the dataset (beir).",
)
def export_command(form: str, run: Path, out: Path | None, ids_path: Path | None, path: Path) -> None:
    """Write the run in the folder RUN for other tools, under a collection's own ids if --ids has them.

    trec: run.trec and qrels.trec, for trec_eval, ir_measures and ranx. beir: these, and the dataset of
    --config (whole documents, judged by document) as corpus.jsonl, queries.jsonl and qrels/*.tsv.

    \b
    ragkit export trec eval/runs/scifact --ids eval/collections/scifact/ids.json
    """
    from ragkit.files import read_json, replacing_directory, write_atomic
    from ragkit.report.exports import Ids, beir_files, read_ids, trec_files

    target = out or run.with_name(f"{run.resolve().name}-{form}")
    if target.exists():
        raise UsageError(f"{target}: exists already; remove it, or name another folder with --out")
    ids = read_ids(ids_path) if ids_path else Ids()
    files = trec_files(run, ids)
    if form == "beir":
        from ragkit.cli.data import corpus
        from ragkit.dataset import dataset_hashes, read_questions, read_splits

        metrics, settings = read_json(run / "metrics.json"), config.load(path)
        documents = corpus(settings)
        questions_path, splits_path = Path(settings.dataset.questions), Path(settings.dataset.splits)
        questions = read_questions(questions_path)
        for name, found in dataset_hashes(documents, questions_path, splits_path).items():
            if metrics["dataset"][name] != found:
                raise BaselineError(f"{run}: was made with another {name} than the configuration names: give --config")
        files |= beir_files(metrics, documents, questions, read_splits(splits_path, questions), ids)
    with replacing_directory(target) as folder:
        for name, content in files.items():
            write_atomic(folder / name, content)
    say(f"{target}: {', '.join(files)}")
