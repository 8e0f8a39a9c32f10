"""Hit levels: from what a ranking shows of a case's expectations to strong, medium, weak or miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ragkit.golden.cases import Case, comparable
from ragkit.golden.keywords import found_keywords
from ragkit.interop.shapes import Candidate

Level = Literal["strong", "medium", "weak", "miss"]
State = Literal["found", "not found", "n/a"]
KeywordState = Literal["complete", "partial", "none", "n/a"]

LEVELS: Final[tuple[Level, ...]] = ("strong", "medium", "weak", "miss")
"""Best first."""
KEYWORD_STATES: Final[tuple[KeywordState, ...]] = ("complete", "partial", "none", "n/a")

TABLE: Final[dict[tuple[State, State], tuple[Level | None, ...]]] = {
    # document, breadcrumb:       keywords complete, partial, none, n/a
    ("found", "found"): ("strong", "strong", "strong", "strong"),
    ("found", "not found"): ("strong", "medium", "medium", "medium"),
    ("found", "n/a"): ("strong", "medium", "medium", "medium"),
    ("not found", "found"): ("weak", "weak", "weak", "weak"),
    ("n/a", "found"): ("weak", "weak", "weak", "weak"),
    ("not found", "not found"): ("weak", "weak", "miss", "miss"),
    ("not found", "n/a"): ("weak", "weak", "miss", "miss"),
    ("n/a", "not found"): ("weak", "weak", "miss", "miss"),
    ("n/a", "n/a"): ("weak", "weak", "miss", None),  # None: expects nothing, refused when it is read
}
"""The whole definition. Evidence of another document than the expected ones never makes a case strong."""


def level_of(document: State, breadcrumb: State, keywords: KeywordState) -> Level:
    """The level of one cell. Raises `ValueError` for the cell of a case that expects nothing."""
    level = TABLE[document, breadcrumb][KEYWORD_STATES.index(keywords)]
    if level is None:
        raise ValueError("a case that expects nothing has no level")
    return level


@dataclass(frozen=True, slots=True)
class Judged:
    """A case's level and what decided it.

    `evidence` are the 1-based ranks of the candidates that breadcrumbs and keywords were looked for in:
    those of expected documents when one was found, else all of the first k. `first_rank` is that of the
    first candidate of an expected document within k; `breadcrumb_rank` of the first one in the evidence
    whose breadcrumb fits.
    """

    level: Level
    document: State
    breadcrumb: State
    keywords: KeywordState
    documents_found: tuple[str, ...]
    first_rank: int | None
    breadcrumb_rank: int | None
    keywords_found: tuple[str, ...]
    evidence: tuple[int, ...]


def judge(case: Case, ranking: Sequence[Candidate], k: int, min_coverage: float) -> Judged:
    """Judge the first `k` candidates. Keywords are complete from a share of `min_coverage`, in (0, 1]."""
    first = ranking[:k]
    expected = [candidate for candidate in first if candidate.doc_id in case.documents]
    evidence = expected or first
    fitting = next((c.rank for c in evidence if any(has_suffix(c.breadcrumb, each) for each in case.breadcrumbs)), None)
    words = found_keywords(case.keywords, [c.text for c in evidence if c.text])
    document, breadcrumb = _state(case.documents, bool(expected)), _state(case.breadcrumbs, fitting is not None)
    keywords: KeywordState = "n/a"
    if case.keywords:
        complete = len(words) >= min_coverage * len(case.keywords) - 1e-9
        keywords = "complete" if complete else "partial" if words else "none"
    seen = {candidate.doc_id for candidate in expected}
    return Judged(
        level_of(document, breadcrumb, keywords),
        document,
        breadcrumb,
        keywords,
        tuple(each for each in case.documents if each in seen),
        expected[0].rank if expected else None,
        fitting,
        words,
        tuple(candidate.rank for candidate in evidence),
    )


def _state(expected: Sequence[object], found: bool) -> State:
    if not expected:
        return "n/a"
    return "found" if found else "not found"


def has_suffix(breadcrumb: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether the last levels of a breadcrumb are the expected ones, each compared whole, after folding."""
    if len(expected) > len(breadcrumb):
        return False
    return [*map(comparable, breadcrumb[len(breadcrumb) - len(expected) :])] == [*map(comparable, expected)]
