"""`ledger.jsonl`, committed beside the policy: every confirmatory test, once and for all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragkit.comparison.evaluation import Metrics
from ragkit.comparison.model import Comparison
from ragkit.errors import FileError, UsageError
from ragkit.files import alone, canonical_line, read_text, write_atomic


def read_ledger(path: Path) -> list[dict[str, Any]]:
    """The entries, oldest first; none when there is no file yet. Raises `FileError` with the line that is damaged."""
    entries = []
    for number, line in enumerate(read_text(path).splitlines() if path.exists() else (), start=1):
        try:
            entry = json.loads(line)
            _ = entry["baseline_system"], entry["candidate_system"]
        except (ValueError, TypeError, KeyError) as error:
            remedy = "restore it from version control; entries are only ever added"
            raise FileError(f"{path}:{number}: not an entry of the ledger: {remedy}") from error
        entries.append(entry)
    return entries


def check_first(path: Path, baseline: Metrics, candidate: Metrics, *, again: bool) -> None:
    """Raise `UsageError` when the ledger has a test of this pair already, unless `again`.

    A pair is known by what decides its rankings, so another name, split or seed doesn't make it a new one.
    """
    earlier = _earlier(path, baseline, candidate)
    if earlier and not again:
        number, entry = earlier[-1]
        raise UsageError(
            f"{path}:{number}: {entry.get('candidate')} was tested against {entry.get('baseline')} already"
            f" ({entry.get('decision')}); a pair is tested once. --again tests it once more, and the ledger will say so"
        )


def record(path: Path, comparison: Comparison, baseline: Metrics, candidate: Metrics, planned: int) -> dict[str, Any]:
    """Append the test to the ledger; the entry. `planned`: how many sweeps share alpha. Raises `FileError`."""
    candidates = {e["candidate_system"] for e in read_ledger(path) if e["baseline_system"] == baseline.system_id}
    entry = {
        "baseline": baseline.name,
        "baseline_id": baseline.config_id,
        "baseline_system": baseline.system_id,
        "candidate": candidate.name,
        "candidate_id": candidate.config_id,
        "candidate_system": candidate.system_id,
        "questions": baseline.dataset.questions,
        "corpus": baseline.dataset.corpus,
        "split": comparison.split,
        "measure": comparison.primary.measure,
        "difference": comparison.primary.difference,
        "p": comparison.primary.p,
        "level": comparison.primary.level,
        "decision": comparison.verdict.decision,
        "reason": comparison.verdict.reason,
        "planned": planned,
        "tests": len(candidates | {candidate.system_id}),  # of this baseline, this one included
        "again": bool(_earlier(path, baseline, candidate)),
    }
    if path.is_symlink():  # what it leads to is nobody's ledger
        raise FileError(f"{path}: cannot be written: is a symbolic link; put the file itself there")
    with alone(path.parent):
        text = read_text(path) if path.exists() else ""
        gap = "" if text.endswith("\n") or not text else "\n"  # someone's editor dropped the last newline
        write_atomic(path, text + gap + canonical_line(entry))  # whole: a full disk must not leave half an entry
    return entry


def _earlier(path: Path, baseline: Metrics, candidate: Metrics) -> list[tuple[int, dict[str, Any]]]:
    ids = (baseline.system_id, candidate.system_id)
    entries = enumerate(read_ledger(path), start=1)
    return [(n, entry) for n, entry in entries if (entry["baseline_system"], entry["candidate_system"]) == ids]
