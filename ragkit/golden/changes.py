"""Two reports of the same cases: which cases moved up, which down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragkit.errors import BaselineError
from ragkit.golden.levels import LEVELS
from ragkit.golden.replay import SCHEMA


@dataclass(frozen=True, slots=True)
class Change:
    """A case whose level differs; `None` where a report doesn't have the case."""

    case: str
    old: str | None
    new: str | None

    @property
    def fell(self) -> bool:
        """Lower than before, or gone: a case that is no longer asked can't be told from a hidden fall."""
        return self.old is not None and (self.new is None or LEVELS.index(self.new) > LEVELS.index(self.old))


def compare(old: Mapping[str, Any], new: Mapping[str, Any], origin: str) -> list[Change]:
    """Every case whose level changed, in the order of the new report, then the gone ones.

    `origin` names the old report in messages. Raises `BaselineError` when it is no golden report or was
    made with another k or coverage threshold.
    """
    if not isinstance(old, dict) or old.get("schema") != SCHEMA:
        raise BaselineError(f"{origin}: not a golden report of schema {SCHEMA}: make one with `ragkit golden --out`")
    for key in ("k", "min_coverage"):
        if old.get(key) != new[key]:
            raise BaselineError(f"{origin}: made with {key} = {old.get(key)}, this one with {new[key]}: not comparable")
    before, after = _levels(old, origin), _levels(new, "this report")
    names = [*after, *(name for name in before if name not in after)]
    changes = [Change(name, before.get(name), after.get(name)) for name in names]
    return [change for change in changes if change.old != change.new]


def _levels(report: Mapping[str, Any], origin: str) -> dict[str, str]:
    try:
        levels = {entry["caseId"]: entry["level"] for entry in report["cases"]}
    except (KeyError, TypeError) as error:
        raise BaselineError(f"{origin}: its cases can't be read: make it again with `ragkit golden --out`") from error
    if strange := sorted({str(level) for level in levels.values()} - set(LEVELS)):
        raise BaselineError(f"{origin}: unknown level {strange[0]}: known: {', '.join(LEVELS)}")
    return levels
