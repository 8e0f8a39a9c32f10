"""What people read of a comparison."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ragkit.comparison import Comparison, Metrics, Policy, compare
from ragkit.comparison.evaluation import Latency, Timing
from ragkit.files import canonical_json
from ragkit.report.comparison import (
    adjudication,
    comparison_json,
    comparison_markdown,
    comparison_tables,
    headline,
    worse_table,
)
from tests.comparison.evaluations import evaluation


def found(baseline: list[float], candidate: list[float], **more: Any) -> Comparison:
    read = [
        Metrics.model_validate({**evaluation(values, name=name, **more), "path": "m.json"})
        for values, name in ((baseline, "v1.4"), (candidate, "small"))
    ]
    times = Timing(latency_ms=Latency(p50=1.25, p95=3.0), fingerprint="f")
    return compare(*read, Policy(), timing=(times, None))


@pytest.fixture
def mixed() -> Comparison:
    return found([1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0])


def test_the_verdict_and_its_reason_come_first(mixed: Comparison) -> None:
    lines = comparison_markdown(mixed).splitlines()
    assert lines[0] == "## small against v1.4 on all questions: cannot decide: no headroom"
    assert lines[2].startswith("1 of 4 questions leave the baseline room to improve in Recall@5")
    assert "Exploratory" in lines[4]


def test_what_got_worse_is_folded_and_says_where_it_was_lost(mixed: Comparison) -> None:
    text = comparison_markdown(mixed)
    assert "<details><summary>Questions that got worse: 1</summary>\n\n| id |" in text
    assert "| q0 | Question 0? | 1.000 to 0.000 | 0.500 to 0.500 | candidates (rank 1 to none) |" in text
    assert text.count("<details>") == text.count("</details>") == 4
    assert "| 1 | 0.md\\#2-3 \\* | small.md\\#0 |" in text


def test_on_a_terminal_the_first_hits_of_flipped_questions_stand_below_each_other(mixed: Comparison) -> None:
    shown = comparison_tables(mixed)[-1]
    assert shown.rows[0] == ("q0", "Question 0?", "1.000 to 0.000", "0.md#2-3 *", "small.md#0")


def test_times_that_are_not_known_are_dashes(mixed: Comparison) -> None:
    assert "| question, median, ms | 1.2 | – |" in comparison_markdown(mixed)


def test_a_question_cannot_break_out_of_its_cell() -> None:
    baseline, candidate = evaluation([1.0]), evaluation([0.0], name="<b>|x")
    for content in (baseline, candidate):
        content["questions"][0]["question"] = "a | b\n</details><script>alert(1)</script> `c`" + "x" * 200
    read = [Metrics.model_validate({**content, "path": "m.json"}) for content in (baseline, candidate)]
    text = comparison_markdown(compare(*read, Policy()))
    assert "<script>" not in text
    assert text.count("</details>") == 4
    assert "a \\| b &lt;/details&gt;" in text
    assert "…" in text
    assert "## &lt;b&gt;\\|x against" in text


def test_long_lists_are_cut_in_markdown_and_whole_in_json() -> None:
    comparison = found([1.0] * 80, [0.0] * 80)
    text = comparison_markdown(comparison)
    assert "Questions that got worse: 80" in text
    assert "... and 30 more in the JSON." in text
    assert len(comparison_json(comparison)["changed"]) == 80
    assert len(worse_table(comparison).rows) == 80


def test_the_json_is_canonical_and_has_everything(mixed: Comparison) -> None:
    read = json.loads(canonical_json(comparison_json(mixed)))
    assert read["verdict"]["decision"] == "cannot decide"
    assert read["measures"][0]["measure"] == "Recall@5"
    assert read["changed"][0]["candidate_hits"][0]["at"] == "small.md#0"


def test_without_any_difference_there_is_nothing_to_fold() -> None:
    comparison = found([0.0] * 10, [0.0] * 10)
    text = comparison_markdown(comparison)
    assert "got worse" not in text
    assert "What was changed" not in text
    assert [len(shown.rows) for shown in comparison_tables(comparison)] == [0, 2, 1, 4, 0, 0]


def test_the_headline_names_the_split() -> None:
    read = [Metrics.model_validate({**evaluation([0.0] * 9, name=name), "path": "m"}) for name in ("a", "b")]
    assert headline(compare(*read, Policy(), "dev")) == "b against a on the dev questions: cannot decide: not promoted"


def test_hits_to_judge_hide_system_rank_and_score_and_leave_out_the_labelled(mixed: Comparison) -> None:
    lines = adjudication(mixed, lambda at: f"text of {at}")
    assert [line["at"] for line in lines] == ["small.md#0", "v1.4.md#1"]  # q0: the baseline's hit is labelled
    assert all(line.keys() == {"id", "question", "at", "text", "relevant"} for line in lines)
    assert lines[0]["text"] == "text of small.md#0"
    assert lines[0]["relevant"] is None


def test_a_hit_of_both_systems_is_judged_once_in_a_reproducible_order() -> None:
    contents = [evaluation([1.0]), evaluation([0.0], name="small")]
    for content, order in zip(contents, ((0, 1, 2, 3, 4), (4, 3, 2, 1, 0)), strict=True):
        content["questions"][0]["hits"] = [{"at": f"d.md#{i}", "score": 0.5, "covers": []} for i in order]
    read = [Metrics.model_validate({**content, "path": "m"}) for content in contents]
    comparison = compare(*read, Policy())
    places = [line["at"] for line in adjudication(comparison, lambda _: None)]
    assert sorted(places) == [f"d.md#{i}" for i in range(5)]
    assert places == [line["at"] for line in adjudication(comparison, lambda _: None)]
