"""A mapping file: where another system's answers keep what we look for, and how its service is asked.

::

    metric = "L2"                       # what a score means, when the answer doesn't say

    [fields]                            # JMESPath; what is left out is recognised by its name
    hits = "data.items"                 # from the whole answer
    docId = "meta.source"               # these from one hit
    breadcrumb = "meta.path"

    [request]                           # for services only
    method = "POST"
    headers = { Authorization = "env:SEARCH_AUTHORIZATION" }   # secrets stay in the environment
    json = { question = "{query}", limit = "{k}" }

jmespath is imported here only, and only when there is a mapping file with expressions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ragkit.errors import ConfigError
from ragkit.files import read_toml
from ragkit.interop.shapes import (
    LARGER_IS_BETTER,
    METRIC_KEYS,
    SMALLER_IS_BETTER,
    Reading,
    find_entries,
    read_candidates,
)
from ragkit.strict import Fault, explain, show


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Fields(_Section):
    """JMESPath expressions: `hits` on the whole answer, the others on one hit."""

    hits: str | None = None
    docId: str | None = None  # noqa: N815 - the field's name in fixtures
    text: str | None = None
    breadcrumb: str | None = None
    score: str | None = None
    rank: str | None = None
    page: str | None = None


class Request(_Section):
    """How a service is asked: `{query}` and `{k}` in `params` and `json` are filled in.

    `json` makes it a POST unless `method` says otherwise. A header `env:NAME` is read from the
    environment. `timeout` is in seconds for each attempt; `attempts` are made before giving up.
    """

    method: Literal["GET", "POST"] | None = None
    params: dict[str, str] = {}
    headers: dict[str, str] = {}
    body: dict[str, Any] | None = Field(None, alias="json")
    timeout: float = Field(10.0, gt=0, le=600)
    attempts: int = Field(4, ge=1, le=20)

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if "{query}" not in repr((self.params, self.body)):
            raise ValueError('neither `params` nor `json` has "{query}", so every question would be the same')
        return self


class _File(_Section):
    metric: str | None = None
    fields: Fields = Fields()
    request: Request | None = None

    @model_validator(mode="after")
    def _known(self) -> Self:
        known = (*SMALLER_IS_BETTER, *LARGER_IS_BETTER)
        if self.metric is not None and self.metric.casefold() not in known:
            raise ValueError(f"metric must be one of {', '.join(known)}")
        return self


@dataclass(frozen=True)
class Mapping:
    """A read mapping file; without one everything is recognised by its name."""

    metric: str | None = None
    request: Request | None = None
    expressions: dict[str, Any] = field(default_factory=dict)

    def read(self, dump: Any, metric: str | None = None) -> Reading:
        """The candidates in a dump. An expression that finds nothing leaves the field to its known names."""
        metric = self.metric or metric
        if not self.expressions:
            return read_candidates(dump, metric)
        hits = self.expressions.get("hits")
        try:
            entries = find_entries(dump) if hits is None else hits.search(dump)
            if not isinstance(entries, list):
                found = f"`hits` must give a list, found {show(entries)}"
                return Reading(faults=[Fault("shape", found, "mend the expression in the mapping file")])
            plain = [self._plain(entry) for entry in entries]
        except _jmespath().exceptions.JMESPathError as error:
            return Reading(faults=[Fault("mapping", str(error), "mend the expression in the mapping file")])
        declared = {key: dump[key] for key in METRIC_KEYS if key in dump} if isinstance(dump, dict) else {}
        return read_candidates({"results": plain, **declared}, metric)

    def _plain(self, entry: Any) -> Any:
        """The entry with the mapped fields on top and itself below."""
        fields = {name: e.search(entry) for name, e in self.expressions.items() if name != "hits"}
        return {**{name: value for name, value in fields.items() if value is not None}, "metadata": entry}


def load_mapping(path: Path) -> Mapping:
    """Read a mapping file. Raises `ConfigError` with every problem, `FileError` when it can't be read."""
    try:
        entry = _File.model_validate(read_toml(path))
    except ValidationError as error:
        faults = explain(_File, error)
        raise ConfigError(
            "\n".join(f"{path}: {fault.found}. {fault.remedy}".rstrip(". ") for fault in faults)
        ) from error
    expressions, problems = {}, []
    for name, expression in entry.fields.model_dump(exclude_none=True).items():
        try:
            expressions[name] = _jmespath().compile(expression)
        except _jmespath().exceptions.JMESPathError as error:
            problems.append(f"{path}: fields.{name}: not JMESPath: {' '.join(str(error).split())}")
    if problems:
        raise ConfigError("\n".join(problems))
    return Mapping(entry.metric.casefold() if entry.metric else None, entry.request, expressions)


def _jmespath() -> Any:
    import jmespath

    return jmespath
