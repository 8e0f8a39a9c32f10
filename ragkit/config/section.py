"""What all sections of a configuration have in common."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Refuses unknown keys and values of another type; never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def refuse(self, condition: str, *keys: str) -> None:
        """Raises `ValueError` when one of `keys` says something though it counts only with `condition`."""
        idle = [key for key in keys if getattr(self, key) != type(self).model_fields[key].default]
        if idle:
            raise ValueError(f"{' and '.join(idle)} would have no effect: only with {condition}")


def by_strategy(union: Any) -> dict[str, type[Section]]:
    """The sections of an annotated union by the name of their strategy."""
    members = get_args(get_args(union)[0])
    return {get_args(member.model_fields["strategy"].annotation)[0]: member for member in members}
