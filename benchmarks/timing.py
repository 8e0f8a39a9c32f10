"""Comparing ways to do the same work: in one process, in turn, so that a busy machine slows all of them alike."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROUNDS = 5

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")

_WATCH = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6)
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""Starts a command and prints its peak memory. Small itself, because a process inherits its parent's peak."""


@dataclass(frozen=True)
class Measured:
    """Seconds of every counted run, and the peak memory of one more that was not timed.

    For work in this process that is by how many MB (10^6 bytes) its resident memory grew over what it held at the start of
    the run, after it had given back what was free; for a `Command`, all that its process held.
    """

    seconds: list[float]
    peak_mb: float | None


@dataclass(frozen=True)
class Command:
    """Work done in a process of its own: the program's path and its arguments. Fails when the program does."""

    arguments: tuple[str, ...]

    def __call__(self) -> None:
        subprocess.run(self.arguments, check=True, capture_output=True)

    def peak_mb(self) -> float | None:
        if sys.platform == "win32":
            return None
        watch = [sys.executable, "-ISc", _WATCH, *self.arguments]
        return float(subprocess.run(watch, check=True, capture_output=True, text=True).stdout)


def alternate(ways: Mapping[str, Callable[[], object]], repeats: int = ROUNDS) -> dict[str, Measured]:
    """Run every way in turn: A, B, A, B, ... after one round that is not counted; then once more for the memory.

    The order turns round every time, so that nobody always runs in the wake of the same neighbour.
    """
    for name, work in ways.items():
        _progress(f"{name}: warm-up")
        work()
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeats):
        for name in list(ways) if turn % 2 == 0 else reversed(ways):
            gc.collect()
            start = time.perf_counter()
            ways[name]()
            seconds[name].append(time.perf_counter() - start)
            _progress(f"{name}: {turn + 1} of {repeats}, {seconds[name][-1]:.3g} s")
    return {name: Measured(seconds[name], _peak_mb(work)) for name, work in ways.items()}


def _progress(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)


def _peak_mb(work: Callable[[], object]) -> float | None:
    if isinstance(work, Command):
        return work.peak_mb()
    gc.collect()
    try:
        ctypes.CDLL(None).malloc_trim(0)  # else what an earlier run left free would hide what this one takes
        _RESET.write_text("5", encoding="ascii")  # the peak starts anew
        before = _status_mb("VmRSS")
        work()
        return max(_status_mb("VmHWM") - before, 0.0)
    except (OSError, AttributeError, TypeError):  # another system, another C library
        return None


def _status_mb(field: str) -> float:
    for line in _STATUS.read_text(encoding="utf-8").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError(f"{_STATUS}: no {field}")
