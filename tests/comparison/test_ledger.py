"""The ledger: one confirmatory test a pair, and nothing is ever taken back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.comparison import Metrics, Policy, compare
from ragkit.comparison.ledger import check_first, read_ledger, record
from ragkit.errors import FileError, UsageError

Make = Callable[..., Metrics]


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "eval/ledger.jsonl"


def confirm(ledger: Path, baseline: Metrics, candidate: Metrics, *, again: bool = False) -> dict[str, object]:
    check_first(ledger, baseline, candidate, again=again)
    return record(ledger, compare(baseline, candidate, Policy(), "test"), baseline, candidate, 2)


def variant(metrics: Metrics, **changes: object) -> Metrics:
    return metrics.model_copy(update={"configuration": {**metrics.configuration, **changes}})


def test_a_second_test_of_a_pair_wants_again_and_is_recorded_as_such(parsed: Make, ledger: Path) -> None:
    baseline, candidate = parsed([0.0] * 30), variant(parsed([1.0] * 30, name="c"), retrieval={"top_k": 20})
    first = confirm(ledger, baseline, candidate)
    assert (first["decision"], first["again"], first["tests"]) == ("adopt", False, 1)
    before = ledger.read_bytes()
    with pytest.raises(UsageError, match=r"ledger\.jsonl:1: c was tested against v1\.4 already \(adopt\)"):
        confirm(ledger, baseline, candidate)
    with pytest.raises(UsageError):  # another name, split or seed is the same pair
        confirm(ledger, baseline, variant(candidate, name="d", dataset={"split": "test"}, evaluation={"seed": 5}))
    assert ledger.read_bytes() == before
    assert confirm(ledger, baseline, candidate, again=True)["again"]
    assert ledger.read_bytes().startswith(before)


def test_other_pairs_are_free_but_counted(parsed: Make, ledger: Path) -> None:
    baseline = parsed([0.0] * 30)
    counts = [
        confirm(ledger, baseline, variant(parsed([1.0] * 30, name=f"k{k}"), retrieval={"top_k": k}))["tests"]
        for k in (20, 30, 40)
    ]
    assert counts == [1, 2, 3]
    assert [entry["candidate"] for entry in read_ledger(ledger)] == ["k20", "k30", "k40"]


def test_an_entry_goes_on_its_own_line_after_a_lost_newline(parsed: Make, ledger: Path) -> None:
    baseline, candidate = parsed([0.0] * 30), parsed([1.0] * 30, name="c")
    confirm(ledger, baseline, candidate)
    ledger.write_bytes(ledger.read_bytes().rstrip(b"\n"))
    confirm(ledger, baseline, candidate, again=True)
    assert len(read_ledger(ledger)) == 2


@pytest.mark.parametrize("line", ["{", "3", "null", "{}", "<<<<<<< HEAD"])
def test_a_damaged_ledger_is_refused_with_its_line(parsed: Make, ledger: Path, line: str) -> None:
    baseline, candidate = parsed([0.0] * 30), parsed([1.0] * 30, name="c")
    confirm(ledger, baseline, candidate)
    ledger.write_text(ledger.read_text() + line + "\n")
    with pytest.raises(FileError, match=r"ledger\.jsonl:2"):
        check_first(ledger, baseline, candidate, again=True)


def test_without_a_ledger_nothing_was_tested(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "none.jsonl") == []
