"""Whether the files of a frozen baseline belong together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ragkit.errors import BaselineError, FileError
from ragkit.files import alone, read_json, sha256_file

SCHEMA = "ragkit-baseline-1"
_KEYS = ("schema", "commit", "metrics_sha256", "fingerprint", "history")


def read_meta(path: Path) -> dict[str, Any]:
    """`baseline-NAME.meta.json`. Raises `FileError` when it can't be read or lacks a key, `BaselineError` when another
    version of ragkit wrote its form.
    """
    meta = read_json(path)
    missing = [key for key in _KEYS if not isinstance(meta, dict) or key not in meta]
    if missing:
        raise FileError(f"{path}: {', '.join(missing)} missing: restore it from git, or freeze again")
    if meta["schema"] != SCHEMA:
        raise BaselineError(f"{path}: written in the form {meta['schema']!r}, this ragkit reads {SCHEMA!r}")
    return dict(meta)


def stopped(metrics: Path, meta: dict[str, Any]) -> bool:
    """Whether a freeze was stopped between its files: it writes `metrics` last, so this still is the one before."""
    history = meta["history"]
    return bool(history) and sha256_file(metrics) == history[-1]["metrics_sha256"] != meta["metrics_sha256"]


def check_whole(metrics: Path) -> None:
    """Raise `BaselineError` when a baseline's `metrics` are not those that the file beside them was written for.

    A metrics.json that has no such file beside it, because it is a run's, is whole. Raises as `read_meta`.
    """
    beside = metrics.with_suffix(".meta.json")
    if not beside.is_file():
        return
    with alone(metrics.parent):  # a freeze that is under way is not stopped
        meta, found = read_meta(beside), sha256_file(metrics)
        was_stopped = stopped(metrics, meta)
    if was_stopped:
        raise BaselineError(
            f"{metrics}: a freeze was stopped before it wrote this file: run it again, or restore the files beside it"
            f" from git (git restore {metrics.with_suffix('').as_posix()}.*)"
        )
    if found != meta["metrics_sha256"]:
        raise BaselineError(f"{metrics}: is not the file that was frozen (its hash differs): restore it from git")
