"""Reading a configuration: a TOML file, overrides on it, and what is wrong with them."""

from __future__ import annotations

import copy
import difflib
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragkit.config.configuration import STRATEGIES, Configuration
from ragkit.errors import ConfigError
from ragkit.files import read_toml

DEFAULT_PATH = Path("eval/configs/v1.4.toml")


def load(path: Path, overrides: Sequence[str] = ()) -> Configuration:
    """Read a configuration file and apply `section.key=value` overrides (values in TOML syntax).

    Raises `ConfigError` with every problem: not TOML, unknown key (with near matches), wrong type or
    value, malformed override; `FileError` when the file can't be read.
    """
    return parse(read_toml(path), str(path), overrides)


def parse(entries: dict[str, Any], origin: str, overrides: Sequence[str] = ()) -> Configuration:
    """A configuration from already parsed TOML; `origin` names it in messages."""
    written, entries = entries, copy.deepcopy(entries)
    for override in overrides:
        _apply(entries, override)
    _forget_replaced_strategies(written, entries)
    try:
        return Configuration.model_validate(entries)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(origin, problem) for problem in error.errors())) from error


def external(settings: Configuration, source: str, url: str | None, mapping: Path | None) -> Configuration:
    """The configuration with somebody else's retriever in place of its own, and named for it."""
    retrieval = {"strategy": "external", "source": source, "url": url, "mapping": mapping and str(mapping)}
    depths = settings.retrieval.model_dump(include={"top_k", "candidate_k"})
    name = re.sub(r"[^A-Za-z0-9.-]", "-", source).strip("-.") or "external"
    return parse({**settings.model_dump(mode="json"), "name": name, "retrieval": retrieval | depths}, "--retriever")


def _apply(entries: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    path = key.strip().split(".")
    if not equals or not all(path):
        raise ConfigError(f"--set {override}: must be section.key=value")
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except (ValueError, RecursionError):  # not TOML
        parsed = value.strip()  # a bare word, as people type it in a shell
    target = entries
    for part in path[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise ConfigError(f"--set {override}: {part} is not a section")
    target[path[-1]] = parsed


def _forget_replaced_strategies(written: dict[str, Any], entries: dict[str, Any]) -> None:
    """Where overrides chose another strategy, what the file says for the old one alone goes with it."""
    for name, strategies in STRATEGIES.items():
        before, after = written.get(name), entries.get(name)
        if not isinstance(before, dict) or not isinstance(after, dict):
            continue
        old, new = (strategies.get(str(section.get("strategy"))) for section in (before, after))
        if old and new and old is not new:
            for key in old.model_fields.keys() - new.model_fields.keys():
                if key in before and after.get(key) == before[key]:
                    del after[key]


def _explain(origin: str, problem: Any) -> str:
    kind, path, value = problem["type"], list(problem["loc"]), problem["input"]
    strategies = STRATEGIES.get(path[0] if path else "", {})
    strategy: Any = path.pop(1) if len(path) > 1 and path[1] in strategies else None  # the file doesn't nest it
    location = f"{origin}: {'.'.join(map(str, path)) or '(file)'}"
    if kind == "extra_forbidden":
        key = path.pop()
        owners = [f'"{name}"' for name, section in strategies.items() if key in section.model_fields]
        if owners:
            known = strategies[strategy].model_fields
            return f'{location}: goes with strategy {" or ".join(owners)}, not "{strategy}"; known: {_list(known)}'
        return f"{location}: unknown key; {_hint(key, _known_keys(path, strategy))}"
    if kind == "union_tag_invalid":
        return f"{location}.strategy: unknown strategy; {_hint(problem['ctx']['tag'], strategies)}"
    if kind == "union_tag_not_found":
        return f"{location}.strategy: missing; known: {_list(strategies)}"
    message = problem["msg"].removeprefix("Value error, ")
    if kind == "literal_error" and (near := _near(value, re.findall("'([^']*)'", problem["ctx"]["expected"]))):
        message += f"; did you mean {near}?"
    return f"{location}: {message}, found {value!r}"


def _known_keys(path: Sequence[Any], strategy: Any) -> Iterable[str]:
    section: Any = Configuration
    for part in path:
        section = STRATEGIES[part][strategy] if part in STRATEGIES else section.model_fields[part].annotation
    return list(section.model_fields)


def _hint(found: Any, known: Iterable[str]) -> str:
    near = _near(found, known)
    return (f"did you mean {near}? " if near else "") + f"known: {_list(known)}"


def _near(found: Any, known: Iterable[str]) -> str:
    return " or ".join(difflib.get_close_matches(str(found), known, n=2))


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
