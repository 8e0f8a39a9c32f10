"""Every benchmark whose libraries are installed, one after the other: `make bench`."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NEEDS = {"embedding": "sentence_transformers", "search": "numpy", "chunking": "langchain_text_splitters"}


def main() -> int:
    failed = 0
    for name, library in NEEDS.items():
        if importlib.util.find_spec(library) is None:
            print(f"\n## {name}: left out, wants `pip install {library.replace('_', '-')}`")
            continue
        print(f"\n## {name}", flush=True)
        failed += subprocess.run([sys.executable, HERE / f"{name}.py"], check=False).returncode != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
