"""Processes that read documents for us, so that no document can take more than its share.

A file of two kilobytes can keep a parser busy for hours or make it want all memory there is, in native code
that nothing in its own process can stop. A worker has limits of processor time and memory that the system
enforces; when a document ends it, the document is what is wrong, and the next one gets a new worker.

::

    Workers.submit(path, slug)      here: a thread waits for the answer
      Worker.parse                  a line of JSON to the worker, a line of JSON back
        serve                       there: document.parse, under its limits
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ragkit.errors import DocumentError
from ragkit.ingest import document, portable
from ragkit.records import Document

try:
    import resource
except ImportError:  # Windows has no such limits; there the clock alone bounds a document
    resource = None  # type: ignore[assignment]

MAX_SECONDS = 60
"""Of processor time for one document (of elapsed time on Windows)."""
MAX_MEMORY = 2 << 30
"""Bytes of a worker's address space (macOS does not hold to it, Windows has no such limit)."""
_PATIENCE = 1 if resource is None else 10
"""Times the seconds of processor time that may pass on the clock; a busy machine is not the document's fault."""
_SPLIT = "split it, export it again, or take it out of the corpus"


class Workers:
    """Up to `count` workers, started when there is something to do; a context manager that ends them.

    `seconds` and `memory` (bytes) are what one document may take.
    """

    def __init__(self, count: int, seconds: int = MAX_SECONDS, memory: int = MAX_MEMORY) -> None:
        self._all = [_Worker(seconds, memory) for _ in range(count)]
        self._idle = queue.SimpleQueue[_Worker]()
        for worker in self._all:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="ingest")

    def submit(self, path: Path, slug: str) -> Future[Document]:
        """Parse a file in the next idle worker. The future raises `DocumentError`."""
        return self._threads.submit(self._parse, path, slug)

    def _parse(self, path: Path, slug: str) -> Document:
        worker = self._idle.get()
        try:
            return worker.parse(path, slug)
        finally:
            self._idle.put(worker)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._all:
            worker.kill()
        self._threads.shutdown()
        for worker in self._all:
            worker.close()


class _Worker:
    """One process, at first none; used by one thread at a time."""

    def __init__(self, seconds: int, memory: int) -> None:
        self._seconds, self._memory = seconds, memory
        self._process: subprocess.Popen[str] | None = None

    def parse(self, path: Path, slug: str) -> Document:
        process = self._process = self._process or self._start()
        out_of_patience = threading.Timer(_PATIENCE * self._seconds, process.kill)
        out_of_patience.start()
        try:
            answer = _ask(process, json.dumps([str(path), slug]))
            late = out_of_patience.finished.is_set()
        finally:
            out_of_patience.cancel()
        if not answer.endswith("\n"):
            raise self._ended(path, self.close(), late)
        return _document(json.loads(answer))

    def kill(self) -> None:
        if self._process:
            self._process.kill()

    def close(self) -> int:
        """Let the process end; its exit code, negative for a signal."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with contextlib.suppress(BrokenPipeError):
            process.communicate()  # its input ends, so it does
        return process.returncode

    def _start(self) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-c", f"from {__name__} import serve; serve({self._seconds}, {self._memory})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def _ended(self, path: Path, code: int, late: bool) -> DocumentError:
        """What is wrong with a document whose worker has ended."""
        name = next((known.name for known in signal.Signals if known == -code), f"exit code {code}")
        if late or name == "SIGXCPU":
            return DocumentError(str(path), "too-slow", f"not read after {self._seconds} s of processor time", _SPLIT)
        found = f"its parser broke down ({name}): it is damaged, or {_too_much(self._memory)}"
        return DocumentError(str(path), "unparsable", found, _SPLIT)


def _ask(process: subprocess.Popen[str], line: str) -> str:
    """The line that a worker answers; not a whole one when it has ended."""
    if process.stdin is None or process.stdout is None:
        return ""
    with contextlib.suppress(BrokenPipeError):
        print(line, file=process.stdin, flush=True)
    return process.stdout.readline()


def _too_much(memory: int) -> str:
    return f"reading it takes more than {memory >> 20:,} MiB of memory"


def serve(seconds: int, memory: int) -> None:
    """What a worker does: answer each line on standard input, a path and a slug, with a line on standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started us decides
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # so that nothing a library prints gets between the answers
    if resource:
        _limit(resource.RLIMIT_AS, memory)
        _limit(resource.RLIMIT_CORE, 0)
    for line in sys.stdin:
        path, slug = json.loads(line)
        if resource:
            _limit(resource.RLIMIT_CPU, math.ceil(time.process_time()) + seconds)
        try:
            answer = _answer(Path(path), slug)
        except MemoryError:
            answer = json.dumps({"refused": (path, "too-large", _too_much(memory), _SPLIT)})
        print(answer, file=answers, flush=True)


def _limit(kind: int, value: int) -> None:
    _, most = resource.getrlimit(kind)
    resource.setrlimit(kind, (value if most == resource.RLIM_INFINITY else min(value, most), most))


def _answer(path: Path, slug: str) -> str:
    try:
        return portable.dumps(document.parse(path, slug))
    except DocumentError as error:
        (problem,) = error.problems
        return json.dumps({"refused": (problem.path, problem.rule, problem.found, problem.remedy)})


def _document(answer: dict[str, Any]) -> Document:
    if "refused" in answer:
        raise DocumentError(*answer["refused"])
    return portable.loads(answer)
