"""A Dask cluster in place of processes; distributed is imported here and nowhere else (extra `cluster`)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from ragkit.errors import UsageError


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """The cluster whose scheduler is at `address` (tcp://host:8786). Its workers share this folder and this Python.

    Raises `UsageError` without the extra, and when there is no scheduler.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise UsageError("--scheduler takes an extra: pip install 'ragkit[cluster]'") from error
    try:
        client = Client(address, timeout="5s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"--scheduler {address}: no Dask scheduler there: {error}") from error
    # pure: the same task twice is two tasks. Closing the executor cancels what still waits.
    with client, client.get_executor(pure=False) as executor:
        yield executor
