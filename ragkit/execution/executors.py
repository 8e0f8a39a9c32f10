"""Who does the work: processes on this machine. `cluster` has the other one; both are `concurrent.futures` executors."""

from __future__ import annotations

import functools
import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing.util import Finalize, get_temp_dir
from types import FrameType

from ragkit.errors import FileError
from ragkit.execution.notebook import Task, execute
from ragkit.files import scratch

FORKS = sys.platform == "linux"
"""Elsewhere a fork isn't safe (macOS) or there is none: every worker and every kernel imports for itself."""
PATIENCE = 10
"""Seconds until a worker that was told to stop and hasn't is interrupted again: what is raised in the wrong place, where a
library's object is being deleted, is lost."""
Open = Callable[[], AbstractContextManager[Executor]]
"""Opens an executor; closing it stops what still runs in it when it is closed by an exception."""


@contextmanager
def processes(workers: int) -> Iterator[Executor]:
    """`workers` processes of this machine. Leaving by an exception (Ctrl-C) stops them, their kernels and their files."""
    others = multiprocessing.active_children()
    with scratch("rks") as temporary:
        preload()
        # Not forked from here: that would copy threads' locks. A forked worker has one kernel, so it does one task.
        context = multiprocessing.get_context("forkserver" if FORKS else "spawn")
        given = (str(temporary), dict(os.environ), FORKS)
        pool = ProcessPoolExecutor(workers, context, _begin, given, max_tasks_per_child=1 if FORKS else None)
        try:
            yield pool
        except BaseException:
            for child in multiprocessing.active_children():
                if child not in others:
                    child.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def preload() -> None:
    """Let the process that workers are forked from import what they need; returns at once."""
    if FORKS:
        _begin_fork_server()


@functools.cache
def _begin_fork_server() -> None:
    from multiprocessing.forkserver import ensure_running

    # The server's socket is to lie in a folder that the next command removes if this process is killed.
    whole_process = ExitStack()
    Finalize(None, whole_process.close, exitpriority=-1000)  # after multiprocessing has removed what is in it
    before, tempfile.tempdir = tempfile.tempdir, str(whole_process.enter_context(scratch("rkf")))
    try:
        get_temp_dir()  # multiprocessing keeps the first one
    finally:
        tempfile.tempdir = before
    multiprocessing.set_forkserver_preload(["ragkit.execution.preload"])
    try:
        ensure_running()
    except OSError as error:  # most likely its path is too long
        raise FileError(
            f"{get_temp_dir()}: no socket can be made there: {error}: set TMPDIR to a folder with a short path"
        ) from error


def work(task: Task) -> None:
    """`execute`, in a worker that can be told to stop."""
    if _state["stopping"]:
        raise KeyboardInterrupt
    _state["working"] = True
    try:
        execute(task)
    finally:
        _state["working"] = False


_state = {"working": False, "stopping": False}


def _begin(temporary: str, environment: Mapping[str, str], fork: bool) -> None:
    """Temporary files go where the parent removes them; stopping lets papermill end its kernel."""
    os.environ.clear()  # what was forked has the environment of the first time
    os.environ.update(environment, TMPDIR=temporary)
    if fork:  # before there are threads
        from ragkit.execution.kernels import fork_kernel

        fork_kernel()
    tempfile.tempdir = temporary
    # asyncio logs that nobody awaited the cell of a kernel that was stopped; what fails is told by its exception.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    signal.signal(signal.SIGINT, _stop)
    signal.signal(signal.SIGTERM, _stop)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _stop)
    threading.Thread(target=_follow, daemon=True).start()


def _follow() -> None:
    """End when the parent has, however it ended: a worker would wait for its next task for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)  # papermill ends its kernel and keeps the notebook
        while _state["working"]:
            time.sleep(0.05)
        os._exit(1)  # the pool's own loop goes on after a task that was stopped


def _stop(number: int, _frame: FrameType | None) -> None:
    again = number == getattr(signal, "SIGALRM", None)
    if _state["stopping"] and not again:
        return  # Ctrl-C reaches every process of a terminal, and the parent tells its workers too
    _state["stopping"] = True
    if _state["working"]:
        if hasattr(signal, "alarm"):
            signal.alarm(PATIENCE)
        raise KeyboardInterrupt
    raise SystemExit(0)
