"""One entry of `cases.json` for pydantic: its JSON Schema, and what is wrong with an entry.

Apart from `cases`, which loads it for an entry that it isn't sure of.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from ragkit.golden.cases import LONGEST_ID, are_levels, is_visible, levels
from ragkit.names import id_fault
from ragkit.strict import Fault, explain


def _identifier(value: str) -> str:
    if fault := id_fault(value):
        raise PydanticCustomError("bad_id", "{fault}", {"fault": fault})
    return value


def _visible(value: str) -> str:
    if not is_visible(value):
        raise PydanticCustomError("empty", "has nothing to read in it")
    return value


def _path(value: str | list[str]) -> str | list[str]:
    if not are_levels(levels(value)):
        raise PydanticCustomError("empty", "has an empty level, or none")
    return value


_Text = Annotated[str, AfterValidator(_visible)]


class CaseEntry(BaseModel):
    """One case: a question and what its results must have. The lists may be empty, but not all three."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    caseId: Annotated[str, Field(min_length=1, max_length=LONGEST_ID), AfterValidator(_identifier)] = Field(  # noqa: N815
        description="Unique; letters, digits and . _ : - only."
    )
    query: _Text = Field(description="As a user would type it.")
    expectedDocIds: list[_Text] = Field(description="Any one of them among the first k is enough.")  # noqa: N815
    expectedBreadcrumbs: list[Annotated[str | list[str], AfterValidator(_path)]] = Field(  # noqa: N815
        description="The last levels of the heading path, as a list or as `Chapter > Section`; any one is enough."
    )
    expectedKeywords: list[_Text] = Field(description="Words or phrases that the passages must hold, all of them.")  # noqa: N815
    notes: str | None = Field(None, description="For reviewers.")


def schema() -> dict[str, Any]:
    """The JSON Schema of `cases.json`, for editors."""
    entry = CaseEntry.model_json_schema()
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "cases.json",
        "description": "Golden cases, reviewed by people.",
        "type": "array",
        "minItems": 1,
        "items": entry,
    }


def faults_of(raw: Any) -> list[Fault]:
    """What is wrong with an entry by itself; nothing when it fits."""
    try:
        CaseEntry.model_validate(raw)
    except ValidationError as error:
        return explain(CaseEntry, error)
    return []
