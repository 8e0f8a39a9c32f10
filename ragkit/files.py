"""Reading and writing files so that nothing is ever half there.

A write goes to a temporary file beside the target and is renamed over it; a folder is filled under a
temporary name and renamed into place. What a killed process left of that is removed, or put back, by the
next one that writes there: the system's locks on folders, which end with their holder, tell who is alive.
Where there are none (Windows, some network file systems), leftovers stay. JSON that is compared is written
in one canonical form.
"""

from __future__ import annotations

import glob
import hashlib
import json
import math
import os
import secrets
import shutil
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from json.encoder import encode_basestring
from pathlib import Path
from typing import Any

from ragkit.errors import ConfigError, FileError

if sys.platform != "win32":
    import fcntl

DECIMALS = 6
"""Floats in compared files are rounded to this many decimals."""
_TOKEN = "?" * 8
"""What `_fresh` puts into a name, as a pattern."""
_MARK = ".ragkit"
"""A file that says whose a temporary folder is, and holds the lock of who uses it."""
_HALFWAY = "ragkit-halfway-"
"""How a temporary folder's name begins while it is made or removed."""
_held = threading.local()


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
    """Parsed JSON. Raises `FileError` naming line and column when it isn't JSON, and what to do."""
    remedy = "restore it from version control, or make it again"
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise FileError(f"{path}:{error.lineno}:{error.colno}: not JSON: {error.msg}; {remedy}") from error
    except RecursionError as error:
        raise FileError(f"{path}: JSON nested too deeply; {remedy}") from error
    except ValueError as error:  # a number of thousands of digits
        raise FileError(f"{path}: not JSON: {error}; {remedy}") from error


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
    return _indented(value, "\n") + "\n"


def _indented(value: Any, newline: str) -> str:
    """What `json.dumps` writes, but without a rounded copy and a list of all pieces."""
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__repr__(round(value, DECIMALS) + 0.0)
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__repr__(value)
    inner = newline + "  "
    if isinstance(value, dict) and value:
        entries = [f"{_name(key)}: {_indented(value[key], inner)}" for key in sorted(value)]
        return f"{{{inner}{f',{inner}'.join(entries)}{newline}}}"
    if isinstance(value, list | tuple) and value:
        return f"[{inner}{f',{inner}'.join([_indented(item, inner) for item in value])}{newline}]"
    return json.dumps(value, allow_nan=False)


def _name(key: Any) -> str:
    return encode_basestring(key if isinstance(key, str) else json.dumps(key))


def canonical_line(value: Any) -> str:
    """`canonical_json` on one line, for JSON Lines."""
    return json.dumps(_rounded(value), sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def write_atomic(path: Path, content: str | bytes) -> None:
    """Write the whole file or leave the old one. Makes the folder. Raises `FileError`."""
    write_together([(path, content)])


def write_together(files: Sequence[tuple[Path, str | bytes]]) -> None:
    """Write several files of one folder: if any can't be written, all old ones stay.

    All are on the disk under temporary names before the first takes its place, and they do so in the given
    order; so a process that is killed between two of them leaves the last one as it was. Raises `FileError`.
    """
    path = files[0][0]
    ready: list[tuple[Path, Path]] = []
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with alone(path.parent) as sure:
            try:
                for path, content in files:
                    # One name for each file, so that at most one leftover is ever beside it.
                    temporary = path.with_name(f".{path.name}.tmp") if sure else _fresh(path, "tmp")
                    ready.append((temporary, path))
                    _write(temporary, content.encode() if isinstance(content, str) else content)
                for temporary, path in ready:
                    temporary.replace(path)
            except BaseException:
                for temporary, _ in ready:
                    temporary.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from error


def _write(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    with path.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


@contextmanager
def replacing_directory(target: Path) -> Iterator[Path]:
    """A folder to fill; on success it takes the place of `target`, on failure it is gone.

    An existing `target` is moved aside first and removed last. A process killed in the instant between
    leaves none; the next one that writes it puts the old one back first. Raises `FileError`, also when
    `target` is a file.
    """
    around = hold = None
    try:
        if target.exists() and not target.is_dir():
            raise FileError(f"{target}: is a file; a folder is written here")
        target.parent.mkdir(parents=True, exist_ok=True)
        with alone(target.parent):
            tidy(target)
            around = _fresh(target, "tmp")
            staging = around / target.name
            staging.mkdir(parents=True)
            hold = _lock(around)
        yield staging
        with alone(target.parent):
            _swap(staging, target)
    except OSError as error:
        raise FileError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        if around is not None:
            shutil.rmtree(around, ignore_errors=True)
        _release(hold)


def _swap(staging: Path, target: Path) -> None:
    if not target.exists():
        staging.rename(target)
        return
    aside = _fresh(target, "old")
    aside.mkdir()
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


def tidy(target: Path) -> None:
    """Undo what killed processes left when they were replacing the folder `target`: their own folders go, the old
    `target` comes back if it stands aside. Raises `OSError`.
    """
    name = glob.escape(f".{target.name}.")
    with alone(target.parent) as sure:
        if not sure:
            return
        for aside in target.parent.glob(f"{name}{_TOKEN}.old"):  # nobody is between two renames while we are alone
            if (aside / target.name).is_dir() and not target.exists():
                (aside / target.name).rename(target)
            shutil.rmtree(aside, ignore_errors=True)
        for around in target.parent.glob(f"{name}{_TOKEN}.tmp"):
            _remove_dead(around, around)


def is_leftover(path: str) -> bool:
    """Whether a path (with `/`) is of something that was written under a temporary name."""
    return any(part.startswith(".") and part.endswith((".tmp", ".old")) for part in path.split("/"))


def _fresh(target: Path, ending: str) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(4)}.{ending}")


@contextmanager
def scratch(prefix: str) -> Iterator[Path]:
    """A temporary folder, gone afterwards. Those that killed processes left go first.

    Raises `FileError` when no temporary folder can be made; what `with` holds may raise what it likes.
    """
    with ExitStack() as stack:
        try:
            folder = _scratch(prefix, stack)
        except OSError as error:
            raise FileError(f"no temporary folder can be made: {error}: set TMPDIR to one with room") from error
        yield folder


def _scratch(prefix: str, stack: ExitStack) -> Path:
    """Whoever is killed while it makes or removes a folder leaves one whose name says so."""
    root = Path(tempfile.gettempdir())
    with alone(root) as sure:
        for mark in root.glob(f"*/{_MARK}"):
            _remove_dead(mark.parent, mark)
        if sure:  # nobody else makes one now
            for halfway in root.glob(f"{_HALFWAY}*"):
                shutil.rmtree(halfway, ignore_errors=True)
        begun = Path(tempfile.mkdtemp(prefix=_HALFWAY))
        (begun / _MARK).touch()
        hold = _lock(begun / _MARK)
        made = begun.rename(root / f"{prefix}{begun.name.removeprefix(_HALFWAY)}")
    stack.callback(_drop, made, hold)
    return made


def _drop(folder: Path, hold: int | None) -> None:
    going = folder.with_name(f"{_HALFWAY}{folder.name}")
    with suppress(OSError):  # Windows moves no folder in which a file is open
        folder = folder.rename(going)
    shutil.rmtree(folder, ignore_errors=True)
    _release(hold)


@contextmanager
def alone(folder: Path) -> Iterator[bool]:
    """Be the only one in here for this folder, among threads and processes; may be nested.

    False where the system has no such lock: then everybody is let in.
    """
    inside: set[Path] = _held.__dict__.setdefault("folders", set())
    key = folder.absolute()
    if key in inside:
        yield True
        return
    hold = _lock(folder, wait=True)
    if hold is None:
        yield False
        return
    inside.add(key)
    try:
        yield True
    finally:
        inside.discard(key)
        _release(hold)


def _remove_dead(folder: Path, locked: Path) -> None:
    """Remove a folder whose maker held a lock on `locked` while it lived."""
    hold = _lock(locked)
    if hold is not None:
        shutil.rmtree(folder, ignore_errors=True)
        _release(hold)


def _lock(path: Path, *, wait: bool = False) -> int | None:
    """A file descriptor that holds the lock on a file or folder, or `None` where it can't be had."""
    if sys.platform == "win32":
        return None
    descriptor = None
    try:
        descriptor = os.open(path, os.O_RDONLY | (0 if wait else os.O_NOFOLLOW))
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        _release(descriptor)
        return None
    return descriptor


def _release(hold: int | None) -> None:
    if hold is not None:
        with suppress(OSError):
            os.close(hold)
