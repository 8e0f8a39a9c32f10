"""An empty evaluation folder with a worked example, for one's own documents."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from ragkit.dataset.schema import write_schemas
from ragkit.errors import UsageError
from ragkit.files import replacing_directory, write_atomic


def lay_out(folder: Path) -> list[str]:
    """Make `folder` with the worked example in it; the files written, relative to it, sorted.

    Paths in the example's configuration start with `folder` as it was given. Raises `UsageError` when
    the folder has anything in it already, `FileError` when it can't be written.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"{folder}: exists already; name a folder that is new or empty")
    with replacing_directory(folder) as staging:
        for name, source in _files(resources.files("ragkit.dataset") / "starter", PurePosixPath()):
            text = source.read_text(encoding="utf-8").replace("@FOLDER@", folder.as_posix())
            write_atomic(staging / name, text)
        write_schemas(staging)
        return sorted(path.relative_to(staging).as_posix() for path in staging.rglob("*") if path.is_file())


def _files(folder: Traversable, at: PurePosixPath) -> list[tuple[PurePosixPath, Traversable]]:
    found = []
    for entry in folder.iterdir():
        found += _files(entry, at / entry.name) if entry.is_dir() else [(at / entry.name, entry)]
    return found
