"""What a command costs before it does anything: fresh processes, against an interpreter that does nothing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from frame import Bar, Section, rows
from timing import Command, alternate

ROUNDS = 9
LIMIT = 0.3
"""Seconds beyond the interpreter's own start."""

NOTHING = "python -c pass"


def measure(quick: bool) -> Section:
    ragkit = str(Path(sys.executable).with_name("ragkit"))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        works = {
            "ragkit --help": ((ragkit, "--help"), "Usage: ragkit"),
            "ragkit golden": ((ragkit, "golden", "--out", f"{folder}/golden"), "cases"),
        }
        for name, (command, expected) in works.items():
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            ways = {name: Command(command), NOTHING: Command((sys.executable, "-c", "pass"))}
            measured = alternate(ways, 1 if quick else ROUNDS)
            extra = median(measured[name].seconds) - median(measured[NOTHING].seconds)
            found += rows(
                f"start-up of {name}",
                measured,
                ours=[name],
                peers=[NOTHING],
                amount=1,
                unit="starts",
                checked=f"printed {len(output.splitlines())} lines" if expected in output else "printed something else",
                bars=[Bar(f"seconds more than {NOTHING}", extra, LIMIT, at_least=False)],
            )
    return Section("Start-up", found, ("click", "rich"))
