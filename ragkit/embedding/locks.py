"""One process at a time: a lock file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ragkit.errors import FileError


@contextmanager
def locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock at `path`; `waiting` is called once if somebody else has it.

    The system drops the lock when its holder dies, however it dies. Raises `FileError` when the lock
    file can't be made.
    """
    import filelock

    lock = filelock.FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            waiting()
            lock.acquire()
    except (OSError, NotImplementedError) as error:
        raise FileError(
            f"{path}: cannot be locked: {error}. Make the folder writable, or name another with RAGKIT_CACHE"
        ) from error
    try:
        yield
    finally:
        lock.release()
