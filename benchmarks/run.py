"""`make bench`: every benchmark, one table, and RESULTS.md.

    python benchmarks/run.py                    # all of them
    python benchmarks/run.py search chunking    # some; the other sections of RESULTS.md stay as they are
    python benchmarks/run.py --quick            # does everything run? Little work, nothing written

Each benchmark runs in a process of its own, so that the memory of one doesn't disturb another. Progress goes to stderr.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import table

from ragkit import environment
from ragkit.files import write_atomic

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BENCHMARKS = ("embedding", "search", "parsing", "chunking", "measures", "pipeline", "startup", "rerank", "growth")
"""In the order of the table; each is a module here (see frame.py)."""


def measured(name: str, *, quick: bool) -> dict[str, Any]:
    """Run one benchmark in this process; its section with everything that the numbers depend on."""
    load, started = os.getloadavg()[0], time.monotonic()
    section = importlib.import_module(name).measure(quick)
    return {
        **dataclasses.asdict(section),
        "libraries": {library: metadata.version(library) for library in section.libraries},
        "machine": environment.describe(),
        "command": f"python benchmarks/run.py {name}",
        "load": {"start": load, "end": os.getloadavg()[0]},
        "took": time.monotonic() - started,
    }


def in_a_child(name: str, *, quick: bool) -> dict[str, Any] | None:
    """Run one benchmark in a new process; `None` when it failed, with its message on stderr already."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        into = Path(folder, "section.json")
        command = [sys.executable, HERE / "run.py", name, "--into", into, *(["--quick"] if quick else [])]
        if subprocess.run(command, check=False, cwd=ROOT, stdout=sys.stderr).returncode:
            print(f"{name}: failed", file=sys.stderr)
            return None
        found: dict[str, Any] = json.loads(into.read_text(encoding="utf-8"))
        return found


def keep(name: str, section: dict[str, Any]) -> None:
    """Put a section into results.json and RESULTS.md; the others stay as they are."""
    store = HERE / "results.json"
    kept = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    kept[name] = section
    sections = {name: kept[name] for name in BENCHMARKS if name in kept}
    write_atomic(store, json.dumps(sections, indent=1, ensure_ascii=False) + "\n")
    write_atomic(HERE / "RESULTS.md", table.results(sections))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--quick", action="store_true", help="as little work as shows that everything runs")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - set(BENCHMARKS)):
        parser.error(f"no benchmark {unknown[0]!r}: there are {', '.join(BENCHMARKS)}")
    if arguments.into:
        [name] = arguments.names
        write_atomic(arguments.into, json.dumps(measured(name, quick=arguments.quick)))
        return 0
    names = [name for name in BENCHMARKS if not arguments.names or name in arguments.names]
    fresh = {}
    for name in names:
        if found := in_a_child(name, quick=arguments.quick):
            fresh[name] = found
            if not arguments.quick:  # each as soon as it is there: the whole takes more than an hour
                keep(name, found)
    print(table.one_table(fresh))
    return 0 if len(fresh) == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
