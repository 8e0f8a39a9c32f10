"""What one line of `questions.jsonl` and what `splits.json` may say, as strict pydantic models.

The rules that concern one field are here; those between fields, lines and files are in `questions`,
`splits` and `resolve`. The published JSON Schemas are exported from these models.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from ragkit.names import id_fault, slug_fault
from ragkit.text import fold

MAX_QUOTE = 200
"""Characters of a quote: longer ones would be cut by most chunkers and never be covered."""
MAX_NAME = 100
"""Characters of an id, a type or a group."""


def _id(value: str) -> str:
    fault = id_fault(value)
    if fault:
        raise PydanticCustomError("bad_id", "{fault}", {"fault": fault})
    return value


def _slug(value: str) -> str:
    fault = slug_fault(value)
    if fault:
        raise PydanticCustomError("bad_slug", "{fault}", {"fault": fault})
    return value


def _visible(value: str) -> str:
    if not fold(value):
        raise PydanticCustomError("empty", "has nothing to read in it")
    return value


Text = Annotated[str, AfterValidator(_visible)]
Name = Annotated[str, Field(max_length=MAX_NAME), AfterValidator(_visible)]
Quote = Annotated[str, Field(max_length=MAX_QUOTE), AfterValidator(_visible)]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class JudgmentEntry(_Entry):
    """One relevant location: a quote, a block, a page or a whole document, whichever is most precise."""

    document: Annotated[str, AfterValidator(_slug)] = Field(
        description="Slug: the file's path below the corpus root, with forward slashes.", min_length=1
    )
    page: int | None = Field(None, ge=1, description="1-based; null in formats without pages.")
    block: int | None = Field(None, ge=0, description="The block's order as `ragkit blocks` prints it, from 0.")
    quote: Quote | None = Field(
        None, description="Words of the block that hold the answer, as printed; they stand in it once."
    )
    grade: int = Field(1, ge=1, le=3, description="3 is the best location, 1 (the default) a relevant one.")
    group: Name | None = Field(None, description="Judgments that share it state the same fact: one is enough.")


def _conditions(schema: dict[str, Any]) -> None:
    """Tell the schema what `questions.read_questions` checks: judgments if and only if answerable."""
    schema["if"] = {"properties": {"answerable": {"const": False}}, "required": ["answerable"]}
    schema["then"] = {"properties": {"relevant": {"maxItems": 0}}}
    schema["else"] = {"properties": {"relevant": {"minItems": 1}}, "required": ["relevant"]}


class QuestionEntry(_Entry):
    """One question: what a user asks, and every place in the corpus that answers it."""

    model_config = ConfigDict(json_schema_extra=_conditions)

    id: Annotated[str, Field(max_length=MAX_NAME), AfterValidator(_id)] = Field(
        description="Unique; letters, digits and . _ : - only.", min_length=1
    )
    question: Text = Field(description="As a user would type it.")
    relevant: list[JudgmentEntry] = Field([], description="Every location that answers it.")
    goldAnswer: Text | None = Field(None, description="The answer, in a sentence.")  # noqa: N815 - the file's own name
    type: Name | None = Field(None, description="What makes it hard; results are also shown by type.")
    answerable: bool = Field(default=True, description="False when the corpus doesn't answer it.")


class SplitsEntry(_Entry):
    """Which question is for choosing (dev) and which for the one confirmatory test."""

    schema_: str | None = Field(None, alias="$schema", description="For editors.")
    dev: list[str] = Field(description="Question ids, about one third.")
    test: list[str] = Field(description="Question ids, about two thirds.")
    method: str | None = Field(None, description="How the split was made.")
    seed: int | None = Field(None, description="The seed it was made with.")
