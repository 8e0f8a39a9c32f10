"""Reading cases: what is refused, all of it at once, with lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.errors import DataError
from ragkit.files import canonical_json
from ragkit.golden import cases as reading
from ragkit.golden.cases import read_cases, warnings
from ragkit.golden.entry import faults_of, schema

GOOD = {
    "caseId": "battery",
    "query": "How long does the battery last?",
    "expectedDocIds": ["guide/care.md"],
    "expectedBreadcrumbs": ["Care > Battery", ["Care", "Cartridge"]],
    "expectedKeywords": ["six years"],
}
ROOT = Path(__file__).parents[2]


def problems(tmp_path: Path, value: Any) -> list[tuple[int, str]]:
    path = tmp_path / "cases.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_cases(path)
    return [(problem.line, problem.rule) for problem in caught.value.problems]


def rules(tmp_path: Path, **changed: Any) -> list[str]:
    return [rule for _, rule in problems(tmp_path, [{**GOOD, **changed}])]


def test_a_good_case_is_read(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([GOOD]), encoding="utf-8")
    (case,) = read_cases(path)
    assert case.breadcrumbs == (("Care", "Battery"), ("Care", "Cartridge"))
    assert (case.documents, case.keywords, case.notes) == (("guide/care.md",), ("six years",), None)
    assert warnings([case]) == []


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"caseId": 92001}, "wrong-type"),
        ({"caseId": None}, "wrong-type"),
        ({"caseId": "two words"}, "bad-id"),
        ({"caseId": ""}, "empty"),
        ({"query": " "}, "empty"),
        ({"expectedDocIds": [None]}, "wrong-type"),
        ({"expectedDocIds": [""]}, "empty"),
        ({"expectedDocIds": "guide/care.md"}, "wrong-type"),
        ({"expectedDocIds": None}, "wrong-type"),
        ({"expectedDocIds": ["a", "a"]}, "duplicate"),
        ({"expectedBreadcrumbs": [""]}, "empty"),
        ({"expectedBreadcrumbs": [" > "]}, "empty"),
        ({"expectedBreadcrumbs": [[]]}, "empty"),
        ({"expectedBreadcrumbs": [["Care", ""]]}, "empty"),
        ({"expectedBreadcrumbs": ["Care > Battery", ["care", "battery"]]}, "duplicate"),
        ({"expectedKeywords": ["\u00ad"]}, "empty"),  # folds to nothing: would be in every text
        ({"expectedKeywords": [None]}, "wrong-type"),
        ({"expectedKeywords": ["Six years", "six  years"]}, "duplicate"),
        ({"expectedDocIds": [], "expectedBreadcrumbs": [], "expectedKeywords": []}, "nothing-expected"),
        ({"expectedKeyword": ["x"]}, "unknown-field"),
        ({"notes": 3}, "wrong-type"),
    ],
)
def test_bad_entries_are_refused(tmp_path: Path, changed: dict[str, Any], rule: str) -> None:
    assert rule in rules(tmp_path, **changed)


def test_all_problems_come_together_each_with_the_line_of_its_case(tmp_path: Path) -> None:
    text = '\ufeff[\r\n {"caseId": "a"},\r\n\r\n 7,\r\n {"caseId": "a", "query": ""}\r\n]'
    found = problems(tmp_path, text)
    assert {line for line, _ in found} == {2, 4, 5}
    assert (5, "duplicate-id") in found
    assert (4, "wrong-type") in found
    assert (5, "empty") in found


@pytest.mark.parametrize("value", ["", "[", "{}", "[]", "null", '[{"a": 1,}]', '{"caseId": "a"}'])
def test_what_is_no_list_of_cases_is_refused(tmp_path: Path, value: str) -> None:
    assert problems(tmp_path, value)


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    text = json.dumps([GOOD]).replace('"query":', '"query": "x", "query":')
    assert (1, "duplicate-key") in problems(tmp_path, text) or (0, "duplicate-key") in problems(tmp_path, text)


def test_a_case_that_cannot_reach_strong_is_warned_about(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    only_words = {**GOOD, "caseId": "words", "expectedDocIds": []}
    only_document = {**GOOD, "caseId": "document", "expectedBreadcrumbs": [], "expectedKeywords": []}
    path.write_text(json.dumps([only_words, only_document, GOOD]), encoding="utf-8")
    assert [warning.split(":")[0] for warning in warnings(read_cases(path))] == ["words", "document"]


texts = st.one_of(
    st.sampled_from(["", " ", "a", "two words", " > ", "A > B", "/a//b", "\u00ad", "x" * 101]), st.text(max_size=3)
)
odd = st.one_of(texts, st.none(), st.booleans(), st.integers(), st.lists(texts, max_size=2), st.just({}))
paths = st.lists(st.one_of(texts, st.lists(odd, max_size=2)), max_size=2)
values = {
    "caseId": st.sampled_from(["a", "a.b-c", "x" * 100]),
    "query": texts,
    "expectedDocIds": st.lists(texts, max_size=2),
    "expectedBreadcrumbs": paths,
    "expectedKeywords": st.lists(odd, max_size=2),
    "notes": st.none() | texts,
}
entries = st.one_of(
    st.fixed_dictionaries(values),
    st.fixed_dictionaries({name: value | odd for name, value in values.items()}),
    st.fixed_dictionaries({}, optional={**values, "note": odd}),
    odd,
)


@given(entries)
def test_what_is_taken_without_the_model_is_what_it_accepts(raw: Any) -> None:
    assert reading._surely_fits(raw) == (not faults_of(raw))


def test_the_committed_schema_is_the_model_s() -> None:
    assert (ROOT / "eval/golden/cases.schema.json").read_text(encoding="utf-8") == canonical_json(schema())
