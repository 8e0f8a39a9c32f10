"""What a run was made on: the facts that can move a number or a time. Never part of what is compared byte for byte."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

_LIBRARIES = ("numpy", "onnxruntime", "sentencepiece", "apsw", "sqlite-vec", "pypdfium2", "lxml", "markdown-it-py")
"""Libraries whose version can change a vector, a block or a ranking."""

_CPU_FLAGS = ("avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm")
"""Processor features that make a quantised model compute differently."""


def describe() -> dict[str, Any]:
    """Machine, Python and library versions; two equal `fingerprint(describe())` should give equal bytes."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cpu_flags": _flags(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "python": platform.python_version(),
        "libraries": {name: metadata.version(name) for name in _LIBRARIES},
    }


def fingerprint(environment: dict[str, Any]) -> str:
    """16 hexadecimal digits over what can move a number: system, architecture, CPU features, libraries.

    Cores and the Python version are left out: results don't depend on them.
    """
    deciding = {key: environment[key] for key in ("system", "architecture", "processor", "cpu_flags", "libraries")}
    return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()[:16]


def peak_memory_mb() -> float | None:
    """The most memory this process has held so far, in MB (10^6 bytes); `None` where the system can't say."""
    # Linux first: getrusage there starts from what the parent process held when it forked.
    for line in _read("/proc/self/status").splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) * 1024 / 1e6, 1)
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak * (1 if sys.platform == "darwin" else 1024) / 1e6, 1)


def _read(path: str) -> str:
    """A file of the proc file system; empty on systems without it."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _processor() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _flags() -> list[str]:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith(("flags", "Features")):
            present = set(line.partition(":")[2].split())
            return [flag for flag in _CPU_FLAGS if flag in present]
    return []
