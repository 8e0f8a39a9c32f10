"""Fixtures of the comparison tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragkit.comparison.evaluation import Metrics
from tests.comparison.evaluations import evaluation


@pytest.fixture
def make() -> Callable[..., dict[str, Any]]:
    """`make([value of each question])`, see `evaluation`."""
    return evaluation


@pytest.fixture
def parsed() -> Callable[..., Metrics]:
    """As `make`, but read as `read_metrics` would."""
    return lambda *arguments, **more: Metrics.model_validate({**evaluation(*arguments, **more), "path": "m.json"})


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, Any], Path]:
    """`write(name, content)`: a JSON file in the test's folder."""

    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write
