"""What `make bench` keeps: every section as soon as it is there, and those that weren't run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_a_section_is_put_among_the_others(load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = load("run")
    monkeypatch.setattr(run, "HERE", tmp_path)
    store = tmp_path / "results.json"
    sections = json.loads((BENCHMARKS / "results.json").read_text(encoding="utf-8"))
    search = sections.pop("search")
    store.write_text(json.dumps(sections), encoding="utf-8")
    run.keep("search", search)
    assert store.read_bytes() == (BENCHMARKS / "results.json").read_bytes()
    assert (tmp_path / "RESULTS.md").read_bytes() == (BENCHMARKS / "RESULTS.md").read_bytes()


def test_the_first_section_needs_no_other(load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = load("run")
    monkeypatch.setattr(run, "HERE", tmp_path)
    run.keep("search", json.loads((BENCHMARKS / "results.json").read_text(encoding="utf-8"))["search"])
    assert list(json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))) == ["search"]
    assert "# Benchmarks" in (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
