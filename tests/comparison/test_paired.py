"""Reading evaluations strictly, and refusing what does not compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragkit.comparison import check_comparable, read_metrics, read_timing
from ragkit.comparison.evaluation import SCHEMA, Metrics
from ragkit.comparison.paired import pair
from ragkit.errors import BaselineError, FileError, UsageError
from ragkit.report import metrics as report

Make = Callable[..., dict[str, Any]]
Write = Callable[[str, Any], Path]


def test_the_form_read_is_the_form_written() -> None:
    assert SCHEMA == report.SCHEMA


def test_a_whole_file_is_read(make: Make, write: Write) -> None:
    found = read_metrics(write("metrics.json", make([1.0, 0.0])))
    assert (found.name, found.unit, len(found.questions)) == ("v1.4", "passage", 2)


def cut(content: dict[str, Any], *path: str | int) -> dict[str, Any]:
    """`content` without the entry at `path`."""
    inner: Any = content
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return content


@pytest.mark.parametrize(
    "path",
    [
        ("schema",),
        ("questions",),
        ("dataset", "corpus"),
        ("model", "source"),
        ("contract", "coverage"),
        ("configuration", "name"),
        ("configuration", "evaluation"),
        ("configuration", "evaluation", "unit"),
        ("questions", 1, "measures"),
        ("questions", 0, "hits", 0, "at"),
    ],
)
def test_a_missing_key_is_named(make: Make, write: Write, path: tuple[str | int, ...]) -> None:
    file = write("metrics.json", cut(make([1.0, 1.0]), *path))
    with pytest.raises(FileError) as caught:
        read_metrics(file)
    assert str(file) in str(caught.value)
    assert str(path[-1]) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"measures": {"Recall@5": 1.5}}, "less than or equal to 1"),
        ({"measures": {"Recall@5": "1.0"}}, "valid number"),
        ({"bounds": {"Recall@5": [0.5]}}, "at least 2 items"),
        ({"hits": [{"at": "no block", "score": 1.0, "covers": []}]}, "pattern"),
        ({"id": 7}, "valid string"),
    ],
)
def test_a_wrong_value_is_told_with_its_place(make: Make, write: Write, change: dict[str, Any], words: str) -> None:
    content = make([1.0, 0.0])
    content["questions"][1].update(change)
    with pytest.raises(FileError, match=r"questions\.1\.") as caught:
        read_metrics(write("metrics.json", content))
    assert words in str(caught.value)


def test_many_problems_are_counted_not_poured_out(make: Make, write: Write) -> None:
    content = make([1.0] * 50)
    for question in content["questions"]:
        del question["hits"]
    with pytest.raises(FileError, match="and 45 more"):
        read_metrics(write("metrics.json", content))


@pytest.mark.parametrize("text", ["[]", "3", "", "{", '{"schema": "ragkit-metrics-1", "questions": [NaN]}'])
def test_what_is_no_evaluation_is_refused(write: Write, text: str) -> None:
    with pytest.raises(FileError):
        read_metrics(write("metrics.json", text))


def test_a_file_cut_in_half_says_where(make: Make, write: Write) -> None:
    text = json.dumps(make([1.0] * 5), indent=1)
    with pytest.raises(FileError, match=r"metrics\.json:\d+:\d+: not JSON"):
        read_metrics(write("metrics.json", text[: len(text) // 2]))


def test_another_version_does_not_compare(make: Make, write: Write) -> None:
    with pytest.raises(BaselineError, match="ragkit-metrics-2"):
        read_metrics(write("metrics.json", {**make([1.0]), "schema": "ragkit-metrics-2"}))


def test_a_question_that_stands_twice_is_refused(make: Make, write: Write) -> None:
    content = make([1.0, 1.0])
    content["questions"][1]["id"] = "q0"
    with pytest.raises(FileError, match='"q0" stands twice'):
        read_metrics(write("metrics.json", content))


def parse(content: dict[str, Any]) -> Metrics:
    return Metrics.model_validate({**content, "path": "m.json"})


@pytest.mark.parametrize(
    ("section", "change", "words"),
    [
        ("dataset", {"corpus": "x"}, "the corpus"),
        ("dataset", {"questions": "x"}, "the questions"),
        ("dataset", {"splits": None}, "splits.json"),
        ("contract", {"coverage": "coverage-2"}, "the coverage version differs: coverage-1 and coverage-2"),
        ("contract", {"gain": "2^grade"}, "the contract (gain)"),
        ("contract", {"new": 1}, "the contract (new)"),
        ("model", {"source": "hub"}, "the model's source differs: builtin and hub"),
        ("configuration", {"evaluation": {"unit": "document"}}, "evaluation.unit differs: passage and document"),
    ],
)
def test_what_differs_too_much_does_not_compare(make: Make, section: str, change: dict[str, Any], words: str) -> None:
    other = make([1.0])
    other[section] = {**other[section], **change}
    with pytest.raises(BaselineError) as caught:
        check_comparable(parse(make([1.0])), parse(other))
    assert words in str(caught.value)


def test_every_reason_is_told(make: Make) -> None:
    other = make([1.0])
    other["dataset"].update(corpus="x", questions="y")
    with pytest.raises(BaselineError, match=r"(?s)the corpus.*the questions"):
        check_comparable(parse(make([1.0])), parse(other))


def test_a_run_on_one_split_compares_on_that_split_only(make: Make) -> None:
    whole, part = make([1.0] * 6), make([0.0] * 6, name="c")
    part["questions"] = [question for question in part["questions"] if question["split"] == "test"]
    with pytest.raises(BaselineError, match="compare with --split"):
        pair(parse(whole), parse(part))
    assert [both.baseline.id for both in pair(parse(whole), parse(part), "test")] == ["q1", "q2", "q4", "q5"]
    with pytest.raises(BaselineError, match="has 2 questions"):
        pair(parse(whole), parse(part), "dev")


def test_questions_without_judgments_are_left_out(make: Make) -> None:
    content = make([1.0, 0.0])
    content["questions"][1].update(measures={}, bounds={}, documents=[], first_ranks=[], losses=[])
    assert [both.baseline.id for both in pair(parse(content), parse(content))] == ["q0"]
    with pytest.raises(UsageError, match="no judged question in split 'test'"):
        pair(parse(content), parse(content), "test")


def test_a_system_is_the_same_whatever_its_name_split_seed_or_answerer(make: Make) -> None:
    one, other, different = make([1.0]), make([1.0], name="again"), make([1.0])
    other["configuration"]["dataset"] = {"split": "test"}
    other["configuration"]["evaluation"]["seed"] = 7
    other["configuration"]["answers"] = {"sentences": 1}
    different["configuration"]["retrieval"]["top_k"] = 20
    assert parse(one).system_id == parse(other).system_id != parse(different).system_id


def test_times_are_read_from_beside_a_run_or_a_baseline(write: Write) -> None:
    times = {"latency_ms": {"p50": 1.5, "p95": 2.5, "values": []}, "fingerprint": "f", "phases": {}}
    write("run/timing.json", times)
    write("docs/baseline-v1.4.timing.json", {**times, "fingerprint": "g"})
    metrics, baseline = write("run/metrics.json", {}), write("docs/baseline-v1.4.json", {})
    assert read_timing(metrics).fingerprint == "f"
    assert read_timing(baseline).fingerprint == "g"
    assert read_timing(write("other/metrics.json", {})) is None
    write("run/timing.json", {"latency_ms": {}})
    with pytest.raises(FileError, match=r"timing\.json: latency_ms\.p50: is missing"):
        read_timing(metrics)
