"""splits.json: every question in exactly one split; made by type, with twins kept together."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.dataset import make_splits, read_splits, render_splits
from ragkit.dataset.similar import normalised, similar_pairs
from ragkit.errors import DataError, FileError
from ragkit.records import Judgment, Question

WORDS = ["well", "gauge", "pump", "valve", "sensor", "cable", "river", "basin", "log", "alarm", "battery", "clock"]


def question(identifier: str, text: str = "", kind: str | None = None, line: int = 1, *places: Judgment) -> Question:
    return Question(identifier, text or identifier, places, None, kind, bool(places), line)


def many(count: int, types: tuple[str, ...] = ("exact", "table", "multi-hop")) -> list[Question]:
    draw = random.Random(1)  # noqa: S311 - test data
    return [
        question(f"q{i}", " ".join(draw.choices(WORDS, k=9)) + f" {i * 7919}", types[i % len(types)], i + 1)
        for i in range(count)
    ]


def problems(tmp_path: Path, content: str, *identifiers: str) -> list[tuple[int, str, str]]:
    path = tmp_path / "splits.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_splits(path, [question(name, line=i + 1) for i, name in enumerate(identifiers)])
    return [(problem.line, problem.rule, problem.found) for problem in caught.value.problems]


def test_each_question_gets_its_split_in_question_order(tmp_path: Path) -> None:
    path = tmp_path / "splits.json"
    path.write_text(
        '{"$schema": "splits.schema.json", "seed": 1, "method": "by hand", "dev": ["b"], "test": ["c", "a"]}'
    )
    splits = read_splits(path, [question("a"), question("b"), question("c")])
    assert list(splits.items()) == [("a", "test"), ("b", "dev"), ("c", "test")]


def test_unknown_missing_and_repeated_ids_are_told_together_with_their_lines(tmp_path: Path) -> None:
    content = '{\n "dev": [\n  "a",\n  "zz",\n  "a"\n ],\n "test": [\n  "a"\n ]\n}\n'
    assert problems(tmp_path, content, "a", "b") == [
        (0, "missing-id", '"b" (line 2 of the questions) is in neither split'),
        (4, "unknown-id", 'no question has id "zz"'),
        (5, "duplicate-id", '"a" is already in dev and again in dev'),
        (8, "duplicate-id", '"a" is already in dev and again in test'),
    ]


@pytest.mark.parametrize(
    ("content", "line", "rule"),
    [
        ("", 1, "not-json"),
        ('{\n "dev": ["a"],\n "test": [],\n}', 4, "not-json"),
        ("[]", 0, "wrong-type"),
        ("null", 0, "wrong-type"),
        ('{"dev": ["a"]}', 0, "missing-field"),
        ('{"dev": ["a"], "test": [1]}', 0, "wrong-type"),
        ('{"dev": ["a"], "test": "b"}', 0, "wrong-type"),
        ('{"dev": ["a"], "test": [], "tset": []}', 0, "unknown-field"),
        ('{"dev": ["a"], "test": [], "test": []}', 0, "duplicate-key"),
    ],
)
def test_a_malformed_file_is_told(tmp_path: Path, content: str, line: int, rule: str) -> None:
    [problem] = problems(tmp_path, content, "a")
    assert problem[:2] == (line, rule)


def test_a_missing_file_is_a_file_error(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        read_splits(tmp_path / "splits.json", [])


def test_a_third_of_each_type_goes_to_dev() -> None:
    questions = many(90)
    splits = make_splits(questions, 7)
    kinds = {q.id: q.type for q in questions}
    assert Counter(kinds[name] for name in splits["dev"]) == {"exact": 10, "table": 10, "multi-hop": 10}
    assert sorted(splits["dev"] + splits["test"]) == sorted(kinds)


def test_the_whole_is_a_third_too_when_types_do_not_divide() -> None:
    questions = many(22, types=tuple(f"t{i}" for i in range(11)))
    assert len(make_splits(questions, 7)["dev"]) == 7


def test_the_split_depends_on_the_seed_but_not_on_the_order_of_the_file() -> None:
    questions = many(60)
    splits = make_splits(questions, 7)
    backwards = make_splits(questions[::-1], 7)
    assert backwards == {name: identifiers[::-1] for name, identifiers in splits.items()}
    assert make_splits(questions, 8) != splits


@pytest.mark.parametrize("seed", range(20))
def test_twins_and_questions_on_the_same_places_stay_together(seed: int) -> None:
    here, there = Judgment("a.md", block=1, quote="it\u2019s 4 m"), Judgment("a.md", block=1, quote="it's 4 m")
    twins = [
        question("t1", "What is the range of the WL-20 in metres?"),
        question("t2", "what is the range of the WL-25 in metres"),
        question("p1", "How far down?", None, 1, here),
        question("p2", "Deepest use, please", None, 1, there),
    ]
    dev = set(make_splits(many(30) + twins, seed)["dev"])
    assert len(dev & {"t1", "t2"}) != 1
    assert len(dev & {"p1", "p2"}) != 1


def test_what_is_rendered_reads_back(tmp_path: Path) -> None:
    questions = many(12)
    path = tmp_path / "splits.json"
    path.write_text(render_splits(questions, 3))
    assert json.loads(path.read_text())["seed"] == 3
    assert Counter(read_splits(path, questions).values()) == {"dev": 4, "test": 8}


def test_near_identical_means_alike_in_print_or_almost_every_letter() -> None:
    texts = [
        "What's the range of a WL-20?",
        "Who signs notices?",
        "what’s  the range of a WL-25",
        "水位计的量程是多少？",
    ]
    assert similar_pairs(texts) == [(0, 2)]
    assert similar_pairs(["a", "b", "A?", "?", ""]) == [(0, 2), (3, 4)]


@settings(deadline=None)
@given(st.lists(st.text(alphabet="ab c", max_size=12), max_size=12))
def test_the_prefix_filter_finds_exactly_the_pairs_that_comparing_all_would(texts: list[str]) -> None:
    def grams(text: str) -> set[str]:
        padded = f" {normalised(text)} "
        return {padded[i : i + 3] for i in range(max(1, len(padded) - 2))}

    sets = [grams(text) for text in texts]
    every = [
        (i, j) for j in range(len(sets)) for i in range(j) if 5 * len(sets[i] & sets[j]) >= 4 * len(sets[i] | sets[j])
    ]
    assert similar_pairs(texts) == sorted(every)
