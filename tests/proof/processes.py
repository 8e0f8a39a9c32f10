"""Commands in processes of their own, in namespaces where one is needed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragkit.files import is_leftover

ROOT = Path(__file__).parents[2]
Finished = subprocess.CompletedProcess[str]
FOUR = [f"docs/eval/baseline-v1.4.{ending}" for ending in ("json", "meta.json", "timing.json", "md")]
"""The frozen baseline."""
STABLE = [f"eval/runs/small/{name}" for name in ("metrics.json", "rankings.jsonl", "run.trec", "qrels.trec")]
"""What of the run named small is the same bytes every time."""
OFFLINE = ("unshare", "--map-root-user", "--net")
"""Before a command: a network namespace of its own, which has no interface (its loopback is down)."""
MOUNTS = ("unshare", "--map-root-user", "--mount")
"""Before a command: mounts of its own, which it may make, whoever it is, and nobody else sees."""


def ragkit(*arguments: str, prefix: Sequence[str] = (), **environment: str) -> Finished:
    """What `ragkit ARGUMENTS` does, after `prefix`; the environment is this one with some variables changed."""
    command = [*prefix, sys.executable, "-m", "ragkit", *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def begin(command: str, **environment: str) -> subprocess.Popen[str]:
    """Start `ragkit COMMAND` as `tests.proof.steps` runs it."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.proof.steps", *command.split()],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def contents(paths: list[str]) -> dict[str, bytes | None]:
    return {path: Path(path).read_bytes() if Path(path).exists() else None for path in paths}


def leftovers() -> list[str]:
    """What a temporary name still has, in the project and among temporary files."""
    paths = [path.relative_to(Path.cwd()).as_posix() for path in Path.cwd().rglob("*") if ".git" not in path.parts]
    ours = ("ragkit", "rk", "pymp-")  # the last is what multiprocessing would make
    temporary = [path.name for path in Path(tempfile.gettempdir()).iterdir() if path.name.startswith(ours)]
    return [*filter(is_leftover, paths), *temporary]


def git(*arguments: str) -> str:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false"]
    return subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, text=True).stdout


@functools.cache
def _refused(prefix: tuple[str, ...]) -> str | None:
    """Why the system doesn't let `prefix` run a command; `None` when it does."""
    if shutil.which(prefix[0]) is None:
        return f"{prefix[0]} is not on the PATH"
    done = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() or "it failed without a word" if done.returncode else None


def need(prefix: tuple[str, ...]) -> None:
    """Skip the test, with the system's own words, where it doesn't allow such a namespace."""
    if reason := _refused(prefix):
        pytest.skip(f"{' '.join(prefix)}: {reason}")


def told(done: Finished, code: int, *words: str) -> None:
    """The command ended with this code and said these words, and didn't crash."""
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    assert "Traceback" not in said, said
    for word in words:
        assert word in said, said
