"""Candidates out of the dumps of many systems; each recognised shape has a file in tests/golden/resources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragkit.interop.mapping import Mapping, load_mapping
from ragkit.interop.shapes import path_levels, read_candidates

RESOURCES = Path(__file__).parents[1] / "golden" / "resources"
SHAPES = sorted(path.stem for path in RESOURCES.glob("*.json"))
EXPECTED = [
    ("guide/care.md", ("Care", "Battery"), "The battery lasts six years.", 1),
    ("notes.txt", (), "Minutes of the meeting.", 2),
]


def rules(dump: Any, metric: str | None = None) -> list[str]:
    return [fault.rule for fault in read_candidates(dump, metric).faults]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_recognised_shape_gives_the_same_candidates(shape: str) -> None:
    mapping = load_mapping(RESOURCES / f"{shape}.toml") if (RESOURCES / f"{shape}.toml").exists() else Mapping()
    reading = mapping.read(json.loads((RESOURCES / f"{shape}.json").read_text(encoding="utf-8")))
    assert not reading.faults
    assert not reading.notes
    found = [(c.doc_id, c.breadcrumb, c.text, c.rank) for c in reading.candidates]
    assert found == EXPECTED
    scores = [c.score for c in reading.candidates]
    assert scores in ([0.75, 0.5], [-0.25, -0.5])  # the second are distances, their signs turned


def test_all_shapes_of_the_documentation_have_a_file() -> None:
    assert len(SHAPES) == 14


def test_raw_entries_are_kept_and_everything_but_the_document_is_optional() -> None:
    (candidate,) = read_candidates([{"docId": "a", "extra": {"x": 1}}]).candidates
    assert (candidate.breadcrumb, candidate.text, candidate.score, candidate.rank) == ((), None, None, 1)
    assert candidate.raw == {"docId": "a", "extra": {"x": 1}}


def test_a_telling_name_goes_before_a_mere_id_wherever_it_stands() -> None:
    (candidate,) = read_candidates([{"id": "chunk-17", "metadata": {"doc_id": "a.md"}}]).candidates
    assert candidate.doc_id == "a.md"


def test_ids_are_strings_in_nfc_and_numbers_become_strings() -> None:
    found = read_candidates([{"id": 92001}, {"docId": "cafe\u0301.md"}]).candidates
    assert [c.doc_id for c in found] == ["92001", "caf\u00e9.md"]


@pytest.mark.parametrize("breadcrumb", [["A", "B / C"], "A > B / C", " A >  B / C > "])
def test_a_slash_is_no_separator_where_the_levels_are_clear(breadcrumb: Any) -> None:
    (candidate,) = read_candidates([{"docId": "a", "breadcrumb": breadcrumb}]).candidates
    assert candidate.breadcrumb == ("A", "B / C")


def test_a_string_without_angle_brackets_is_split_at_slashes() -> None:
    assert path_levels("/Setup/Limits/") == ("Setup", "Limits")
    assert path_levels(" / ") == ()


def test_the_score_decides_where_ranks_contradict_it_and_says_so() -> None:
    reading = read_candidates([{"docId": "a", "score": 0.1, "rank": 1}, {"docId": "b", "score": 0.9, "rank": 2}])
    assert [(c.doc_id, c.rank) for c in reading.candidates] == [("b", 1), ("a", 2)]
    assert reading.notes == ["ranks contradict the scores; the scores decide"]


def test_without_scores_the_ranks_decide_and_without_ranks_the_list() -> None:
    by_rank = read_candidates([{"docId": "a", "rank": 2}, {"docId": "b", "rank": 1}])
    assert [c.doc_id for c in by_rank.candidates] == ["b", "a"]
    assert not by_rank.notes
    assert [c.doc_id for c in read_candidates([{"docId": "a"}, {"docId": "b"}]).candidates] == ["a", "b"]


def test_equal_scores_keep_the_order_in_which_the_system_listed_them() -> None:
    entries = [{"docId": name, "score": 1.0} for name in "cab"]
    assert [c.doc_id for c in read_candidates(entries).candidates] == ["c", "a", "b"]


def test_a_distance_is_never_read_as_a_similarity() -> None:
    entries = [{"docId": "far", "distance": 0.9}, {"docId": "near", "distance": 0.1}]
    assert rules(entries) == ["metric", "metric"]
    assert [c.doc_id for c in read_candidates({"metric": "L2", "results": entries}).candidates] == ["near", "far"]
    assert [c.doc_id for c in read_candidates({"metric": "IP", "results": entries}).candidates] == ["far", "near"]
    assert [c.doc_id for c in read_candidates(entries, "l2").candidates] == ["near", "far"]
    assert rules({"metric": "furlong", "results": []}) == ["metric"]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), "0.9", True, [1]])
def test_scores_that_are_no_finite_numbers_are_refused(score: Any) -> None:
    assert rules([{"docId": "a", "score": score}]) == ["score"]


def test_some_scores_are_worse_than_none() -> None:
    assert rules([{"docId": "a", "score": 1.0}, {"docId": "b"}]) == ["score"]
    assert rules([{"docId": "a", "score": None}, {"docId": "b"}]) == []


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        ({"docId": ""}, "docId"),
        ({"docId": "  "}, "docId"),
        ({"docId": True}, "docId"),
        ({"docId": "a", "text": 3}, "text"),
        ({"docId": "a", "breadcrumb": [1]}, "breadcrumb"),
        ({"docId": "a", "breadcrumb": 7}, "breadcrumb"),
        ({"docId": "a", "rank": "1"}, "rank"),
        ({"docId": "a", "rank": -1}, "rank"),
        (7, "candidate"),
        (None, "candidate"),
    ],
)
def test_bad_entries_are_told(entry: Any, rule: str) -> None:
    assert rules([entry]) == [rule]


@pytest.mark.parametrize("dump", [None, 3, "text", {}, {"results": None}, {"answer": []}])
def test_what_has_no_candidates_is_not_an_empty_answer(dump: Any) -> None:
    assert rules(dump) == ["shape"]


def test_an_empty_answer_is_one() -> None:
    assert read_candidates({"results": []}).candidates == []
    assert not read_candidates([[]]).faults


def test_all_faults_of_a_dump_are_told_together() -> None:
    assert len(rules([{"docId": "", "score": "x"}, 3])) >= 3


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ('[fields]\nhits = "a["', "fields.hits: not JMESPath"),
        ('[fields]\nhit = "a"', "did you mean `hits`"),
        ('metric = "furlong"', "metric must be one of"),
        ('[request]\njson = { q = "fixed" }', "every question would be the same"),
        ("[request]\njson = 3", "request.json"),
        ("fields = ", "not TOML"),
    ],
)
def test_a_bad_mapping_file_is_told(tmp_path: Path, toml: str, message: str) -> None:
    path = tmp_path / "map.toml"
    path.write_text(toml, encoding="utf-8")
    with pytest.raises(Exception, match=r"map\.toml") as caught:
        load_mapping(path)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2  # type: ignore[attr-defined]


def test_an_expression_that_gives_no_list_or_fails_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text('[fields]\nhits = "rows"\nscore = "abs(score)"', encoding="utf-8")
    mapping = load_mapping(path)
    assert [f.rule for f in mapping.read({"rows": 3}).faults] == ["shape"]
    assert [f.rule for f in mapping.read({"rows": [{"score": "x"}]}).faults] == ["mapping"]
