"""What is done before anything of Jupyter is imported, and where kernels have their sockets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ragkit.errors import FileError

_GRAMMAR = "rfc3987_syntax"
_LONGEST = 103
"""Bytes of a socket's path: macOS has no more, Linux four more."""


def import_jsonschema() -> None:
    """Import jsonschema without its check of the formats `iri` and `iri-reference`.

    For it jsonschema imports a package that compiles a grammar while it is imported, in two seconds, which every
    process with nbformat, and so papermill, nbclient and nbconvert, would wait for. Schemas of notebooks have no such format.
    Where jsonschema or that package is imported already, nothing changes.
    """
    hidden = _GRAMMAR not in sys.modules
    if hidden:
        sys.modules[_GRAMMAR] = None  # type: ignore[assignment]  # importing it is an ImportError, which is expected
    try:
        import jsonschema  # noqa: F401
    finally:
        if hidden:
            del sys.modules[_GRAMMAR]


def sockets(folder: Path) -> dict[str, str]:
    """The settings of a kernel manager for sockets in `folder`, which is for one kernel only.

    By TCP, which is all that Windows has, two kernels can get one port. Raises `FileError` when the folder's path is too
    long for sockets in it.
    """
    if sys.platform == "win32":
        return {}
    begin = folder / "k"  # they are called k-1 to k-5
    if len(os.fsencode(begin)) + 2 > _LONGEST:
        raise FileError(f"{folder}: too long a path for a kernel's sockets: set TMPDIR to a folder with a shorter one")
    return {"transport": "ipc", "ip": str(begin)}
