"""What is done before anything of Jupyter is imported."""

from __future__ import annotations

import sys

_GRAMMAR = "rfc3987_syntax"


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
