"""`eval/sweeps/*.toml`: what a sweep varies, read strictly and expanded before anything runs."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ragkit.comparison.policy import told
from ragkit.config import DEFAULT_PATH, Configuration, load
from ragkit.errors import ConfigError
from ragkit.files import read_toml

ASK_BEYOND = 64
"""Configurations beyond which somebody is asked."""
_FIXED = {"name": "each gets its own", "dataset": "all are asked the same", "evaluation": "all are scored the same way"}
_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=50)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Variant(_Strict):
    name: _Name
    set: dict[str, Any] = {}


class _File(_Strict):
    name: _Name
    base: str = DEFAULT_PATH.as_posix()
    notebook: str = "notebooks/evaluate.ipynb"
    allow_two: bool = False
    grid: dict[str, Any] = {}
    variants: list[_Variant] = []


@dataclass(frozen=True, slots=True)
class Variant:
    """One configuration of a sweep; `overrides` are what `ragkit eval --set` takes to make it of the base."""

    label: str
    settings: Configuration
    overrides: tuple[str, ...]

    @property
    def config_id(self) -> str:
        return self.settings.config_id


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep, expanded. `variables` are the entries (grid) or sections (variants) that vary, mostly one."""

    name: str
    base: Path
    baseline: Configuration
    notebook: Path
    variables: tuple[str, ...]
    variants: tuple[Variant, ...]


def read_sweep(path: Path, ask: Callable[[int], None]) -> Sweep:
    """Read and expand a sweep; `ask` is called with the number of configurations where it is beyond 64.

    Raises `ConfigError` with what is wrong: not TOML, unknown keys, values of a wrong type, nothing that varies, more
    variables than were asked for, configurations that are wrong, that can't be compared, or that are there twice;
    `FileError` when a file can't be read; what `ask` raises.
    """
    try:
        file = _File.model_validate(read_toml(path))
    except ValidationError as error:
        raise ConfigError("\n".join(f"{path}: {line}" for line in told(error))) from error
    if bool(file.grid) == bool(file.variants):
        both = "has both [grid] and [[variants]]" if file.grid else "nothing varies"
        raise ConfigError(f"{path}: {both}: write either [grid] or [[variants]]")
    grid = {key: _values(path, key, values) for key, values in _flat(file.grid)}
    sets = [(variant.name, dict(_flat(variant.set))) for variant in file.variants]
    variables = tuple(grid) or _varied([entries for _, entries in sets])
    _check_variables(path, file, variables)
    count = math.prod(map(len, grid.values())) if grid else len(sets)
    if count > ASK_BEYOND:
        ask(count)
    baseline = load(Path(file.base))
    if baseline.dataset.split != "all":
        raise ConfigError(f"{file.base}: dataset.split is {baseline.dataset.split!r}; a sweep needs dev and test: all")
    variants = _expanded(path, file, _product(grid) if grid else sets)
    _check_distinct(path, variants)
    _check_comparable(path, baseline, variants)
    return Sweep(file.name, Path(file.base), baseline, Path(file.notebook), variables, tuple(variants))


def _flat(entries: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Any]]:
    """`chunking.chunk_size`, whether it was written as a table or as a dotted key."""
    for key, value in entries.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{at}{key}.")
        else:
            yield at + key, value


def _values(path: Path, key: str, values: Any) -> list[Any]:
    if not isinstance(values, list) or not values:
        raise ConfigError(f"{path}: grid.{key}: must be a list of the values to try, found {values!r}")
    return values


def _varied(sets: list[dict[str, Any]]) -> tuple[str, ...]:
    """The one entry that all variants set, else the sections that they touch."""
    entries = {key for each in sets for key in each}
    return tuple(sorted(entries if len(entries) == 1 else {key.partition(".")[0] for key in entries}))


def _check_variables(path: Path, file: _File, variables: tuple[str, ...]) -> None:
    for variable in variables:
        section = variable.partition(".")[0]
        if section in _FIXED:
            raise ConfigError(f"{path}: {variable} can't vary: {_FIXED[section]}")
    shown = ", ".join(variables)
    if not variables:
        raise ConfigError(f"{path}: no variant sets anything")
    if len(variables) > 2:
        raise ConfigError(
            f"{path}: {len(variables)} variables ({shown}): which one did it could not be told; at most 2"
        )
    if len(variables) == 2 and not file.allow_two:
        raise ConfigError(
            f"{path}: two variables ({shown}): which one did it can't be told. One sweep for each, or allow_two = true"
        )


def _product(grid: Mapping[str, list[Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for values in itertools.product(*grid.values()):
        words = [f"{key.rpartition('.')[2]}-{_text(value)}" for key, value in zip(grid, values, strict=True)]
        label = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(words))[:50]
        yield label, dict(zip(grid, values, strict=True))


def _expanded(path: Path, file: _File, sets: Any) -> list[Variant]:
    variants, problems = [], []
    for label, entries in sets:
        overrides = [f"{key}={_toml(path, key, value)}" for key, value in entries.items()]
        overrides.append(f'name="{file.name}-{label}"')
        try:
            variants.append(Variant(label, load(Path(file.base), overrides), tuple(overrides)))
        except ConfigError as error:
            problems += [f"{path}: {label}: {line}" for line in str(error).splitlines()]
    if problems:
        raise ConfigError("\n".join(problems))
    return variants


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _toml(path: Path, key: str, value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)  # TOML writes strings, numbers, booleans and lists as JSON does
    except TypeError as error:
        raise ConfigError(f"{path}: {key}: no entry of a configuration is of this type, found {value!r}") from error


def _check_distinct(path: Path, variants: list[Variant]) -> None:
    problems, labels, ids = [], set(), dict[str, str]()
    for variant in variants:
        if variant.label in labels:
            problems.append(f"{path}: {variant.label}: is there twice; name them apart")
        elif (first := ids.setdefault(variant.config_id, variant.label)) != variant.label:
            problems.append(f"{path}: {variant.label}: is the same configuration as {first}")
        labels.add(variant.label)
    if problems:
        raise ConfigError("\n".join(problems))


def _check_comparable(path: Path, baseline: Configuration, variants: list[Variant]) -> None:
    for variant in variants:
        if variant.settings.model.source != baseline.model.source:
            raise ConfigError(f"{path}: {variant.label}: results of two model sources (model.source) never compare")
