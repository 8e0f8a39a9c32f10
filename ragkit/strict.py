"""JSON read without the leniencies of `json.loads`, and pydantic's errors told in our words."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # whoever has a model has loaded pydantic; who only parses needn't
    from pydantic import BaseModel, ValidationError

_CUT_OFF = "restore it from version control, or finish it: it is cut off"
SHOWN = 60
"""Characters of an offending value that a message shows."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem that doesn't know its file yet; `line` is within the text that was parsed, 0 for all of it."""

    rule: str
    found: str
    remedy: str = ""
    line: int = 0


def show(value: Any) -> str:
    """`value` as JSON would write it, cut short, never with characters a terminal can't print."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "something nested too deeply"
    text = "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text[:SHOWN])
    return text + "..." if len(text) >= SHOWN else text


def parse(text: str) -> tuple[Any, list[Fault]]:
    """The value and what is wrong with it; the value is `None` when `text` isn't JSON at all.

    Beyond `json.loads`: duplicate keys and lone surrogates are faults (a surrogate becomes `?`), NaN and
    infinities aren't JSON, too deep a nesting and too long a number are faults, not crashes.
    """
    faults: list[Fault] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        seen: set[str] = set()
        for key, _ in items:
            if key in seen:
                faults.append(Fault("duplicate-key", f"{show(key)} stands twice in one object", "keep one of them"))
            seen.add(key)
        return result

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=_no_constant)
        if "\\u" in text:
            value = _without_surrogates(value, faults)
    except json.JSONDecodeError as error:
        return None, [_syntax(text, error)]
    except RecursionError:
        return None, [Fault("too-deep", "nested too deeply to be read", "a question nests two levels")]
    except ValueError as error:
        return None, [Fault("not-json", str(error))]
    return value, faults


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _without_surrogates(value: Any, faults: list[Fault]) -> Any:
    written = json.dumps(value, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        faults.append(Fault("lone-surrogate", f"{half} is half a character", "write the character itself"))
        return json.loads(written.encode(errors="replace"))
    return value


def _syntax(text: str, error: json.JSONDecodeError) -> Fault:
    before, after = text[: error.pos].rstrip(), text[error.pos :].lstrip()
    if re.match(r",\s*[}\]]", after) or (before.endswith(",") and after[:1] in ("}", "]")):
        return Fault("not-json", f"a trailing comma near column {error.colno}", "remove it", error.lineno)
    reason = error.msg[:1].lower() + error.msg[1:]
    if not after or error.msg.startswith("Unterminated"):
        return Fault("not-json", f"column {error.colno}: {reason}, and nothing more", _CUT_OFF, error.lineno)
    found = f"column {error.colno}: {reason}, found {show(text[error.pos :][:20])}"
    return Fault("not-json", found, line=error.lineno)


_KINDS = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "list_type": "a list",
    "model_type": "an object",
    "dict_type": "an object",
}


def explain(model: type[BaseModel], error: ValidationError) -> list[Fault]:
    """One fault for each of pydantic's errors."""
    return [_explain(model, problem) for problem in error.errors(include_url=False)]


def _explain(model: type[BaseModel], problem: Any) -> Fault:
    name, value, kind = _path(problem["loc"]), problem["input"], problem["type"]
    if kind in _KINDS:
        quoted = isinstance(value, int | float) and not isinstance(value, bool) and kind == "string_type"
        remedy = f'write "{value}"' if quoted else ""
        return Fault("wrong-type", f"{name} must be {_KINDS[kind]}, found {show(value)}", remedy)
    told: dict[str, Callable[[], Fault]] = {
        "missing": lambda: Fault("missing-field", f"{name} is missing"),
        "extra_forbidden": lambda: _unknown(model, problem["loc"]),
        "string_too_long": lambda: Fault(
            "too-long", f"{name} has {len(value)} characters, at most {problem['ctx']['max_length']} are allowed"
        ),
        "string_too_short": lambda: Fault("empty", f"{name} is empty"),
        "greater_than_equal": lambda: Fault(
            "out-of-range", f"{name} must be at least {problem['ctx']['ge']}, found {show(value)}"
        ),
        "less_than_equal": lambda: Fault(
            "out-of-range", f"{name} must be at most {problem['ctx']['le']}, found {show(value)}"
        ),
    }
    if kind in told:
        return told[kind]()
    return Fault(kind.replace("_", "-"), f"{name} {show(value)} {problem['msg']}")


def _path(location: Sequence[str | int]) -> str:
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return f"`{path}`" if path else "it"


def _unknown(model: type[BaseModel], location: Sequence[str | int]) -> Fault:
    known = _fields(model, location[:-1])
    by_case = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(str(location[-1]).casefold(), by_case, n=1, cutoff=0.5)
    remedy = f"did you mean `{by_case[near[0]]}`?" if near else f"known: {', '.join(known)}"
    return Fault("unknown-field", f"{_path(location)} is not a field", remedy)


def _fields(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    here = schema = _schema(model)
    for part in location:
        here = here["items"] if isinstance(part, int) else here["properties"][part]
        here = next((option for option in here.get("anyOf", ()) if "$ref" in option), here)  # a section or none
        here = schema["$defs"][here["$ref"].rpartition("/")[2]] if "$ref" in here else here
    return list(here["properties"])


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()
