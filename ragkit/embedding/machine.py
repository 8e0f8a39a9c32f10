"""What of a machine moves the last bits of a vector: processor features and library versions.

Vectors of two machines agree within a tolerance; they are equal only where these agree.
"""

from __future__ import annotations

import functools
import platform
from pathlib import Path

LIBRARIES = ("numpy", "onnxruntime", "sentence-transformers", "sentencepiece", "tokenizers", "torch", "transformers")
_PREFIXES = ("amx", "asimd", "avx", "bf16", "f16c", "fma", "i8mm", "neon", "sse", "ssse", "sve")


@functools.cache
def runtime() -> dict[str, str]:
    """Name to value, JSON-ready: `machine`, `processor features`, the version of each library, "" if absent."""
    import importlib.metadata  # as slow to import as all the rest of the package

    found = {"machine": platform.machine(), "processor features": " ".join(_features())}
    for library in LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            found[library] = ""
    return found


def _features() -> list[str]:
    """Vector instructions where Linux tells them; elsewhere the processor's name stands for them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return [platform.processor()]
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() in {"flags", "Features"}:
            return sorted(flag for flag in value.split() if flag.startswith(_PREFIXES) or "vnni" in flag)
    return [platform.processor()]
