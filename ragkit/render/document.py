"""A `.qmd` document as a notebook, with what its front matter and cell options say.

jupytext and PyYAML are imported here and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
import yaml

from ragkit.errors import FileError
from ragkit.files import read_text

_OPTION = re.compile(r"^#\| ?(.*)$")
_DEFAULTS: dict[str, Any] = {"echo": True, "eval": True, "include": True, "output": True}
OPTIONS = "ragkit"
"""The key of a code cell's metadata that has its options."""


@dataclass(frozen=True, slots=True)
class Document:
    """`notebook` is nbformat's; a code cell's options are in its metadata, each with a value."""

    title: str
    subtitle: str
    lang: str
    kernel: str
    toc: bool
    notebook: Any


def read_document(path: Path) -> Document:
    """Read a `.qmd` file. Raises `FileError` when it isn't UTF-8, or its front matter or a cell's options aren't YAML."""
    text = read_text(path)
    notebook = jupytext.reads(text, fmt="Rmd")
    front: dict[str, Any] = {}
    if notebook.cells and notebook.cells[0].cell_type == "raw":
        front = _yaml(notebook.cells.pop(0).source.strip().strip("-"), f"{path}: front matter")
    execute = front.get("execute")
    defaults = _DEFAULTS | (execute if isinstance(execute, dict) else {})
    for number, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), start=1):
        cell.metadata[OPTIONS] = _take_options(cell, defaults, f"{path}: code cell {number}") | {"number": number}
    return Document(
        title=str(front.get("title", path.stem)),
        subtitle=str(front.get("subtitle", "")),
        lang=str(front.get("lang", "en")),
        kernel=_kernel(front.get("jupyter")),
        toc=bool(front.get("toc", True)),
        notebook=notebook,
    )


def name_of(cell: Any) -> str:
    """How messages name a code cell: by its label, else by its number."""
    options = cell.metadata[OPTIONS]
    return f"cell {options['label']!r}" if options.get("label") else f"code cell {options['number']}"


def _take_options(cell: Any, defaults: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The `#|` lines that open a cell's source, which loses them."""
    lines = cell.source.split("\n")
    options = []
    while lines and (match := _OPTION.match(lines[0])):
        options.append(match[1])
        lines.pop(0)
    cell.source = "\n".join(lines)
    return {**defaults, **_yaml("\n".join(options), where)}


def _yaml(text: str, where: str) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise FileError(f"{where}: not YAML: {' '.join(str(error).split())}") from error
    if found is not None and not isinstance(found, dict):
        raise FileError(f"{where}: must be `key: value` lines, found {text.strip()[:60]!r}")
    return found or {}


def _kernel(jupyter: Any) -> str:
    if isinstance(jupyter, dict):
        return str(jupyter.get("kernelspec", {}).get("name", "python3"))
    return str(jupyter or "python3")
