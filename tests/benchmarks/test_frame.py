"""The frame of the benchmarks: turns, memory, bars, and that RESULTS.md says only what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_ways_take_turns_and_the_order_turns_round(load) -> None:
    calls: list[str] = []
    ways = {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    measured = load("timing").alternate(ways, repeats=2)
    assert "".join(calls) == "ab" + "abba" + "ab"  # warm-up, two rounds, memory
    assert [len(took.seconds) for took in measured.values()] == [2, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="reads the proc file system")
def test_peak_memory_is_what_the_run_took_even_if_the_warm_up_took_it_before(load) -> None:
    ways = {"small": lambda: bytes(1), "large": lambda: bytes(b"x" * 50_000_000)}
    measured = load("timing").alternate(ways, repeats=1)
    assert measured["small"].peak_mb < 10
    assert 45 < measured["large"].peak_mb < 110


@pytest.mark.skipif(sys.platform == "win32", reason="asks wait4")
def test_the_memory_of_a_command_is_that_of_its_process_and_a_failing_one_is_no_time(load) -> None:
    timing = load("timing")
    ours = b"x" * 80_000_000  # which the command must not inherit
    measured = timing.alternate({"nothing": timing.Command((sys.executable, "-c", "pass"))}, repeats=1)
    assert 1 < measured["nothing"].peak_mb < len(ours) / 1e6
    with pytest.raises(subprocess.CalledProcessError):
        timing.Command((sys.executable, "-c", "raise SystemExit(3)"))()


@pytest.mark.parametrize(
    ("measured", "limit", "at_least", "text"),
    [
        (4.4, 4.0, True, "speed ≥ 4: 4.4, met"),
        (3.5, 4.0, True, "speed ≥ 4: 3.5, missed by 0.5"),
        (0.25, 0.3, False, "speed ≤ 0.3: 0.25, met"),
        (0.5, 0.3, False, "speed ≤ 0.3: 0.5, missed by 0.2"),
    ],
)
def test_a_bar_says_whether_it_is_met_and_by_how_much_it_is_missed(load, measured, limit, at_least, text) -> None:
    assert str(load("frame").Bar("speed", measured, limit, at_least)) == text


def test_ratios_are_to_the_quickest_peer_and_ways_for_information_are_no_peers(load) -> None:
    frame, timing = load("frame"), load("timing")
    took = {"ragkit": [1.0, 2.0, 9.0], "slow": [8.0], "quick": [4.0], "unlike": [0.5]}
    measured = {way: timing.Measured(seconds, None) for way, seconds in took.items()}
    bar = frame.faster(measured, "ragkit", ["slow", "quick"], 3.0, "peers")
    rows = frame.rows(
        "work", measured, ours=["ragkit"], peers=["slow", "quick"], amount=1, unit="MB", checked="equal", bars=[bar]
    )
    assert [(row.kind, row.ratio) for row in rows] == [
        ("ragkit", 2.0), ("peer", 0.5), ("peer", 1.0), ("information", 8.0),
    ]  # fmt: skip
    assert rows[0].bars == (bar,)
    assert str(bar) == "times the speed of peers ≥ 3: 2, missed by 1"


def test_results_are_a_pure_function_of_the_stored_measurements(load) -> None:
    stored = ROOT / "benchmarks/results.json"
    sections = json.loads(stored.read_text(encoding="utf-8"))
    assert (ROOT / "benchmarks/RESULTS.md").read_text(encoding="utf-8") == load("table").results(sections)
    assert set(sections) <= set(load("run").BENCHMARKS)


def test_some_benchmarks_replace_only_their_own_sections(load, tmp_path, monkeypatch, capsys) -> None:
    run = load("run")
    stored = json.loads((ROOT / "benchmarks/results.json").read_text(encoding="utf-8"))
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "in_a_child", lambda name, quick: stored[name] | {"title": f"fresh {name}"})
    (tmp_path / "results.json").write_text(json.dumps(stored), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["run.py", "search"])
    assert run.main() == 0
    written = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert [name for name in written if written[name] != stored[name]] == ["search"]
    assert "fresh search" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert "| 10 nearest of" in capsys.readouterr().out


def test_a_quick_run_writes_nothing() -> None:
    before = (ROOT / "benchmarks/results.json").stat().st_mtime_ns
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/run.py", "search", "--quick"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("| work ")
    assert "numpy product: 5 of 5" in done.stderr
    assert (ROOT / "benchmarks/results.json").stat().st_mtime_ns == before
