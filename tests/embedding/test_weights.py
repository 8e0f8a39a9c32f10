"""The weights file: what is read is what was written, and damage is told, never read over."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from ragkit.embedding.weights import Weights
from ragkit.errors import ModelError
from tests.embedding.tiny import ARCHITECTURE, pieces, tiny_bytes, write_tiny


def test_import(tmp_path: Path) -> None:
    w = Weights(write_tiny(tmp_path / "w.bin"))
    assert len(w.vocabulary.pieces) == len(pieces())
