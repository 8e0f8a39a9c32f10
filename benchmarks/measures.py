"""Recall@10, RR and nDCG@10 of whole runs: ragkit's arrays, pytrec_eval, ir_measures and ranx.

    python benchmarks/measures.py ragkit FOLDER     # one way, once, from the files there: what "cold" times

From dictionaries (question -> document -> score), with each library's own objects already built, and from TREC files:
warm in this process, cold in a new one (start, imports, read, score). What takes minutes a time is left out of the
large run: a peer that is several times slower than pytrec_eval on the small one is not the best on the large one.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from frame import Bar, Row, Section, faster, rows
from timing import Command, Measured, alternate

Means = tuple[float, float, float]
"""Of Recall@10, RR and nDCG@10."""
Judgments = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

THEIRS = ("recall_10", "recip_rank", "ndcg_cut_10")
QUESTIONS, CORPUS = 10_000, 2_000_000
TOLERANCE = 1e-12


def ragkit(qrels: Judgments) -> Callable[[Run], Means]:
    from ragkit.measures.runs import Qrels, score

    judged = Qrels.of(qrels)
    return lambda run: tuple(score(judged, run).means().values())


def pytrec_eval(qrels: Judgments) -> Callable[[Run], Means]:
    import pytrec_eval as library

    evaluator = library.RelevanceEvaluator(qrels, set(THEIRS))

    def evaluate(run: Run) -> Means:
        found = evaluator.evaluate(run).values()
        return tuple(sum(each[name] for each in found) / len(qrels) for name in THEIRS)

    return evaluate


def ir_measures(qrels: Judgments) -> Callable[[Run], Means]:
    import ir_measures as library

    measures = [library.R @ 10, library.RR, library.nDCG @ 10]
    evaluator = library.evaluator(measures, qrels)

    def evaluate(run: Run) -> Means:
        found = evaluator.calc_aggregate(run)
        return tuple(found[measure] for measure in measures)

    return evaluate


def ranx(qrels: object, run: object) -> Means:
    import ranx as library

    made_qrels = library.Qrels(qrels) if isinstance(qrels, dict) else qrels
    made_run = library.Run(run) if isinstance(run, dict) else run
    found = library.evaluate(made_qrels, made_run, ["recall@10", "mrr", "ndcg@10"])
    return tuple(map(float, found.values()))


def ragkit_files(folder: Path) -> Means:
    from ragkit.interop.run_file import read_blocks
    from ragkit.interop.trec import read_qrels
    from ragkit.measures.runs import Qrels, score

    scores = score(Qrels.of(read_qrels(folder / "qrels.trec")), read_blocks(folder / "run.trec"))
    return tuple(scores.means().values())


def pytrec_eval_files(folder: Path) -> Means:
    import pytrec_eval as library

    with (folder / "qrels.trec").open() as qrels, (folder / "run.trec").open() as run:
        return pytrec_eval(library.parse_qrel(qrels))(library.parse_run(run))


def ir_measures_files(folder: Path) -> Means:
    import ir_measures as library

    measures = [library.R @ 10, library.RR, library.nDCG @ 10]
    qrels = library.read_trec_qrels(str(folder / "qrels.trec"))
    found = library.calc_aggregate(measures, qrels, library.read_trec_run(str(folder / "run.trec")))
    return tuple(found[measure] for measure in measures)


def ranx_files(folder: Path) -> Means:
    import ranx as library

    qrels = library.Qrels.from_file(str(folder / "qrels.trec"), kind="trec")
    return ranx(qrels, library.Run.from_file(str(folder / "run.trec"), kind="trec"))


FILES = {
    "ragkit": ragkit_files,
    "pytrec_eval": pytrec_eval_files,
    "ir_measures": ir_measures_files,
    "ranx": ranx_files,
}


def collection(questions: int, hits: int) -> tuple[Judgments, Run]:
    """Up to 20 judgments a question, three of five relevant, most of them retrieved and early ones more often.

    Scores fall, differ by 0.001 or more (readers don't agree on ties) and have six decimals, as search engines write.
    """
    import numpy as np

    random = np.random.default_rng(7)
    names = [f"doc-{number:07}" for number in range(CORPUS)]
    qrels: Judgments = {}
    run: Run = {}
    for number in range(questions):
        ids = np.unique(random.integers(0, CORPUS, hits + hits // 4 + 60))
        random.shuffle(ids)
        documents = [names[i] for i in ids.tolist()]
        scores = random.integers(1_000, 60_000, hits)[::-1].cumsum()[::-1] / 1e6
        run[f"q{number:05}"] = dict(zip(documents, scores.tolist(), strict=False))
        places = np.unique((random.random(random.integers(1, 21)) ** 3 * hits * 1.2).astype(int))
        grades = random.choice([0, 0, 1, 2, 3], len(places))
        grades[-1] = max(grades[-1], 1)  # readers don't agree on questions without a relevant document
        qrels[f"q{number:05}"] = {documents[i]: int(grade) for i, grade in zip(places, grades, strict=True)}
    return qrels, run


def write(qrels: Judgments, run: Run, folder: Path) -> None:
    with (folder / "qrels.trec").open("w") as file:
        for question, grades in qrels.items():
            file.writelines(f"{question} 0 {document} {grade}\n" for document, grade in grades.items())
    with (folder / "run.trec").open("w") as file:
        for question, scores in run.items():
            ranked = enumerate(scores.items(), start=1)
            file.writelines(f"{question} Q0 {document} {rank} {score:.6f} bm25\n" for rank, (document, score) in ranked)


def dictionaries(qrels: Judgments, run: Run, *, with_ranx: bool) -> dict[str, Callable[[], Means]]:
    made = {"ragkit": ragkit, "pytrec_eval": pytrec_eval, "ir_measures": ir_measures}
    ways = {name: partial(lambda make: make(qrels)(run), make) for name, make in made.items()}
    return ways | ({"ranx": partial(ranx, qrels, run)} if with_ranx else {})


def built(qrels: Judgments, run: Run, *, with_ranx: bool) -> dict[str, Callable[[], Means]]:
    made = {"ragkit": ragkit, "pytrec_eval": pytrec_eval, "ir_measures": ir_measures}
    ways: dict[str, Callable[[], Means]] = {name: partial(make(qrels), run) for name, make in made.items()}
    if with_ranx:
        import ranx as library

        ways["ranx"] = partial(ranx, library.Qrels(qrels), library.Run(run))
    return ways


def compared(work: str, ways: Mapping[str, Callable[[], object]], hits: int, limit: float, checked: str) -> list[Row]:
    measured = alternate(ways)
    peers = [way for way in ways if way != "ragkit"]
    bars = [faster(measured, "ragkit", peers, limit, "the best peer"), *memory(measured, peers)]
    return rows(work, measured, ours=["ragkit"], peers=peers, amount=hits, unit="hits", checked=checked, bars=bars)


def memory(measured: Mapping[str, Measured], peers: list[str]) -> list[Bar]:
    own, theirs = measured["ragkit"].peak_mb, [measured[peer].peak_mb for peer in peers]
    if own is None or None in theirs:
        return []
    return [Bar("MB against the least of a peer", own, min(each for each in theirs if each is not None), False)]


def agreement(ways: Mapping[str, Callable[[], Means]]) -> str:
    own = ways["ragkit"]()
    worst = max(abs(a - b) for way in ways.values() for a, b in zip(own, way(), strict=True))
    return f"means equal to {TOLERANCE:g}" if worst <= TOLERANCE else f"means differ by {worst:.2g}"


def measure(quick: bool) -> Section:
    installed = importlib.util.find_spec("ranx") is not None and not quick  # it takes minutes to compile
    questions = 60 if quick else QUESTIONS
    found: list[Row] = []
    for each, small in ((100, True), (1_000, False)):
        title = f"{questions:,} questions x {each:,}"
        qrels, run = collection(questions, each)
        everything = {"with_ranx": installed and small}
        hits = questions * each
        for kind, ways in (
            ("dictionaries", dictionaries(qrels, run, **everything)),
            ("own objects built", built(qrels, run, **everything)),
        ):
            found += compared(f"{title}, {kind}", ways, hits, 3.0, agreement(ways))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(qrels, run, folder)
            del qrels, run, ways
            names = [
                "ragkit",
                "pytrec_eval",
                *(["ir_measures"] if small else []),
                *(["ranx"] if installed and small else []),
            ]
            warm = {way: partial(FILES[way], folder) for way in names}
            found += compared(f"{title}, files, warm", warm, hits, 3.0, checked := agreement(warm))
            cold = {way: Command((sys.executable, str(Path(__file__)), way, name)) for way in names}
            found += compared(f"{title}, files, cold", cold, hits, 1.5, checked)
    libraries = ("pytrec_eval-terrier", "ir_measures", *(["ranx", "numba"] if installed else []), "numpy")
    note = "On 1,000 hits a question ir_measures is left out from files, and ranx everywhere: they take minutes a time."
    return Section("Scoring runs", found, libraries, [note])


if __name__ == "__main__":
    print(json.dumps(FILES[sys.argv[1]](Path(sys.argv[2]))))
