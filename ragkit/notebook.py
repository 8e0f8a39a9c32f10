"""What the notebooks' first cell does: refuse parameters that nobody declared, and find the project's folder.

papermill only warns about a parameter that it doesn't know, and goes on with the default.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from ragkit.errors import ConfigError, FileError

_LITERALS = (str, int, float, bool, list, dict, tuple, type(None))
_SHELL = frozenset({"In", "Out"})


class Parameters(BaseModel):
    """The parameters of one notebook: its `parameters` cell has the same names."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @classmethod
    def check(cls, variables: Mapping[str, Any]) -> Self:
        """The parameters among a notebook's `globals()`: variables that hold plain values, as papermill injects them.

        Raises `ConfigError` naming every unknown one, with near matches, and every one of a wrong type.
        """
        given = {
            name: value
            for name, value in variables.items()
            if isinstance(value, _LITERALS) and not name.startswith("_") and name not in _SHELL
        }
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise ConfigError("\n".join(map(cls._explain, error.errors(include_url=False)))) from error

    @classmethod
    def _explain(cls, problem: Any) -> str:
        name = ".".join(map(str, problem["loc"]))
        if problem["type"] == "extra_forbidden":
            near = difflib.get_close_matches(name, cls.model_fields, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(cls.model_fields)}"
            return f"parameter {name}: unknown; {hint}"
        return f"parameter {name}: {problem['msg']}, found {problem['input']!r}"


class EvaluateParameters(Parameters):
    """notebooks/evaluate.ipynb: a configuration, `section.key=value` overrides, the folder for the results."""

    config: str
    overrides: list[str]
    out: str | None


class ExploreParameters(Parameters):
    """notebooks/explore.ipynb: a run's folder, which questions are listed, the one to look at, its data."""

    run: str
    split: Literal["all", "dev", "test"]
    question: str | None
    corpus: str
    questions: str


class CompareParameters(Parameters):
    """notebooks/compare.ipynb: two metrics.json, which questions, the policy."""

    baseline: str
    candidate: str
    split: Literal["all", "dev", "test"]
    policy: str


def enter_project(needed: str) -> Path:
    """Make the folder that `needed` is relative to the working directory: this one, or the nearest one above.

    Jupyter starts a notebook in the notebook's own folder, papermill in that of the shell.
    Raises `FileError` when no folder has it.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / needed).exists():
            os.chdir(folder)
            return folder
    raise FileError(f"{needed}: cannot be read: not in {here} or any folder above it")
