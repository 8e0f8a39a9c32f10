"""The benchmarks that need no peers run to their end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.model
@pytest.mark.parametrize("name", ["rerank", "startup", "growth"])
def test_it_runs_with_little_work(name: str, prepared_cache: Path) -> None:
    before = (ROOT / "benchmarks/results.json").read_bytes()
    command = [sys.executable, "benchmarks/run.py", name, "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "ragkit" in done.stdout
    assert (ROOT / "benchmarks/results.json").read_bytes() == before
