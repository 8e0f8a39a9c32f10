"""The dataset card: what some systems score on this set, written into eval/README.md by `make dataset-card`.

python eval/card.py                 # all questions, into eval/README.md
python eval/card.py --split dev     # only print, while the set is being made
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragkit import config
from ragkit.chunking import chunk_document
from ragkit.comparison import compare, read_metrics, read_policy
from ragkit.comparison.model import Delta
from ragkit.embedding import cache_root
from ragkit.errors import EncodingError
from ragkit.experiment import run
from ragkit.files import read_json, write_atomic
from ragkit.ingest import read_corpus
from ragkit.records import Progress
from ragkit.report.tables import markdown, number, table

README = Path("eval/README.md")
BEGIN, END = "<!-- card: made by `make dataset-card` -->", "<!-- /card -->"
V14 = "dense, as in v1.4"
PASSAGES: dict[str, list[str]] = {
    V14: [],
    "random order of the same chunks": ["--random"],
    "dense without E5's prefixes": ["model.query_prefix=''", "model.passage_prefix=''"],
    "dense, chunks of 250 characters": ["chunking.chunk_size=250"],
    "dense, chunks of 650 characters": ["chunking.chunk_size=650"],
    "dense, chunks of 1000 characters": ["chunking.chunk_size=1000"],
}
UNIT = ["evaluation.unit=document", "retrieval.candidate_k=1000"]  # all chunks: ten documents are wanted
DOCUMENTS: dict[str, list[str]] = {
    V14: UNIT,
    "random order": [*UNIT, "--random"],
    "BM25 (FTS5)": [*UNIT, "retrieval.strategy=bm25"],
}


@functools.cache
def _texts(corpus: str) -> list[tuple[str, str]]:
    settings = config.load(config.DEFAULT_PATH)
    documents = read_corpus(Path(corpus))
    return [(c.slug, c.text) for document in documents for c in chunk_document(document, settings.chunking)]


def random_order(question: str, k: int) -> list[dict[str, Any]]:
    """A retriever that knows nothing: the chunks of v1.4 in an order drawn from the question."""
    texts = _texts(config.load(config.DEFAULT_PATH).dataset.corpus)
    drawn = random.Random(f"20240501|{question}").sample(texts, min(k, len(texts)))  # noqa: S311
    return [{"docId": slug, "text": text, "score": 1.0 - i / len(texts)} for i, (slug, text) in enumerate(drawn)]


@contextlib.contextmanager
def _silent(_label: str, _total: int | None) -> Iterator[Progress]:
    yield lambda _: None


def evaluate(name: str, overrides: list[str], split: str, folder: Path) -> Path | str:
    """Run one system; the path of its metrics.json, or why it can't be run on this corpus."""
    print(f"running: {name} {' '.join(overrides)}", file=sys.stderr, flush=True)
    chosen = [f"dataset.split={split}", *(o for o in overrides if not o.startswith("--"))]
    settings = config.load(config.DEFAULT_PATH, chosen)
    if "--random" in overrides:
        settings = config.external(settings, "card:random_order", None, None)
    out = folder / str(len(list(folder.iterdir())))
    try:
        run(settings, cache=cache_root(), out=out, progress=_silent, notice=print)
    except EncodingError as error:
        return str(error)
    return out / "metrics.json"


def _scored(runs: dict[str, Path | str]) -> dict[str, Path]:
    return {name: path for name, path in runs.items() if isinstance(path, Path)}


def score_table(runs: dict[str, Path], measures: list[str]) -> str:
    """Every system's means with intervals, and how its primary and guard measure differ from v1.4's, with p-values."""
    policy = read_policy(Path("eval/policy.toml"))
    tested = (policy.primary.measure, policy.guard.measure)
    rows = []
    for name, path in runs.items():
        found = read_json(path)["measures"]
        cells = [
            f"{number(found[m]['mean'])} ({number(found[m]['low'])} to {number(found[m]['high'])})" for m in measures
        ]
        against = ["–"] * 2 * len(tested)
        if name != V14:
            deltas = {d.measure: d for d in compare(read_metrics(runs[V14]), read_metrics(path), policy).measures}
            against = [f(deltas[m]) for m in tested for f in (_difference, _p)]
        rows.append((name, *cells, *against))
    columns = [c for m in tested for c in (f"#{m} against v1.4", "#p")]
    return markdown(table("", ("system", *(f"#{m}" for m in measures), *columns), rows))


def _difference(delta: Delta) -> str:
    return f"{delta.difference:+.3f}"


def _p(delta: Delta) -> str:
    return "–" if delta.p is None else f"{delta.p:.5f}"


def type_table(runs: dict[str, Path], measure: str) -> str:
    """One measure by type of question, a column for each system."""
    found = {name: read_json(path)["by_type"] for name, path in runs.items()}
    rows = [(kind, *(number(by[kind][measure]["mean"]) for by in found.values())) for kind in found[V14]]
    return markdown(table("", ("type", *(f"#{name}" for name in found)), rows))


def card(split: str) -> str:
    """The section's Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        passages: dict[str, Path | str] = {
            label: evaluate(label, overrides, split, folder) for label, overrides in PASSAGES.items()
        }
        documents: dict[str, Path | str] = {
            label: evaluate(label, overrides, split, folder) for label, overrides in DOCUMENTS.items()
        }
        refused = [f"Refused, {name}: {why}." for name, why in passages.items() if isinstance(why, str)]
        scored, by_document = _scored(passages), _scored(documents)
        base = read_json(scored[V14])
        chance = {k: base["measures"][f"Recall@{k}"]["chance"] for k in (1, 5, 10)}
        return "\n\n".join(
            [
                "## What it measures",
                f"{base['dataset']['documents']} documents, {base['dataset']['blocks']} blocks, {base['dataset']['chunks']} chunks as v1.4"
                f" cuts them, {base['measures']['Recall@5']['n']} answerable and {base['unanswerable']['n']} unanswerable questions"
                f" ({'all' if split == 'all' else split}). A random order of the chunks is expected to reach "
                + ", ".join(f"Recall@{k} {number(value)}" for k, value in chance.items())
                + ". Means with 95 % intervals; p-values are those of the paired sign-flip test, uncorrected.",
                "Passages, Recall as in docs/methodology.qmd:",
                score_table(scored, ["Recall@5", "Recall@10", "nDCG@10", "Recall@1000tok"]),
                *refused,
                "Recall@5 by type:",
                type_table(scored, "Recall@5"),
                'Documents (`unit = "document"`), where every hit of a judged document counts:',
                score_table(by_document, ["Recall@1", "Recall@5", "nDCG@10"]),
                "Recall@5 of documents by type:",
                type_table(by_document, "Recall@5"),
            ]
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=["all", "dev", "test"], default="all")
    split = parser.parse_args().split
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    content = card(split)
    if split != "all":
        print(content)
        return
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    write_atomic(README, f"{before}{BEGIN}\n\n{content}\n\n{END}{after}")


if __name__ == "__main__":
    main()
