"""Every input that a fuzzer found a fault with is read again, and so are the sound ones that it started from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import FINDINGS, TARGETS

_FILES = sorted(path for path in FINDINGS.glob("*/*") if path.is_file())


@pytest.mark.parametrize("path", _FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_mended_finding_stays_mended(path: Path) -> None:
    TARGETS[path.parent.name].run(path.read_bytes())


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_sound_inputs_are_read(name: str) -> None:
    for seed in TARGETS[name].seeds:
        TARGETS[name].run(seed)
