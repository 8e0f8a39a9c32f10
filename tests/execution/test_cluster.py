"""A real scheduler with two workers on loopback gives what processes give."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.cli import run

START = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
"""


def test_a_cluster_executes_a_sweep(sweep_file: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    Path("cluster.py").write_text(START, encoding="utf-8")
    path = sweep_file("better", good="retrieval.threshold = 0.0", bad="retrieval.threshold = 0.9")
    with subprocess.Popen(
        [sys.executable, "cluster.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert run(["sweep", path, "--scheduler", address]) == 0, capsys.readouterr().err
        process.stdin.close()
        process.wait(60)
    found = json.loads(Path("docs/eval/experiments/better.json").read_text(encoding="utf-8"))
    assert [row["verdict"] for row in found["configurations"]] == ["adopt", "cannot decide: not promoted"]
