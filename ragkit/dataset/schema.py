"""The JSON Schemas that editors use, exported from the models that the reader checks with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragkit.dataset.model import QuestionEntry, SplitsEntry
from ragkit.files import canonical_json, write_atomic

# Draft 7 is what editors understand best; nothing newer is used.
_DIALECT = "http://json-schema.org/draft-07/schema#"


def question_schema() -> dict[str, Any]:
    """Of one line of `questions.jsonl`."""
    return {"$schema": _DIALECT, **QuestionEntry.model_json_schema(), "title": "A question of questions.jsonl"}


def splits_schema() -> dict[str, Any]:
    """Of `splits.json`."""
    return {"$schema": _DIALECT, **SplitsEntry.model_json_schema(), "title": "splits.json"}


def write_schemas(folder: Path) -> list[Path]:
    """Write `questions.schema.json` and `splits.schema.json` to `folder`. Raises `FileError`."""
    schemas = {"questions.schema.json": question_schema(), "splits.schema.json": splits_schema()}
    for name, schema in schemas.items():
        write_atomic(folder / name, canonical_json(schema))
    return [folder / name for name in schemas]
