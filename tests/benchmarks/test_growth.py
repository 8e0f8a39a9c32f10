"""What growth is measured on, and how: made-up corpora that ragkit accepts, exponents, plots that are the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragkit.dataset import read_questions, read_splits, resolve
from ragkit.ingest import read_corpus

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("documents", "questions"), [(3, 20), (7, 35), (2, 200)])
def test_every_label_of_a_made_up_corpus_is_found_and_no_question_is_there_twice(
    load, tmp_path: Path, documents: int, questions: int
) -> None:
    load("synthetic").write_dataset(tmp_path, documents, questions)
    corpus = read_corpus(tmp_path / "corpus")
    asked = read_questions(tmp_path / "questions.jsonl")  # refuses repeated ones
    assert (len(corpus), len(asked)) == (documents, questions)
    assert len(read_splits(tmp_path / "splits.json", asked)) == questions
    assert resolve(asked, corpus, "questions.jsonl").problems == []
    assert sum(not question.answerable for question in asked) == questions // 20
    assert all(200 < len(document.text.split()) < 700 for document in corpus)


def test_the_same_seed_gives_the_same_files(load, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        load("synthetic").write_dataset(tmp_path / folder, 4, 10)
    files = [sorted(path for path in (tmp_path / folder).rglob("*") if path.is_file()) for folder in ("a", "b")]
    assert [path.read_bytes() for path in files[0]] == [path.read_bytes() for path in files[1]]


def test_more_questions_than_facts_are_refused(load, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="too few facts"):
        load("synthetic").write_dataset(tmp_path, 1, 101)


def test_exponents_are_those_of_the_power_laws_that_the_last_points_lie_on(load) -> None:
    growth = load("growth")
    points = [
        growth.Point(count, 5, 0, {"square": count**2 / 100, "short": 0.1, growth.WHOLE: count / 10}, 100 + count)
        for count in (10, 100, 1000)
    ]
    found = growth.exponents(points, "documents")
    assert found == {growth.WHOLE: pytest.approx(1), "square": pytest.approx(2)}
    assert growth.slope(points, "documents") == pytest.approx(1000)
    row, notes = growth.grown(points, "documents", "5 questions", None)
    assert [bar.met for bar in row.bars] == [False]
    assert "| square" in notes[1]


def test_a_plot_of_the_same_points_is_the_same_bytes(load, tmp_path: Path) -> None:
    growth = load("growth")
    points = [growth.Point(n, 5, n, {"parse": n / 100, growth.WHOLE: n / 50}, 100.0 + n) for n in (10, 100)]
    for name in ("a.svg", "b.svg"):
        growth.plot(points, "documents", "5 questions", tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_points_are_medians_of_rounds_around_the_largest(load) -> None:
    growth = load("growth")
    asked: list[int] = []

    def at(size: int) -> object:
        asked.append(size)
        return growth.Point(size, 5, 0, {"parse": (9.0, 1.0, 2.0)[asked.count(size) - 1]}, 100.0 * len(asked))

    points = growth.in_turn((10, 100), at)
    assert asked == [10, 100, 10, 10]
    assert [point.documents for point in points] == [10, 100]
    assert points[0].seconds == {"parse": 2.0}
    assert points[1].seconds == {"parse": 9.0}
    assert points[0].peak_mb == 400
