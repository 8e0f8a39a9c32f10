"""BEIR and TREC collections in, our runs out; ids of every kind survive the way there and back."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from ragkit.cli import run
from ragkit.interop.importing import _document_name, _question_name

DOCUMENTS = [
    {"_id": "d 1/a", "title": "Care", "text": "The cartridge turns from orange to green."},
    {"_id": "D 1/A", "title": "", "text": "The battery lasts six years.", "metadata": {"url": "x"}},
    {"_id": ".hidden", "title": "Range", "text": "\ufeffThe deep model reaches 40 m.\r\nNo more.\u0007"},
    {"_id": "\u6f6e\u7ebf", "title": "", "text": "\u6f6e\u7ebf\u662f\u4e00\u4e2a\u670d\u52a1\u3002"},
    {"_id": "silent", "title": "", "text": " --- "},
]
QUERIES = [
    {"_id": "q 1", "text": "Which colour has the spent cartridge?"},
    {"_id": "q2", "text": "battery life"},
    {"_id": "q3", "text": "Battery life?"},
    {"_id": "q4", "text": "How deep?"},
    {"_id": "q5", "text": "Judged by nobody"},
]
JUDGED = [("q 1", "d 1/a", 2), ("q 1", ".hidden", 0), ("q2", "D 1/A", 1), ("q3", "d 1/a", 1), ("q4", ".hidden", 1)]


def lines(values: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def table(rows: list[Any]) -> str:
    return "\n".join(["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in rows)]) + "\n"


@pytest.fixture
def beir(workspace: Path) -> Path:
    folder = workspace / "small"
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(lines(DOCUMENTS), encoding="utf-8")
    (folder / "queries.jsonl").write_text(lines(QUERIES), encoding="utf-8")
    (folder / "qrels/test.tsv").write_text(table(JUDGED), encoding="utf-8")
    return folder


def evaluate(folder: str, out: str) -> Any:
    model = ["--set", "model.name=hashing", "--set", "model.source=builtin"]
    assert run(["eval", "--config", f"{folder}/config.toml", *model, "--out", out]) == 0
    return json.loads(Path(out, "metrics.json").read_text(encoding="utf-8"))


def test_a_beir_folder_goes_through_the_whole_harness_and_back(
    beir: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", "beir", "small", "--out", "in"]) == 0
    told = capsys.readouterr()
    assert "4 documents, 3 questions" in told.out
    assert "1 queries without a relevant document" in told.err
    assert "1 queries repeat another one" in told.err
    assert "1 documents without a word" in told.err
    assert run(["validate", "--config", "in/config.toml"]) == 0
    metrics = evaluate("in", "run")
    assert metrics["configuration"]["evaluation"]["unit"] == "document"
    assert metrics["measures"]["Recall@10"]["mean"] == 1.0
    assert run(["export", "trec", "run", "--ids", "in/ids.json", "--out", "trec"]) == 0
    qrels = list(ir_measures.read_trec_qrels("trec/qrels.trec"))
    ranked = list(ir_measures.read_trec_run("trec/run.trec"))
    theirs = ir_measures.calc_aggregate([ir_measures.nDCG @ 10, ir_measures.RR @ 10], qrels, ranked)
    assert metrics["measures"]["nDCG@10"]["mean"] == pytest.approx(theirs[ir_measures.nDCG @ 10], abs=1e-6)
    assert metrics["measures"]["MRR"]["mean"] == pytest.approx(theirs[ir_measures.RR @ 10], abs=1e-6)
    assert {q.query_id for q in qrels} == {r.query_id for r in ranked} == {"q%201", "q2", "q4"}
    everything = list(ir_measures.read_trec_run("trec/run-all-queries.trec"))
    assert {r.query_id for r in everything} == {"q%201", "q2", "q3", "q4"}
    assert run(["export", "beir", "run", "--config", "in/config.toml", "--ids", "in/ids.json", "--out", "out"]) == 0
    back = [json.loads(line) for line in (workspace / "out/corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {document["_id"] for document in back} == {"d 1/a", "D 1/A", ".hidden", "\u6f6e\u7ebf"}
    rows = []
    for split in ("dev", "test"):
        with (workspace / f"out/qrels/{split}.tsv").open(encoding="utf-8") as stream:
            rows += [tuple(row.values()) for row in csv.DictReader(stream, delimiter="\t")]
    assert sorted(rows) == sorted(
        [
            ("q 1", "d 1/a", "2"),
            *((q, d, "1") for q in ("q2", "q3") for d in ("D 1/A", "d 1/a")),
            ("q4", ".hidden", "1"),
        ]
    )
    assert run(["import", "beir", "out", "--out", "again"]) == 0
    first, again = ((workspace / name / "questions.jsonl").read_text().splitlines() for name in ("in", "again"))
    assert [json.loads(line)["question"] for line in again] == [json.loads(line)["question"] for line in first]


def test_a_collection_with_two_sides_keeps_them(beir: Path, workspace: Path) -> None:
    (beir / "qrels/test.tsv").write_text(table(JUDGED[:2]), encoding="utf-8")
    (beir / "qrels/train.tsv").write_text(table(JUDGED[2:]), encoding="utf-8")
    assert run(["import", "beir", "small", "--out", "in"]) == 0
    splits = json.loads((workspace / "in/splits.json").read_text())
    assert splits == {"dev": ["q2", "q4"], "test": ["q-1"]}


def test_a_trec_collection_is_the_same(workspace: Path) -> None:
    folder = workspace / "small"
    folder.mkdir()
    (folder / "collection.tsv").write_text("d1\tThe battery lasts six years.\nd2\tCare\tThe cartridge turns green.\n")
    (folder / "queries.tsv").write_text("q1\tbattery life\r\n\nq2\tcolour of the cartridge\n")
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 3\n")
    assert run(["import", "trec", "small"]) == 0
    assert evaluate("eval/collections/small", "run")["measures"]["Recall@10"]["mean"] == 1.0
    assert (workspace / "eval/collections/small/corpus/d2.txt").read_text() == "Care\n\nThe cartridge turns green.\n"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("corpus.jsonl", '{"_id": "x"}\n', "corpus.jsonl:1: fields"),
        ("corpus.jsonl", '{"_id": 3, "text": "x"}\n', "corpus.jsonl:1: fields"),
        ("corpus.jsonl", "\n{\n", "corpus.jsonl:2: not-json"),
        ("corpus.jsonl", lines(DOCUMENTS) + lines(DOCUMENTS[:1]), "corpus.jsonl:6: duplicate-id"),
        ("corpus.jsonl", lines(DOCUMENTS[1:]), "unknown-document: d 1/a, relevant for query q 1"),
        ("queries.jsonl", lines(QUERIES[1:]), "unknown-query: q 1 is judged but not there"),
        ("queries.jsonl", lines(QUERIES + QUERIES[:1]), "queries.jsonl:6: duplicate-id"),
        ("qrels/test.tsv", table([("q 1", "d 1/a", -1)]), "test.tsv:2: grade"),
        ("qrels/test.tsv", table([("q 1", "d 1/a", 0.5)]), "test.tsv:2: grade"),
        ("qrels/test.tsv", table([("q 1", "d 1/a", 4)]), "the grade 4 -> grades go from 1 to 3"),
        ("qrels/test.tsv", table([("q 1", "d 1/a", 1)] * 2), "test.tsv:3: duplicate"),
        ("qrels/test.tsv", table([("q 1", "d 1/a")]), "test.tsv:2: columns"),
        ("qrels/test.tsv", table([("q 1", "d 1/a", 0)]), "no query has a relevant document"),
    ],
)
def test_a_bad_collection_is_told_and_leaves_nothing(
    beir: Path, workspace: Path, capsys: pytest.CaptureFixture[str], file: str, content: str, message: str
) -> None:
    (beir / file).write_text(content, encoding="utf-8")
    assert run(["import", "beir", "small", "--out", "in"]) == 2
    assert message in capsys.readouterr().err
    assert not list(workspace.glob("*in*"))


def test_missing_parts_are_all_named(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "none").mkdir()
    assert run(["import", "beir", "none"]) == 2
    assert capsys.readouterr().err.count("missing-file") == 3
    assert run(["import", "trec", "none"]) == 2
    assert run(["import", "beir", "absent"]) == 2


def test_nothing_that_exists_is_overwritten(beir: Path, workspace: Path) -> None:
    assert run(["import", "beir", "small", "--out", "eval"]) == 2
    assert run(["import", "beir", "small", "--out", "in"]) == 0
    evaluate("in", "run")
    assert run(["export", "trec", "run", "--out", "eval"]) == 2
    assert run(["export", "trec", "eval", "--out", "new"]) == 2
    assert run(["export", "trec", "run", "--ids", "run/metrics.json", "--out", "new"]) == 2
    assert not (workspace / "new").exists()


def test_a_dataset_is_exported_only_with_the_run_that_was_made_on_it(beir: Path) -> None:
    assert run(["import", "beir", "small", "--out", "in"]) == 0
    evaluate("in", "run")
    assert run(["export", "beir", "run", "--config", "eval/configs/v1.4.toml", "--out", "new"]) == 4


def test_names_are_portable_and_short() -> None:
    assert _document_name("a b/../c:d%") == "a%20b%2F..%2Fc%3Ad%25"
    assert _document_name("..") == "%2E."
    assert len(_document_name("\u6f6e" * 500).encode()) < 180
    assert _question_name("_x y\u00e9") == "q_x-y-"
