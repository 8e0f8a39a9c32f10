"""Work that runs beside what the caller does next, because most of it is outside Python."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def beside(work: Callable[_P, _T], *arguments: _P.args, **named: _P.kwargs) -> Future[_T]:
    """Begin `work` in a thread of its own; the future raises what it raises."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="ragkit-beside")
    try:
        return pool.submit(work, *arguments, **named)
    finally:
        pool.shutdown(wait=False)
