"""ragkit in a process that kills itself at an exact place, or prepares a toy in the pinned model's stead.

    python -m tests.proof.steps COMMAND ...

PROOF_KILL_AT, a number: SIGKILL right before so many-th step that changes a file below PROOF_BELOW; 0 only counts,
and writes the count to PROOF_COUNT. PROOF_WHEEL: the toy's wheel (tests/embedding/toys.py).
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

_CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_done = 0


def _changes(event: str, arguments: tuple[Any, ...], below: str) -> bool:
    if event not in _CHANGES and not (event == "open" and arguments[2] & _WRITING):
        return False
    path = arguments[1] if event == "os.rename" else arguments[0]
    return isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(below)  # noqa: PTH100  not resolved


def _kill_at(number: int, below: str) -> None:
    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        global _done
        if _changes(event, arguments, below):
            _done += 1
            if _done == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def _use_toy(wheel: Path) -> None:
    from ragkit.embedding import prepare
    from ragkit.embedding.registry import SOURCES
    from tests.embedding import toys

    SOURCES["pypi"] = toys.wheel_source(wheel)
    prepare.convert = toys.fake_convert  # type: ignore[attr-defined]  # as imported there


def main() -> None:
    from ragkit.cli import run

    if wheel := os.environ.get("PROOF_WHEEL"):
        _use_toy(Path(wheel))
    if at := os.environ.get("PROOF_KILL_AT"):
        _kill_at(int(at), os.environ["PROOF_BELOW"])
    code = run(sys.argv[1:])
    if count := os.environ.get("PROOF_COUNT"):
        Path(count).write_text(str(_done))
    sys.exit(code)


if __name__ == "__main__":
    main()
