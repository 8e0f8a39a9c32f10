"""`ragkit score`: what it prints, and how it refuses."""

from __future__ import annotations

import json

import pytest

from ragkit.cli import run

QRELS = "q1 0 a 2\nq1 0 b 1\nq1 0 c -1\nq2 0 a 1\nq3 0 a 1\nq4 0 a 0\n"
RUN = "q1 Q0 c 1 3.0 x\nq1 Q0 b 2 2.0 x\nq1 Q0 a 3 1.0 x\nq2 Q0 z 1 1.0 x\nq2 Q0 a 2 1.0 x\nq9 Q0 a 1 1.0 x\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.trec").write_text(QRELS, encoding="utf-8")
    (tmp_path / "run.trec").write_text(RUN, encoding="utf-8")
    return tmp_path


def test_tables_and_notices(files, capsys):
    assert run(["score", "run.trec", "--qrels", "qrels.trec", "--per-question"]) == 0
    printed = capsys.readouterr()
    assert printed.out == (
        "measure\tmean\t95 % interval\tquestions\n"
        "Recall@10\t0.667\t0.208 to 0.939\t3\n"
        "RR\t0.333\t0.061 to 0.792\t3\n"
        "nDCG@10\t0.417\t0.091 to 0.836\t3\n"
        "question\tRecall@10\tRR\tnDCG@10\n"
        "q1\t1.000\t0.500\t0.620\n"
        "q2\t1.000\t0.500\t0.631\n"
        "q3\t0.000\t0.000\t0.000\n"
    )
    assert printed.err.splitlines() == [
        "1 question (q3) not in the run: 0 in every mean",
        "1 question (q9) in the run without judgments: ignored",
        "1 question (q4) judged without a relevant document: in no mean (trec_eval counts 0)",
    ]


def test_json(files, capsys):
    assert run(["score", "run.trec", "--qrels", "qrels.trec", "--json", "--no-intervals", "--per-question"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "measures": {
            "Recall@10": {"mean": 0.666667, "n": 3},
            "RR": {"mean": 0.333333, "n": 3},
            "nDCG@10": {"mean": 0.416945, "n": 3},
        },
        "missing": ["q3"],
        "questions": {
            "q1": {"Recall@10": 1.0, "RR": 0.5, "nDCG@10": 0.619906},
            "q2": {"Recall@10": 1.0, "RR": 0.5, "nDCG@10": 0.63093},
            "q3": {"Recall@10": 0.0, "RR": 0.0, "nDCG@10": 0.0},
        },
        "unjudged": ["q9"],
        "without_relevant": ["q4"],
    }


def test_bad_lines_of_the_run_are_named(files, capsys):
    (files / "run.trec").write_text("q1 Q0 a 1 1 x\nq1 Q0 a 2 1 x\nq1 Q0 b 2\n", encoding="utf-8")
    assert run(["score", "run.trec", "--qrels", "qrels.trec"]) == 2
    remedy = " -> a line is: question Q0 document rank score tag"
    assert capsys.readouterr().err.splitlines() == [
        f"run.trec:2: duplicate: question q1 ranks a again{remedy}",
        f"run.trec:3: columns: 4 fields{remedy}",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [("other Q0 a 1 1 x\n", "none of the judged questions"), ("", "none of the judged questions")],
)
def test_a_run_of_other_questions_is_refused(files, capsys, content, message):
    (files / "run.trec").write_text(content, encoding="utf-8")
    assert run(["score", "run.trec", "--qrels", "qrels.trec"]) == 2
    assert message in capsys.readouterr().err


def test_files_that_are_not_there(files, capsys):
    assert run(["score", "none", "--qrels", "qrels.trec"]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert run(["score", "run.trec"]) == 2
