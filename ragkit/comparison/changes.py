"""What differs between two evaluations: settings, questions, and where judgments were lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragkit.comparison.evaluation import Timing
from ragkit.comparison.model import Changed
from ragkit.comparison.paired import Pair, difference

SHOWN_HITS = 5
Settings = tuple[tuple[str, Any, Any], ...]


def differing(baseline: Mapping[str, Any], candidate: Mapping[str, Any], at: str = "") -> Settings:
    """The entries of two configurations that differ, but for the name: (entry, baseline, candidate).

    >>> differing({"chunking": {"chunk_size": 500}}, {"chunking": {"chunk_size": 250}})
    (('chunking.chunk_size', 500, 250),)
    """
    found: list[tuple[str, Any, Any]] = []
    for key in sorted({*baseline, *candidate} - ({"name"} if not at else set())):
        b, c = baseline.get(key), candidate.get(key)
        if isinstance(b, dict) and isinstance(c, dict):
            found += differing(b, c, f"{at}{key}.")
        elif b != c:
            found.append((at + key, b, c))
    return tuple(found)


def notes(settings: Settings, timing: Sequence[Timing | None]) -> tuple[str, ...]:
    """What a reader must know before believing the numbers."""
    result = []
    entries = [entry for entry, _, _ in settings if not entry.startswith(("dataset.", "evaluation."))]
    strategies = tuple(entry.removesuffix("strategy") for entry in entries if entry.endswith(".strategy"))
    # Another strategy brings its own parameters: together they are one variable.
    variables = [entry for entry in entries if entry.endswith(".strategy") or not entry.startswith(strategies or "\0")]
    if len(variables) > 1:
        result.append(f"{len(variables)} settings differ ({', '.join(variables)}): which one did it can't be told.")
    if len({found.fingerprint for found in timing if found}) > 1:
        result.append("The two were run on different machines: their times don't compare.")
    return tuple(result)


def changed_questions(pairs: Sequence[Pair], primary: str, guard: str) -> tuple[Changed, ...]:
    """The questions whose primary or guard value moved, those that got worse first."""
    found = []
    for both in pairs:
        values = both.values(primary), both.values(guard)
        moved, guarded = (0.0 if value is None else difference(value) for value in values)
        if moved or guarded:
            worse = moved < 0 or (moved == 0 and guarded < 0)
            hits = tuple(
                tuple(hit.model_dump(include={"at", "score", "covers"}) for hit in row.hits[:SHOWN_HITS])
                for row in (both.baseline, both.candidate)
            )
            row = both.baseline
            lost = _lost(both) if worse else ()
            if moved < 0 and not lost:
                lost = ("same ranks, past the token budget",)
            found.append(
                (moved, guarded, Changed(row.id, row.question, row.type, *values, moved != 0, worse, lost, *hits))
            )
    return tuple(changed for _, _, changed in sorted(found, key=lambda entry: entry[:2]))


def _lost(both: Pair) -> tuple[str, ...]:
    """For each judgment that ranks lower now: its ranks, and the stage that lost it."""
    stages = {loss.judgment: loss.stage for loss in both.candidate.losses}
    result = []
    for judgment, (before, now) in enumerate(zip(both.baseline.first_ranks, both.candidate.first_ranks, strict=False)):
        if before is not None and (now is None or now > before):
            result.append(f"{stages.get(judgment, 'rank')} (rank {before} to {'none' if now is None else now})")
    return tuple(result)
