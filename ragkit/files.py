"""Reading and writing files so that nothing is ever half there.

A write goes to a temporary file beside the target and is renamed over it; a folder is filled under a
temporary name and renamed into place. JSON that is compared is written in one canonical form.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from ragkit.errors import ConfigError, FileError

DECIMALS = 6
"""Floats in compared files are rounded to this many decimals."""


def sha256_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal. Raises `FileError` when it can't be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from error


def read_text(path: Path) -> str:
    """The file's text (UTF-8, a BOM dropped, newlines as they are). Raises `FileError`."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not UTF-8 at byte {error.start}: save it as UTF-8") from error
    except ValueError as error:  # a name with a null character
        raise FileError(f"{str(path)!r}: cannot be read: {error}") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Parsed TOML. Raises `ConfigError` when it isn't TOML, `FileError` when the file can't be read.

    Numbers beyond 64 bits, which TOML needn't allow, are refused: Python can't even print the longest.
    """
    try:
        value = tomllib.loads(read_text(path))
        longer = _has_longer_number(value)
    except RecursionError as error:
        raise ConfigError(f"{path}: not TOML: nested too deeply") from error
    except ValueError as error:  # TOMLDecodeError is one, so is a number of thousands of digits
        raise ConfigError(f"{path}: not TOML: {error}") from error
    if longer:
        raise ConfigError(f"{path}: not TOML: a whole number has more than 64 bits")
    return value


def _has_longer_number(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_longer_number, value.values() if isinstance(value, dict) else value))
    return isinstance(value, int) and value.bit_length() > 64


def read_json(path: Path) -> Any:
    """Parsed JSON. Raises `FileError` naming line and column when it isn't JSON."""
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise FileError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except RecursionError as error:
        raise FileError(f"{path}: JSON nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise FileError(f"{path}: not JSON: {error}") from error


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS) + 0.0  # + 0.0 turns -0.0 into 0.0
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def canonical_json(value: Any) -> str:
    """One value, one text: keys sorted, two spaces, floats rounded, UTF-8 unescaped, final newline.

    Raises `ValueError` for NaN and infinities, which JSON doesn't have.
    """
    text = StringIO()
    _indented(value, "\n", text.write)
    return text.getvalue() + "\n"


def _indented(value: Any, newline: str, write: Callable[[str], object]) -> None:
    """What `json.dumps` writes, but straight into one text: it needs a rounded copy and a list of all pieces."""
    inner, before = newline + "  ", ""
    if isinstance(value, dict) and value:
        for key in sorted(value):
            name = encode_basestring(key if isinstance(key, str) else json.dumps(key))
            write(f"{before or '{'}{inner}{name}: ")
            _indented(value[key], inner, write)
            before = ","
        write(newline + "}")
    elif isinstance(value, list | tuple) and value:
        for item in value:
            write((before or "[") + inner)
            _indented(item, inner, write)
            before = ","
        write(newline + "]")
    else:
        write(_scalar(value))


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(round(value, DECIMALS) + 0.0)
    return json.dumps(value, allow_nan=False)


def canonical_line(value: Any) -> str:
    """`canonical_json` on one line, for JSON Lines."""
    return json.dumps(_rounded(value), sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write the whole file or leave the old one. Makes the folder. Raises `FileError`."""
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o666 & ~_umask())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from error


@contextmanager
def replacing_directory(target: Path) -> Iterator[Path]:
    """A folder to fill; on success it takes the place of `target`, on failure it is gone.

    An existing `target` is moved aside first and removed last, so an interruption leaves the old folder
    or the new one, at worst for an instant none, never a mixture. Raises `FileError`, also when `target`
    is a file.
    """
    staging = None
    try:
        if target.exists() and not target.is_dir():
            raise FileError(f"{target}: is a file; a folder is written here")
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp"))
        staging.chmod(0o777 & ~_umask())
        yield staging
        _swap(staging, target)
    except OSError as error:
        raise FileError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        if staging is not None:
            shutil.rmtree(staging, ignore_errors=True)


def _swap(staging: Path, target: Path) -> None:
    if not target.exists():
        staging.rename(target)
        return
    aside = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".old"))
    try:
        target.rename(aside / target.name)
        try:
            staging.rename(target)
        except BaseException:
            (aside / target.name).rename(target)
            raise
    finally:
        if target.exists():  # else what stands aside is the only copy
            shutil.rmtree(aside, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
