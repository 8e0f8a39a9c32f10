"""The manifest of a prepared model: what is in the folder, byte for byte, and where it came from."""

from __future__ import annotations

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from ragkit.errors import FileError, ModelError
from ragkit.files import canonical_json, read_json, sha256_bytes, sha256_file, write_atomic

NAME = "manifest.json"
SCHEMA = 1
REFERENCE_WEIGHTS = "reference/model.safetensors"
FILES = {"q8": ("model.onnx", "tokenizer.model"), "float32": ("reference/",)}
"""What a run in each precision reads; a name that ends in "/" is a folder with all that is in it."""


def write(folder: Path, about: Mapping[str, Any]) -> None:
    """List every file of `folder`, beside what `about` says of the model. Raises `FileError`."""
    files = {name: {"sha256": sha256_file(path), "size": path.stat().st_size} for name, path in _present(folder)}
    content = {"schema": SCHEMA, "about": dict(about), "files": files}
    # The checksum makes damage to the manifest itself show, in whatever part of it.
    write_atomic(folder / NAME, canonical_json({**content, "checksum": _checksum(content)}))


def verify(
    folder: Path, about: Mapping[str, Any], command: str, precision: str | None = None, by_size: Container[str] = ()
) -> dict[str, str]:
    """Check the files that a precision uses (`None`: all) and give the sha256 of each by its name.

    Every byte is read, but for the files named in `by_size`. Raises `ModelError` that names the first file that is missing, too many, of
    another size or of other bytes, and `command`, the command that mends it; likewise when the manifest
    is damaged or was written for another model than `about`.
    """
    files = _read(folder, about, command)
    wanted = FILES[precision] if precision else ("",)
    present = dict(_present(folder))
    hashes: dict[str, str] = {}
    for name in sorted(files.keys() | (present.keys() - {NAME})):
        if not name.startswith(wanted):
            continue
        path = folder / name
        if name not in files:
            raise _damaged(path, "is not in the manifest", command)
        if name not in present:
            raise _damaged(path, "is missing", command)
        size, expected = files[name]["size"], files[name]["sha256"]
        if (found := path.stat().st_size) != size:
            raise _damaged(path, f"has {found} bytes, the manifest says {size}", command)
        try:
            digest = expected if name in by_size else sha256_file(path)
        except FileError as error:
            raise _damaged(path, str(error), command) from error
        if digest != expected:
            raise _damaged(path, f"has sha256 {digest}, the manifest says {expected}", command)
        hashes[name] = digest
    if not hashes:
        raise _damaged(folder / NAME, f"lists no file for precision {precision}", command)
    return hashes


def _read(folder: Path, about: Mapping[str, Any], command: str) -> dict[str, dict[str, Any]]:
    path = folder / NAME
    if not path.exists():
        raise _damaged(path, "is missing", command)
    try:
        content = read_json(path)
    except FileError as error:
        raise _damaged(path, str(error), command) from error
    if not isinstance(content, dict) or content.pop("checksum", None) != _checksum(content):
        raise _damaged(path, "does not agree with its own checksum", command)
    if content["schema"] != SCHEMA or content["about"] != dict(about):
        raise _damaged(path, "was written for another model or by another version of ragkit", command)
    files: dict[str, dict[str, Any]] = content["files"]
    return files


def _present(folder: Path) -> list[tuple[str, Path]]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted((path.relative_to(folder).as_posix(), path) for path in paths)


def _checksum(content: Mapping[str, Any]) -> str:
    return sha256_bytes(canonical_json(content).encode())


def _damaged(path: Path, what: str, command: str) -> ModelError:
    return ModelError(f"The prepared model is damaged: {path} {what}. Run: {command} --force")
