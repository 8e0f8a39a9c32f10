"""Does work grow with its input, or with its square?"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TRIES = 5


def grows_with_its_input(work: Callable[[int], object], small: int, large: int) -> bool:
    """Whether `work(large)` takes no more processor time than four times its share of what `work(small)` takes.

    A busy machine only ever adds time, so one of a few tries that stays below is enough; what grows with the
    square is above in all of them, when `large` is at least eight times `small`. Collecting the garbage of earlier
    tests is not the work's.
    """
    work(small)  # imports and caches
    share = 4 * large / small
    return any(_seconds(work, large) <= share * _seconds(work, small) + 0.2 for _ in range(TRIES))


def _seconds(work: Callable[[int], object], size: int) -> float:
    gc.collect()
    gc.disable()
    try:
        started = time.process_time()
        work(size)
        return time.process_time() - started
    finally:
        gc.enable()
