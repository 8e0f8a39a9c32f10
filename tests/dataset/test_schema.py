"""The published schemas say what the reader does, and the hashes tell one dataset from another."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ragkit.dataset import dataset_hashes, question_schema, splits_schema, write_schemas
from ragkit.errors import FileError, Problem
from ragkit.records import Document

ROOT = Path(__file__).parents[2]
GOOD: dict[str, Any] = {"id": "q1", "question": "How?", "relevant": [{"document": "a.md", "page": None}]}


def test_the_committed_schemas_are_the_exported_ones(tmp_path: Path) -> None:
    """If this fails: `python -c "from pathlib import Path; from ragkit.dataset import *; write_schemas(Path('eval'))"`."""
    for path in write_schemas(tmp_path):
        assert (ROOT / "eval" / path.name).read_bytes() == path.read_bytes()


def test_the_schemas_are_schemas() -> None:
    for schema in (question_schema(), splits_schema()):
        jsonschema.Draft7Validator.check_schema(schema)


@pytest.mark.parametrize(
    ("entry", "valid"),
    [
        (GOOD, True),
        (GOOD | {"answerable": False, "relevant": []}, True),
        ({"id": "q1", "question": "How?", "answerable": False}, True),
        (GOOD | {"relevant": []}, False),
        ({"id": "q1", "question": "How?"}, False),
        (GOOD | {"answerable": False}, False),
        (GOOD | {"id": 1}, False),
        (GOOD | {"gold": "x"}, False),
        (GOOD | {"relevant": [{"document": "a.md", "quote": "x" * 201}]}, False),
        (GOOD | {"relevant": [{"document": "a.md", "grade": 4}]}, False),
    ],
)
def test_the_question_schema_refuses_what_the_reader_refuses(entry: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft7Validator(question_schema()).is_valid(entry) == valid


def test_the_splits_schema_knows_its_own_reference() -> None:
    validator = jsonschema.Draft7Validator(splits_schema())
    assert validator.is_valid({"$schema": "splits.schema.json", "dev": ["a"], "test": [], "seed": 1})
    assert not validator.is_valid({"dev": ["a"]})


def test_editor_settings_point_to_files_that_exist() -> None:
    settings = json.loads((ROOT / ".vscode" / "settings.json").read_text())
    assert all((ROOT / each["url"]).is_file() for each in settings["json.schemas"])


def test_the_editor_task_understands_a_problem() -> None:
    [task] = json.loads((ROOT / ".vscode" / "tasks.json").read_text())["tasks"]
    pattern = task["problemMatcher"]["pattern"]["regexp"]
    message = str(Problem("eval/questions.jsonl", 3, "bad-id", '`id` "a b" is wrong', "mend it"))
    match = re.fullmatch(pattern, message)
    assert match is not None
    assert match.groups() == ("eval/questions.jsonl", "3", "bad-id", '`id` "a b" is wrong -> mend it')


def test_hashes_follow_content_and_slugs_but_not_order(tmp_path: Path, make_document: Callable[..., Document]) -> None:
    questions, splits = tmp_path / "q", tmp_path / "s"
    questions.write_text("1")
    splits.write_text("2")
    one, other = make_document("a.md", ["x"]), make_document("b.md", ["y"])
    hashes = dataset_hashes([one, other], questions, splits)
    assert dataset_hashes([other, one], questions, splits) == hashes
    assert {len(value or "") for value in hashes.values()} == {64}
    assert dataset_hashes([one], questions, splits)["corpus"] != hashes["corpus"]
    renamed = dataclasses.replace(other, slug="c.md")
    assert dataset_hashes([one, renamed], questions, splits)["corpus"] != hashes["corpus"]
    assert dataset_hashes([one, other], questions, None) == hashes | {"splits": None}
    splits.write_text("3")
    changed = dataset_hashes([one, other], questions, splits)
    assert (changed["questions"], changed["corpus"]) == (hashes["questions"], hashes["corpus"])
    assert changed["splits"] != hashes["splits"]
    with pytest.raises(FileError):
        dataset_hashes([], tmp_path / "none", None)
