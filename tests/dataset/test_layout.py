"""`ragkit init`: what it lays out is valid and runs as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragkit.cli import run
from ragkit.dataset.layout import lay_out
from ragkit.errors import UsageError

HASHING = ["--set", "model.name=hashing", "--set", "model.source=builtin"]


def test_the_example_validates_and_evaluates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGKIT_CACHE", str(tmp_path / "cache"))
    assert run(["init", "my eval"]) == 0
    assert run(["validate", "--config", "my eval/configs/first.toml"]) == 0
    assert run(["eval", "--config", "my eval/configs/first.toml", *HASHING]) == 0
    assert (tmp_path / "eval/runs/first/metrics.json").is_file()


def test_a_folder_with_something_in_it_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        lay_out(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    written = lay_out(tmp_path / "new")
    assert "questions.jsonl" in written
    assert written == sorted(written)
