"""The reference is made of the commands' help, so that it can't say anything else."""

from __future__ import annotations

import pytest

from ragkit.cli import COMMANDS, run
from ragkit.cli.reference import WIDTH, reference


def test_every_command_is_there_with_its_options(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = reference().markdown
    for name in COMMANDS:
        assert f"## ragkit {name}\n" in text
        assert f"Usage: ragkit {name} " in text
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    assert run(["render", "--help"]) == 0
    printed = capsys.readouterr().out.split()
    assert " ".join(printed) in " ".join(text.split())
