"""Scores the questions of one run, one by one; `summary` takes the means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from ragkit.errors import DataError, Problem, UsageError
from ragkit.measures import contract
from ragkit.measures.budget import Tokens, TokenSpans, covered_within, reaches, starts
from ragkit.measures.chance import BudgetChance, document_chance, recall_chance
from ragkit.measures.coverage import ChunkIndex, Coverage
from ragkit.measures.document_unit import collapse, document_grades
from ragkit.measures.evidence import evidence
from ragkit.measures.labels import group_grades
from ragkit.measures.losses import Loss, find_losses
from ragkit.measures.ranking import FirstRanks, first_ranks, ndcg, recall, reciprocal_rank, slots
from ragkit.measures.ties import rank_bounds, start_bounds
from ragkit.records import Chunk, Document, Hit, Question, Target, Trace

Unit = Literal["passage", "document"]


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """Everything that is known about one question once it has been answered.

    A judgment is a group in label order; in the document unit a judged document. `ranking` is what was
    scored: the first `depth` hits, one per document in the document unit; `covered` has the judgments
    that each covers. `slots` are the judgments' places for nDCG and for export, over the whole depth.
    `values`, `chance` and `bounds` (worst, best over tied orders) go by measure name; a measure that is
    not defined here (evidence without a judged quote or block) is absent. A question without judgments
    has none of them: `judged` is false. `unreached` names the token budgets that its candidates do not
    fill, whose values are not to be used (`leave_out_unreached`).
    """

    id: str
    type: str | None
    grades: tuple[int, ...]
    judged_documents: tuple[str, ...]
    ranking: tuple[Hit, ...]
    covered: tuple[tuple[int, ...], ...]
    first_ranks: tuple[int | None, ...] = ()
    slots: tuple[int | None, ...] = ()
    values: Mapping[str, float] = field(default_factory=dict)
    chance: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    coverable: tuple[bool, ...] = ()
    losses: tuple[Loss, ...] = ()
    unreached: tuple[str, ...] = ()

    @property
    def judged(self) -> bool:
        return bool(self.grades)

    @property
    def top_score(self) -> float | None:
        """Score of the first hit; `None` without hits."""
        return self.ranking[0].score if self.ranking else None


@dataclass(frozen=True, slots=True)
class _View:
    """One question in the chosen unit: judgments, what of them exists, and what a chunk covers.

    `near` has the chunks (their positions) that hold any part of a target; empty in the document unit.
    """

    grades: tuple[int, ...]
    documents: tuple[str, ...]
    located: tuple[bool, ...]
    counts: tuple[int, ...]
    covered: Callable[[Chunk], tuple[int, ...]]
    trace: Trace
    near: frozenset[int] = frozenset()


class Scorer:
    """Scores questions of one run against one parsed and chunked corpus.

    `depth` is the requested top_k; rankings are judged to at least 10. `candidate_k` is how many
    candidates the retriever was asked for: a trace with fewer means it had no more to give. `seed` is
    that of the random orders behind the chance level of token budgets.

    Raises `DataError` when the corpus has no chunks, `UsageError` when the candidates are too few for
    the depth.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        chunks: Sequence[Chunk],
        token_spans: TokenSpans,
        *,
        depth: int,
        candidate_k: int,
        seed: int,
        unit: Unit = "passage",
    ) -> None:
        if not chunks:
            raise DataError([Problem("corpus", 0, "no-chunks", "nothing to retrieve", "add documents with text")])
        self.depth = max(depth, contract.RANK_CUTOFF)
        self.unit: Unit = unit
        self._candidate_k = candidate_k
        if candidate_k < min(self.depth, len(chunks)):
            raise UsageError(
                f"retrieval.candidate_k = {candidate_k}: rankings are judged to {self.depth}: make it at least that"
            )
        self._coverage = Coverage(documents)
        self._index = ChunkIndex(self._coverage, chunks)
        self._documents = len({chunk.slug for chunk in chunks})
        self._tokens = Tokens(token_spans)
        self._seed = seed
        self._budget_chance: BudgetChance | None = None

    def score(self, question: Question, targets: Sequence[Target], trace: Trace | None) -> QuestionScore:
        """Score one question. `trace` is `None` when the run does not answer it, which scores 0.

        `targets` are the judgments that were located; grades and denominators come from the labels, so
        a judgment that was not located still counts. Raises `UsageError` when in the document unit the
        candidates do not reach `depth` documents and the corpus is not exhausted.
        """
        view = self._view(question, targets, trace or Trace((), (), ()))
        hits = view.trace.hits
        covered = [view.covered(hit.chunk) for hit in hits]
        score = QuestionScore(
            id=question.id,
            type=question.type,
            grades=view.grades,
            judged_documents=view.documents,
            ranking=hits[: self.depth],
            covered=tuple(covered[: self.depth]),
        )
        if not score.judged:
            return score
        ranks = first_ranks(covered[: self.depth], len(view.grades))
        best, worst = rank_bounds([hit.score for hit in hits], covered, len(view.grades))
        values = self._rank_measures(ranks, view.grades)
        lows, highs = self._rank_measures(worst, view.grades), self._rank_measures(best, view.grades)
        chance = {
            name: self._recall_chance(view.counts, k)
            for name, k in zip(contract.RECALLS, contract.RECALL_CUTOFFS, strict=True)
        }
        if self.unit == "passage":
            self._add_text_measures(targets, view, values, (lows, highs), chance)
        coverable = tuple(count > 0 for count in view.counts)
        return replace(
            score,
            first_ranks=ranks,
            slots=slots(ranks, view.grades, self.depth),
            values={name: values[name] for name in contract.MEASURES if name in values},
            chance=chance,
            bounds={name: (lows[name], highs[name]) for name in contract.MEASURES if name in lows},
            coverable=coverable,
            losses=find_losses(view.trace, view.covered, self.depth, view.located, coverable),
            unreached=self._unreached(view),
        )

    def _add_text_measures(
        self,
        targets: Sequence[Target],
        view: _View,
        values: dict[str, float],
        bounds: tuple[dict[str, float], dict[str, float]],
        chance: dict[str, float],
    ) -> None:
        """Evidence and token budgets, which look at the retrieved text."""
        hits = view.trace.hits
        found = evidence(self._coverage, [hit.chunk for hit in hits[: contract.EVIDENCE_CUTOFF]], targets)
        if found is not None:
            values.update(zip(contract.EVIDENCE, found, strict=True))
        positions = self._positions(hits)
        lengths = [self._lengths[position] for position in positions]
        holding = [place for place, position in enumerate(positions) if position in view.near]
        chunks = [hits[place].chunk for place in holding]
        before = starts(lengths)
        fewest, most = start_bounds([hit.score for hit in hits], lengths, holding)
        for into, start in zip((values, *bounds), ([before[place] for place in holding], most, fewest), strict=True):
            into.update(self._budget_recalls(chunks, start, targets, len(view.grades)))
        groups = [[target for target in targets if target.group == group] for group in range(len(view.grades))]
        shares = self._chances().recalls(groups)
        chance.update(zip(contract.BUDGET_RECALLS, shares, strict=True))

    def _view(self, question: Question, targets: Sequence[Target], trace: Trace) -> _View:
        if self.unit == "document":
            return self._document_view(question, trace)
        grades = group_grades(question.relevant)
        covering: list[set[int]] = [set() for _ in grades]
        near: set[int] = set()
        for target in targets:
            near.update(self._index.overlapping(target))
            covering[target.group].update(self._index.covering(target))
        judgments_at: dict[tuple[str, int], tuple[int, ...]] = {}
        for judgment, positions in enumerate(covering):
            for position in positions:
                chunk = self._index.chunks[position]
                place = (chunk.slug, chunk.index)
                judgments_at[place] = (*judgments_at.get(place, ()), judgment)
        located = {target.group for target in targets}
        return _View(
            grades=grades,
            documents=(),
            located=tuple(judgment in located for judgment in range(len(grades))),
            counts=tuple(map(len, covering)),
            covered=lambda chunk: judgments_at.get((chunk.slug, chunk.index), ()),
            trace=trace,
            near=frozenset(near),
        )

    def _document_view(self, question: Question, trace: Trace) -> _View:
        grades = document_grades(question.relevant)
        judgment = {slug: j for j, slug in enumerate(grades)}
        collapsed = Trace(collapse(trace.candidates), collapse(trace.kept), collapse(trace.hits))
        wanted = min(self.depth, self._documents)
        if len(collapsed.candidates) < wanted and not self._exhausted(trace):
            raise UsageError(
                f"question {question.id}: the {len(trace.candidates)} candidates come from"
                f" {len(collapsed.candidates)} documents, {wanted} are wanted: raise retrieval.candidate_k"
            )
        return _View(
            grades=tuple(grades.values()),
            documents=tuple(grades),
            located=tuple(slug in self._coverage for slug in grades),
            counts=tuple(len(self._index.of_document(slug)) for slug in grades),
            covered=lambda chunk: (judgment[chunk.slug],) if chunk.slug in judgment else (),
            trace=collapsed,
        )

    def _rank_measures(self, ranks: FirstRanks, grades: Sequence[int]) -> dict[str, float]:
        cutoffs = zip(contract.RECALLS, contract.RECALL_CUTOFFS, strict=True)
        return {
            **{name: recall(ranks, k, self.depth) for name, k in cutoffs},
            contract.MRR: reciprocal_rank(ranks, self.depth),
            contract.NDCG: ndcg(ranks, grades, self.depth),
        }

    def _recall_chance(self, counts: Sequence[int], k: int) -> float:
        if self.unit == "document":
            return document_chance(self._documents, k)
        return recall_chance(counts, len(self._index.chunks), k)

    def _budget_recalls(
        self, chunks: Sequence[Chunk], before: Sequence[int], targets: Sequence[Target], judgments: int
    ) -> dict[str, float]:
        return {
            name: len(covered_within(budget, chunks, before, targets, self._tokens, self._coverage)) / judgments
            for name, budget in zip(contract.BUDGET_RECALLS, contract.TOKEN_BUDGETS, strict=True)
        }

    def _unreached(self, view: _View) -> tuple[str, ...]:
        """The token budgets that this question's candidates don't fill although the retriever had more to give."""
        if self.unit == "document" or self._exhausted(view.trace):
            return ()
        lengths = [self._lengths[position] for position in self._positions(view.trace.candidates)]
        budgets = zip(contract.BUDGET_RECALLS, contract.TOKEN_BUDGETS, strict=True)
        return tuple(name for name, budget in budgets if not reaches(budget, lengths))

    def _exhausted(self, trace: Trace) -> bool:
        return len(trace.candidates) < self._candidate_k or len(trace.candidates) >= len(self._index.chunks)

    def _positions(self, hits: Sequence[Hit]) -> list[int]:
        return [self._index.position(hit.chunk) for hit in hits]

    @cached_property
    def _lengths(self) -> list[int]:
        """Tokens of each chunk, by position."""
        return [self._tokens.count(chunk) for chunk in self._index.chunks]

    def _chances(self) -> BudgetChance:
        if self._budget_chance is None:
            self._budget_chance = BudgetChance(
                self._index, self._tokens, self._coverage, budgets=contract.TOKEN_BUDGETS, seed=self._seed
            )
        return self._budget_chance
