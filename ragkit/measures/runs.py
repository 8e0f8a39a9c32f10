"""Whole runs scored in arrays: Recall@10, RR and nDCG@10 of every question, as trec_eval computes them.

Where `ranking` scores one question by its first ranks, this module finds the ranks of all relevant documents of a
block of questions at once: the rank of a document is 1 + the hits that stand before it, so nothing is sorted that
arrives in order, and no document id is looked at that nobody judged.

The order of hits is trec_eval's: score descending, **as float32**, then document id descending by code point. Ranks
written in a file are not believed. A grade below 1 is not relevant.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import UsageError
from ragkit.measures.contract import NDCG, RANK_CUTOFF

RECALL: Final = f"Recall@{RANK_CUTOFF}"
RR: Final = "RR"
"""Reciprocal rank over the whole ranking; MRR of an evaluation is cut at 10."""
MEASURES: Final = (RECALL, RR, NDCG)

_DISCOUNT: Final = np.array([math.nan] + [math.log2(rank + 1) for rank in range(1, RANK_CUTOFF + 1)])
_BLOCK: Final = 50_000  # hits taken at once: bounds the memory, and they stay in the processor's cache

Numbers = Iterable[float]


@dataclass(frozen=True, eq=False, slots=True)
class Qrels:
    """Judgments made ready for scoring; worth keeping when several runs are scored against them.

    `documents[bounds[i]:bounds[i + 1]]` are the relevant documents of `questions[i]` and `grades` theirs, all 1 or
    more; `ideal[i]` is its ideal DCG@10. `without_relevant` has the questions that have none: they are a group of
    their own, which no mean includes.
    """

    questions: tuple[str, ...]
    documents: tuple[str, ...]
    bounds: NDArray[np.int64]
    grades: NDArray[np.int64]
    ideal: NDArray[np.float64]
    without_relevant: tuple[str, ...]

    @classmethod
    def of(cls, judgments: Mapping[str, Mapping[str, int]]) -> Qrels:
        """From question -> document -> grade. Raises `UsageError` for grades that aren't whole numbers and when no
        question has a relevant document."""
        names, counts = list(judgments), _lengths(judgments.values())
        grades = _flat((grades.values() for grades in judgments.values()), counts, "a grade")
        relevant = grades > 0
        if not relevant.any():
            raise UsageError("no question has a relevant document (a grade of 1 or more): there is nothing to score")
        if (grades != np.floor(grades)).any():
            raise UsageError("grades must be whole numbers")
        found = np.bincount(np.repeat(np.arange(len(names)), counts)[relevant], minlength=len(names))
        having = found > 0
        found = found[having]
        kept = grades[relevant].astype(np.int64)
        question = np.repeat(np.arange(len(found)), found)
        bounds = np.concatenate(([0], np.cumsum(found)))
        best_first = kept[np.lexsort((-kept, question))]
        slot = np.arange(1, len(kept) + 1) - bounds[question]
        return cls(
            questions=tuple(compress(names, having)),
            documents=tuple(compress(chain.from_iterable(judgments.values()), relevant.tolist())),
            bounds=bounds,
            grades=kept,
            ideal=_dcg(question, slot, best_first, len(found)),
            without_relevant=tuple(compress(names, ~having)),
        )


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """What a run scores. `values[measure][i]` is that of `questions[i]`, every judged question that has a relevant
    document, in the order of the judgments; in [0, 1].

    Those of them that the run doesn't have are in `missing` too, and score 0. `unjudged` has the run's questions
    that nobody judged, which are ignored.
    """

    questions: tuple[str, ...]
    values: dict[str, NDArray[np.float64]]
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    without_relevant: tuple[str, ...]

    def means(self) -> dict[str, float]:
        """`math.fsum(values) / n` of every measure."""
        return {name: math.fsum(values.tolist()) / len(self.questions) for name, values in self.values.items()}


class Block(Protocol):
    """All hits of some questions: `scores[bounds[i]:bounds[i + 1]]` are those of `questions[i]`, in any order."""

    @property
    def questions(self) -> Sequence[str]: ...
    @property
    def bounds(self) -> NDArray[np.int64]: ...
    @property
    def scores(self) -> NDArray[np.float32]: ...

    def find(self, questions: Sequence[int], documents: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """The scores of `documents[i]` among the hits of question `questions[i]`, one array for all; NaN: no hit."""

    def with_score(self, question: int, score: np.float32) -> list[str]:
        """The documents that have this score."""


def score(qrels: Qrels, run: Mapping[str, Mapping[str, float]] | Iterable[Block]) -> Scores:
    """Score a run: question -> document -> score, or blocks of hits as a reader of run files yields them.

    When a question comes in several blocks, the last one counts. Raises `UsageError` for a score that is not a
    finite number, and when the run has no judged question at all.

    >>> qrels = Qrels.of({"q": {"a": 1, "b": 2, "c": 0}, "missing": {"a": 1}})
    >>> scores = score(qrels, {"q": {"c": 0.9, "b": 0.5, "x": 0.1}})
    >>> scores.means()["RR"], scores.missing
    (0.25, ('missing',))
    """
    index = {question: i for i, question in enumerate(qrels.questions)}
    ranks = np.zeros(len(qrels.documents), dtype=np.int64)
    seen: dict[str, None] = {}
    for block in _blocks(run) if isinstance(run, Mapping) else run:
        seen.update(dict.fromkeys(block.questions))
        judged = np.array([index.get(question, -1) for question in block.questions], dtype=np.int64)
        _rank(qrels, block, judged, ranks)
    if not seen.keys() & index.keys():
        raise UsageError("the run has none of the judged questions: are the question ids the same?")
    judged_questions = index.keys() | set(qrels.without_relevant)
    return Scores(
        qrels.questions,
        _measures(qrels, ranks),
        missing=tuple(question for question in qrels.questions if question not in seen),
        unjudged=tuple(question for question in seen if question not in judged_questions),
        without_relevant=qrels.without_relevant,
    )


def _measures(qrels: Qrels, ranks: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    """From the rank of every relevant document (0: not retrieved), in the order of `qrels.documents`."""
    n = len(qrels.questions)
    relevant = np.diff(qrels.bounds)
    question = np.repeat(np.arange(n), relevant)
    first = np.minimum.reduceat(np.where(ranks > 0, ranks, np.iinfo(np.int64).max), qrels.bounds[:-1])
    top = np.flatnonzero((ranks > 0) & (ranks <= RANK_CUTOFF))
    top = top[np.lexsort((ranks[top], question[top]))]  # sums run in rank order: trec_eval's bits
    return {
        RECALL: np.bincount(question[top], minlength=n) / relevant,
        RR: np.where(first < np.iinfo(np.int64).max, 1 / first, 0.0),
        NDCG: _dcg(question[top], ranks[top], qrels.grades[top], n) / qrels.ideal,
    }


def _dcg(
    question: NDArray[np.int64], rank: NDArray[np.int64], grades: NDArray[np.int64], n: int
) -> NDArray[np.float64]:
    """The sum over each question's ranks up to 10 of grade / log2(rank + 1); added in the order given."""
    top = rank <= RANK_CUTOFF
    gained = grades[top] / _DISCOUNT[rank[top]]
    return np.bincount(question[top], weights=gained, minlength=n).astype(np.float64)


def _rank(qrels: Qrels, block: Block, judged: NDArray[np.int64], ranks: NDArray[np.int64]) -> None:
    """Put the ranks of the relevant documents of the block's questions into `ranks`."""
    here = np.flatnonzero(judged >= 0)
    first, last = qrels.bounds[judged[here]], qrels.bounds[judged[here] + 1]
    question = np.repeat(here, last - first)
    places = np.arange(len(question)) + np.repeat(first - _starts(last - first), last - first)
    documents = [qrels.documents[a:b] for a, b in zip(first.tolist(), last.tolist(), strict=True)]
    scores = block.find(here.tolist(), documents)
    ranks[places] = 0
    found = ~np.isnan(scores)
    question, places, scores = question[found], places[found], scores[found]
    keys = _keys(np.repeat(np.arange(len(block.questions)), np.diff(block.bounds)), block.scores)
    if (keys[1:] < keys[:-1]).any():
        keys.sort()
    wanted = _keys(question, scores)
    at = np.searchsorted(keys, wanted)
    ranks[places] = at - block.bounds[question] + 1
    tied = np.append(keys, -1)[at + 1] == wanted
    equal: dict[tuple[int, float], list[str]] = {}
    for i in np.flatnonzero(tied).tolist():
        group = (int(question[i]), float(scores[i]))
        if group not in equal:
            equal[group] = sorted(block.with_score(group[0], scores[i]))
        ranks[places[i]] += len(equal[group]) - bisect_right(equal[group], qrels.documents[places[i]])


def _keys(question: NDArray[np.int64], scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Numbers that ascend as questions do and, within a question, as scores fall."""
    bits = (scores + np.float32(0)).view(np.int32)  # + 0 turns -0.0 into 0.0, which is equal to it
    ascending = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    return (question << 32) - ascending


def _lengths(parts: Iterable[Mapping[str, float]]) -> NDArray[np.int64]:
    return np.array([len(part) for part in parts], dtype=np.int64)


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.cumsum(lengths) - lengths


def _flat(parts: Iterable[Numbers], lengths: NDArray[np.int64], what: str) -> NDArray[np.float64]:
    try:
        return np.fromiter(chain.from_iterable(parts), dtype=np.float64, count=int(lengths.sum()))
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError(f"{what} is not a number: {error}") from error


@dataclass(frozen=True, eq=False, slots=True)
class _Hits:
    """A block of dictionaries."""

    questions: Sequence[str]
    hits: Sequence[Mapping[str, float]]
    bounds: NDArray[np.int64]
    scores: NDArray[np.float32]

    def find(self, questions: Sequence[int], documents: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        found = chain.from_iterable(map(map, [self.hits[i].get for i in questions], documents))
        return _float32(np.array(list(found), dtype=np.float64))  # None becomes NaN

    def with_score(self, question: int, score: np.float32) -> list[str]:
        equal = self.scores[self.bounds[question] : self.bounds[question + 1]] == score
        return list(compress(self.hits[question], equal.tolist()))


def _blocks(run: Mapping[str, Mapping[str, float]]) -> Iterator[_Hits]:
    names, hits = list(run), list(run.values())
    lengths = _lengths(hits)
    ends = np.cumsum(lengths)
    first = 0
    while first < len(names):
        limit = int(ends[first] - lengths[first]) + _BLOCK
        last = max(first + 1, int(np.searchsorted(ends, limit, side="right")))
        scores = _flat((part.values() for part in hits[first:last]), lengths[first:last], "a score")
        if not np.isfinite(scores).all():
            raise UsageError(f"question {_not_finite(run, names[first:last])}: scores must be finite numbers")
        bounds = np.concatenate(([0], np.cumsum(lengths[first:last])))
        yield _Hits(names[first:last], hits[first:last], bounds, _float32(scores))
        first = last


def _not_finite(run: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> str:
    return next(
        f"{name} gives {document} the score {score}"
        for name in names
        for document, score in run[name].items()
        if not math.isfinite(score)
    )


def _float32(scores: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # beyond its range all are equal, as in trec_eval
        return scores.astype(np.float32)
