"""Fixtures of a folder: one per case, none too many, none too few."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragkit.errors import ConfigError, DataError, FileError
from ragkit.golden.cases import Case
from ragkit.golden.fixtures import read_fixtures

CASES = [Case(name, "q", ("a",), (), ("w",)) for name in ("one", "two")]
HITS = [{"docId": "a", "text": "w", "score": 1.0}]


def fill(folder: Path, **files: Any) -> Path:
    for name, value in files.items():
        text = value if isinstance(value, str) else json.dumps(value)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return folder


def rules(folder: Path) -> list[str]:
    with pytest.raises(DataError) as caught:
        read_fixtures(folder, CASES)
    return [problem.rule for problem in caught.value.problems]


@pytest.mark.parametrize(
    "files",
    [
        {"one": HITS, "two": {"results": HITS}},
        {"all": {"cases": {"one": HITS, "two": {"matches": HITS}}}},
        {"all": [{"caseId": "one", "results": HITS}, {"caseId": "two", "hits": HITS}]},
        {"one": {"caseId": "one", "results": HITS}, "rest": {"cases": {"two": HITS}}},
    ],
)
def test_one_file_per_case_or_one_for_all(tmp_path: Path, files: dict[str, Any]) -> None:
    fixtures = read_fixtures(fill(tmp_path, **files), CASES)
    assert [(case, [c.doc_id for c in ranking]) for case, ranking in fixtures.rankings.items()] == [
        ("one", ["a"]),
        ("two", ["a"]),
    ]


def test_a_single_file_will_do(tmp_path: Path) -> None:
    fill(tmp_path, all={"cases": {"one": HITS, "two": HITS}, "provenance": {"tool": "mine"}}, stray="{")
    assert read_fixtures(tmp_path / "all.json", CASES).provenance == [{"tool": "mine"}]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"one": HITS}, ["missing-fixture"]),
        ({"one": HITS, "two": HITS, "three": HITS}, ["unknown-case"]),
        ({"all": {"cases": {"one": HITS, "two": HITS, "three": HITS}}}, ["unknown-case"]),
        ({"one": HITS, "two": HITS, "all": {"cases": {"one": HITS}}}, ["duplicate-fixture"]),
        ({"one": {"caseId": "two", "results": HITS}, "two": HITS}, ["case-mismatch"]),
        ({"one": HITS, "two": [{"docId": None, "text": "w"}]}, ["docId"]),
        ({"one": HITS, "two": ["just text"]}, ["docId"]),
        ({"one": HITS, "two": '[{"docId": "a", "score": NaN}]'}, ["not-json", "missing-fixture"]),
        ({"one": HITS, "two": [{"docId": "a", "score": "0.9"}]}, ["score"]),
        ({"one": HITS, "two": '{"results": [], "results": []}'}, ["duplicate-key"]),
        ({"one": HITS, "two": "{"}, ["not-json", "missing-fixture"]),
    ],
)
def test_what_piles_up_is_missing_or_unreadable_fails(
    tmp_path: Path, files: dict[str, Any], expected: list[str]
) -> None:
    assert sorted(rules(fill(tmp_path, **files))) == sorted(expected)


def test_an_empty_or_absent_folder_is_an_error(tmp_path: Path) -> None:
    assert rules(tmp_path) == ["no-fixtures"]
    with pytest.raises(FileError):
        read_fixtures(tmp_path / "none", CASES)


def test_a_mapping_file_beside_the_fixtures_is_used(tmp_path: Path) -> None:
    fill(tmp_path, one={"rows": [{"k": "a"}]}, two={"rows": []})
    (tmp_path / "map.toml").write_text('[fields]\nhits = "rows"\ndocId = "k"', encoding="utf-8")
    assert read_fixtures(tmp_path, CASES).rankings["one"][0].doc_id == "a"
    (tmp_path / "map.toml").write_text("[fields]\nhit = 3", encoding="utf-8")
    with pytest.raises(ConfigError):
        read_fixtures(tmp_path, CASES)


def test_the_hash_is_of_names_and_contents_not_of_the_place(tmp_path: Path) -> None:
    hashes = []
    for folder, hits in (("x", HITS), ("y", HITS), ("z", [])):
        (tmp_path / folder).mkdir()
        hashes.append(read_fixtures(fill(tmp_path / folder, one=hits, two=HITS), CASES).sha256)
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_passage_of_ten_megabytes_is_read(tmp_path: Path) -> None:
    fill(tmp_path, one=[{"docId": "a", "text": "w " * 5_000_000}], two=HITS)
    assert len(read_fixtures(tmp_path, CASES).rankings["one"][0].text or "") == 10_000_000


def test_notes_name_the_case(tmp_path: Path) -> None:
    swapped = [{"docId": "a", "score": 0.1, "rank": 1}, {"docId": "b", "score": 0.9, "rank": 2}]
    assert read_fixtures(fill(tmp_path, one=swapped, two=HITS), CASES).notes == [
        "one: ranks contradict the scores; the scores decide"
    ]
