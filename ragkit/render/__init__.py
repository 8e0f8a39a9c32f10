"""Documents (`.qmd`) to pages: by Quarto where there is one, else by Jupyter's own tools.

`document` reads a document's text and options, `execution` runs its cells, `export` makes the page.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from ragkit.errors import FileError, RagkitError, UsageError
from ragkit.files import write_atomic
from ragkit.render.document import read_document
from ragkit.render.execution import CellFailed, execute
from ragkit.render.export import page

Engine = Literal["auto", "quarto", "jupyter"]
PROJECT = "_quarto.yml"
SITE = Path("docs/_site")
"""Where pages go, seen from the project's folder; the same as `output-dir` there."""


def find_documents(root: Path) -> list[Path]:
    """The documents of the project in the folder `root`. Raises `UsageError` when there are none."""
    found = sorted(path for path in (root / "docs").rglob("*.qmd") if not any(p.startswith("_") for p in path.parts))
    if not found:
        raise UsageError(f"{root / 'docs'}: no .qmd document; name one, or run this in the project's folder")
    return found


def render(documents: Sequence[Path], engine: Engine, out: Path | None, notice: Callable[[str], None]) -> list[Path]:
    """Render each document to one HTML file; the paths of the pages.

    A page goes to `out` (default: the project's docs/_site; beside a document outside of any project), at the
    document's place in its project. Raises `UsageError` for a document that isn't one or an engine that isn't
    there, `FileError` for one that can't be read, `RagkitError` when a cell fails or there is no kernel.
    """
    for path in documents:
        if path.suffix != ".qmd":
            raise UsageError(f"{path}: not a .qmd document")
        if not path.is_file():
            raise FileError(f"{path}: cannot be read: no such file")
    quarto = None if engine == "jupyter" else shutil.which("quarto")
    if engine == "quarto" and quarto is None:
        raise UsageError("quarto is not on the PATH: install it (quarto.org), or render with --engine jupyter")
    pages = []
    for path in documents:
        target = _target(path, out)
        if quarto is None:
            _by_jupyter(path, target)
        else:
            _by_quarto(quarto, path, out)
        pages.append(target)
    if quarto is None:
        notice("rendered without Quarto, which would add navigation and search: quarto.org")
    return pages


def _target(path: Path, out: Path | None) -> Path:
    root = _project(path)
    if root is None:
        return (out or path.parent) / f"{path.stem}.html"
    place = path.resolve().relative_to(root).with_suffix(".html")
    return (_relative(root / SITE) if out is None else out) / place


def _project(path: Path) -> Path | None:
    return next((folder for folder in path.resolve().parents if (folder / PROJECT).is_file()), None)


def _relative(path: Path) -> Path:
    """As seen from here, where that is shorter to read."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _by_jupyter(path: Path, target: Path) -> None:
    document, folder = read_document(path), path.resolve().parent
    try:
        execute(document, folder)
    except CellFailed as error:
        kept = target.with_suffix(".failed.html")
        write_atomic(kept, page(document, folder))
        raise RagkitError(f"{path}: {error}; what was executed is in {kept}") from error
    except RagkitError as error:
        raise type(error)(f"{path}: {error}") from error
    write_atomic(target, page(document, folder))
    target.with_suffix(".failed.html").unlink(missing_ok=True)


def _by_quarto(quarto: str, path: Path, out: Path | None) -> None:
    """Let Quarto run this Python's kernel; what it says goes to stderr."""
    command = [quarto, "render", str(path), *([] if out is None else ["--output-dir", str(out.resolve())])]
    environment = {"QUARTO_PYTHON": sys.executable, **os.environ}
    done = subprocess.run(command, env=environment, stdout=sys.stderr, check=False)  # noqa: S603 - fixed words, paths
    if done.returncode:
        raise RagkitError(f"{path}: quarto ended with exit code {done.returncode}; its own message stands above")
