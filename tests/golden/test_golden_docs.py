"""docs/golden.qmd and docs/adapters.qmd say what the code does, and their examples run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ragkit.cli import run
from ragkit.golden.levels import TABLE
from ragkit.interop.mapping import load_mapping

DOCS = Path(__file__).parents[2] / "docs"


def blocks(name: str, language: str) -> list[str]:
    return re.findall(
        rf"^```{language}\n(.*?)^```$", (DOCS / name).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def test_the_documented_table_is_the_one_that_is_used() -> None:
    text = (DOCS / "golden.qmd").read_text(encoding="utf-8")
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith(("| found", "| not", "| n/a"))]
    documented = {(r[0].strip(), r[1].strip()): tuple(cell.strip() for cell in r[2:]) for r in rows}
    assert documented == {key: tuple(level or "refused" for level in levels) for key, levels in TABLE.items()}


def test_the_documented_mapping_files_are_valid(tmp_path: Path) -> None:
    fields, request = blocks("golden.qmd", "toml")
    (service,) = [block for block in blocks("adapters.qmd", "toml") if block.startswith("# map.toml")]
    for text in (fields, request, service):
        (tmp_path / "map.toml").write_text(text, encoding="utf-8")
        load_mapping(tmp_path / "map.toml")


def test_the_worked_function_runs(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = blocks("adapters.qmd", "python")
    (workspace / "search_example.py").write_text(example, encoding="utf-8")
    monkeypatch.syspath_prepend(str(workspace))
    assert run(["eval", "--retriever", "search_example:retrieve", "--out", "a"]) == 0
    found = json.loads(Path("a/metrics.json").read_text())
    assert found["questions"][0]["measures"]["Recall@10"] == 1.0
