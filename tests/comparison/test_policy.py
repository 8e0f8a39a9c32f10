"""The adoption policy, as committed and as people mistype it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragkit.comparison import Policy, read_policy
from ragkit.errors import ConfigError, FileError

COMMITTED = Path(__file__).parents[2] / "eval/policy.toml"


def test_the_committed_policy_is_the_protocol() -> None:
    assert read_policy(COMMITTED) == Policy()
    assert Policy().level == 0.025


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("alpha = 0", "alpha"),
        ('alpha = "0.05"', "alpha"),
        ("alhpa = 0.05", "alhpa: unknown key"),
        ("family = []", "family"),
        ('family = ["a", "a"]', "names a sweep twice"),
        ('[primary]\nmeasure = "Recal@5"', "did you mean Recall@5?"),
        ("[guard]\nmargin = 0", "guard.margin"),
        ("[guard\n", "not TOML"),
    ],
)
def test_a_wrong_policy_is_refused(write: Callable[[str, Any], Path], text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_policy(write("policy.toml", text))
    assert words in str(caught.value)
    assert "policy.toml" in str(caught.value)


def test_every_problem_is_told(write: Callable[[str, Any], Path]) -> None:
    with pytest.raises(ConfigError, match=r"(?s)alpha.*family"):
        read_policy(write("policy.toml", "alpha = 2\nfamily = []"))


def test_a_missing_policy_is_a_file_error(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        read_policy(tmp_path / "policy.toml")
