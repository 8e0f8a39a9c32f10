"""The README's numbers are the committed ones, and its files and commands exist."""

from __future__ import annotations

import re
from pathlib import Path

from ragkit.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_measures_are_those_of_the_committed_baseline() -> None:
    baseline = (ROOT / "docs/eval/baseline-v1.4.md").read_text(encoding="utf-8")
    table = baseline.partition("## Measures\n\n")[2].partition("\n\n## ")[0]
    assert table.startswith("| measure |")
    assert table in README


def test_every_linked_file_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_command_it_names_exists() -> None:
    named = set(re.findall(r"(?:^ {4}|`)ragkit ([a-z][a-z-]*)", README, re.MULTILINE))
    assert named <= set(COMMANDS), named - set(COMMANDS)
