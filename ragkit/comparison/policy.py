"""`eval/policy.toml`: when a change is adopted, decided before the experiments."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from ragkit.errors import ConfigError
from ragkit.files import read_toml
from ragkit.measures import MEASURES

DEFAULT_PATH = Path("eval/policy.toml")


def _measure(name: str) -> str:
    if name not in MEASURES:
        near = difflib.get_close_matches(name, MEASURES, n=1)
        raise ValueError(f"no such measure; {f'did you mean {near[0]}?' if near else ', '.join(MEASURES)}")
    return name


Measure = Annotated[str, AfterValidator(_measure)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PrimaryRule(_Section):
    """What must get better, and by how much at least; `across_chunkings` is used where [chunking] differs."""

    measure: Measure = "Recall@5"
    across_chunkings: Measure = "Recall@1000tok"
    min_difference: float = Field(0.01, ge=0, le=1)


class GuardRule(_Section):
    """What must not get worse by `margin` or more."""

    measure: Measure = "nDCG@10"
    margin: float = Field(0.02, gt=0, le=1)


class CheckRule(_Section):
    """How far a score may move on another machine."""

    score_tolerance: float = Field(0.005, ge=0, le=1)


class Policy(_Section):
    """The whole file; every entry has the protocol's value as its default."""

    alpha: float = Field(0.05, gt=0, lt=1)
    family: list[str] = Field(["chunking", "retrieval"], min_length=1)
    primary: PrimaryRule = PrimaryRule()
    guard: GuardRule = GuardRule()
    check: CheckRule = CheckRule()

    @field_validator("family")
    @classmethod
    def _distinct(cls, family: list[str]) -> list[str]:
        if len(set(family)) < len(family):
            raise ValueError("names a sweep twice")
        return family

    @property
    def level(self) -> float:
        """What p is compared with: alpha, shared among the planned sweeps (Bonferroni)."""
        return self.alpha / len(self.family)


def read_policy(path: Path) -> Policy:
    """Read a policy file. Raises `ConfigError` with every problem, `FileError` when it can't be read."""
    try:
        return Policy.model_validate(read_toml(path))
    except ValidationError as error:
        raise ConfigError("\n".join(f"{path}: {line}" for line in told(error))) from error


def told(error: ValidationError) -> list[str]:
    """One line for each problem: where, what is wrong, what stands there."""
    lines = []
    for problem in error.errors(include_url=False):
        where = ".".join(map(str, problem["loc"])) or "(file)"
        if problem["type"] == "missing":
            lines.append(f"{where}: is missing")
        elif problem["type"] == "extra_forbidden":
            lines.append(f"{where}: unknown key")
        else:
            lines.append(f"{where}: {problem['msg'].removeprefix('Value error, ')}, found {problem['input']!r:.60}")
    return lines
