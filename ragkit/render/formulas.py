"""Formulas of Markdown as MathML, which a browser shows without a script; latex2mathml is imported here alone."""

from __future__ import annotations

import re

from latex2mathml import exceptions
from latex2mathml.converter import convert

from ragkit.errors import FileError

_ERRORS = tuple(each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception))
_PARTS = re.compile(
    r"(?P<code>^```.*?^```\s*$|^(?: {4}|\t).*?$|`+[^`\n]+`+|\\\$)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|\$(?=\S)(?P<inline>[^$\n]+?)(?<=\S)\$(?!\d)",
    re.DOTALL | re.MULTILINE,
)
"""Code and escaped dollars stay as they are; `$5 to $10` is no formula, as in pandoc."""


def with_mathml(markdown: str) -> str:
    """Markdown with its `$...$` and `$$...$$` replaced. Raises `FileError` for a formula that isn't TeX."""
    return _PARTS.sub(_converted, markdown)


def _converted(part: re.Match[str]) -> str:
    if part["code"]:
        return part[0]
    display = "block" if part["display"] else "inline"
    tex = part["display"] or part["inline"]
    try:
        return convert(tex, display=display)
    except _ERRORS as error:
        raise FileError(f"the formula ${tex}$ can't be read: {type(error).__name__}") from error
