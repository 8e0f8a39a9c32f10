"""ragkit's measures against a slow, obvious implementation of their definitions, and against pytrec_eval."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkit.dataset.resolve import DRIFT, resolve
from ragkit.errors import DataError
from ragkit.interop import trec
from ragkit.measures import QuestionScore, Scorer
from ragkit.measures.losses import STAGES
from ragkit.measures.ranking import first_ranks, ndcg, recall, reciprocal_rank
from ragkit.records import Block, Chunk, Document, Hit, Judgment, Question, Span, Target, Trace
from tests.proof.reference import Reference

CASES = 10_000
SHARES = 20
"""The cases are shared out over so many tests, so that they run beside each other."""
TOKENS_PER_CHARACTER = 23
"""So many tokens for each character, that a few short chunks fill the budgets."""


def tokens(text: str) -> list[tuple[int, int]]:
    return [(i, i + 1) for i, c in enumerate(text) if not c.isspace() for _ in range(TOKENS_PER_CHARACTER)]


def seeded(name: str) -> random.Random:
    return random.Random(name)  # noqa: S311 - reproducible, not secret


class World:
    """A random corpus, its chunks, and questions with rankings."""

    def __init__(self, draw: random.Random, chunks: int = 30) -> None:
        self.draw, self._words = draw, itertools.count()
        self.documents = [self._document(f"d{number}.md") for number in range(draw.randint(1, 3))]
        made = [self._chunk(draw.choice(self.documents)) for _ in range(draw.randint(2, chunks))]
        numbers: dict[str, itertools.count[int]] = {d.slug: itertools.count() for d in self.documents}
        self.chunks = [
            Chunk(c.slug, next(numbers[c.slug]), c.start, c.end, c.text, c.spans)
            for c in sorted(made, key=lambda c: (c.slug, c.start))
        ]
        self.top_k = draw.choice((1, 5, 10, 12))

    def _document(self, slug: str) -> Document:
        draw, text, blocks, page = self.draw, "", [], 1
        paged = draw.random() < 0.5
        for order in range(draw.randint(1, 5)):
            text += "\n\n" if text else ""
            # No word stands twice or in another one, so a quote of whole words stands once.
            long = draw.random() < 0.1
            words = [f"w{next(self._words)}x" for _ in range(draw.randint(90, 130) if long else draw.randint(1, 9))]
            block = draw.choice((" ", "  ", "\n")).join(words)
            page += paged and draw.random() < 0.3
            blocks.append(
                Block(order, "paragraph", page if paged else None, (), block, len(text), len(text) + len(block))
            )
            text += block
        return Document(slug, "text", slug, text, tuple(blocks), page if paged else None, "0")

    def _chunk(self, document: Document) -> Chunk:
        while True:
            start = self.draw.randrange(len(document.text))
            end = start + self.draw.choice((3, 10, 25, 60, 400))
            end = min(end, len(document.text))
            spans = tuple(
                Span(block.order, max(start, block.start), min(end, block.end))
                for block in document.blocks
                if max(start, block.start) < min(end, block.end)
            )
            if spans:
                return Chunk(document.slug, 0, start, end, document.text[start:end], spans)

    def question(self) -> Question:
        draw, judgments = self.draw, []
        for _ in range(draw.randint(1, 5)):
            document = draw.choice(self.documents)
            block = draw.choice(document.blocks)
            form = draw.choice(("quote", "quote", "placed quote", "block", "page", "document", "lost quote"))
            words = block.text.split()
            first = draw.randrange(len(words))
            start = block.text.index(words[first])
            end = block.text.index(words[min(len(words) - 1, first + draw.randint(0, 4))])
            quote = block.text[start : end + len(block.text[end:].split()[0])]
            kinds = {
                "quote": {"quote": quote},
                "placed quote": {"quote": quote, "block": block.order},
                "lost quote": {"quote": "not there"},
                "block": {"block": block.order},
                "page": {"page": block.page} if block.page is not None else {"block": block.order},
                "document": {},
            }
            group = draw.choice((None, None, "same fact"))
            judgments.append(Judgment(document.slug, grade=draw.randint(1, 3), group=group, **kinds[form]))  # type: ignore[arg-type]
        return Question("q", "?", tuple(dict.fromkeys(judgments)), None, None, True, 1)

    def hits(self, chunks: Sequence[Chunk], levels: int = 4) -> tuple[Hit, ...]:
        """Random scores, many of them equal, in the order that every ranking has."""
        scored = [(self.draw.randint(0, levels) / 8, chunk) for chunk in chunks]
        scored.sort(key=lambda pair: (-pair[0], pair[1].slug, pair[1].start, pair[1].index))
        return tuple(Hit(chunk, score, rank) for rank, (score, chunk) in enumerate(scored, start=1))

    def trace(self, *, reranked: bool) -> Trace:
        draw = self.draw
        count = draw.choice((0, 1, 3, len(self.chunks), len(self.chunks)))
        candidates = self.hits(draw.sample(self.chunks, min(count, len(self.chunks))))
        threshold = draw.choice((-1.0, 0.0, 0.125, 0.375))
        kept = tuple(hit for hit in candidates if hit.score >= threshold)
        hits = self.hits([hit.chunk for hit in kept]) if reranked and draw.random() < 0.5 else kept
        return Trace(candidates, kept, hits)

    def targets(self, question: Question) -> list[Target]:
        """Located by ragkit; as a run does it, those that are nowhere left out."""
        found = resolve([question], self.documents, "questions.jsonl")
        assert {problem.rule for problem in found.problems} <= DRIFT | {"duplicate-judgment"}
        return [target for target in found.targets["q"] if target.spans or target.kind == "document"]

    @cached_property
    def scorer(self) -> Scorer:
        return Scorer(self.documents, self.chunks, tokens, depth=self.top_k, candidate_k=100, seed=1)

    @cached_property
    def reference(self) -> Reference:
        return Reference(self.documents, self.chunks, tokens, self.top_k)

    def score(self, question: Question, trace: Trace) -> QuestionScore:
        return self.scorer.score(question, self.targets(question), trace)


def check_question(world: World) -> QuestionScore:
    """One question of the world, every measure equal to the last bit."""
    question, trace = world.question(), world.trace(reranked=True)
    found, reference = world.score(question, trace), world.reference
    chunks = [hit.chunk for hit in trace.hits]
    assert dict(found.values) == reference.values(question, chunks)
    assert list(found.first_ranks) == reference.first_ranks(question, chunks)
    assert list(found.grades) == reference.grades(question)
    assert {loss.judgment: loss.stage for loss in found.losses} == reference.losses(question, trace)
    assert all(loss.nearest_wrong == reference.nearest_wrong(question, trace) for loss in found.losses)
    assert all(0 <= value <= 1 for value in found.values.values())
    return found


MEASURES = {"recall_1": "Recall@1", "recall_5": "Recall@5", "recall_10": "Recall@10", "recip_rank": "MRR",
            "ndcg_cut_10": "nDCG@10"}  # fmt: skip


def judged(qrels: trec.Qrels, run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recall.1,5,10", "recip_rank", "ndcg_cut.10"})
    found = evaluator.evaluate(run)
    return {q: {MEASURES[name]: value for name, value in values.items()} for q, values in found.items()}


def check_export(scores: Mapping[str, QuestionScore], folder: Path) -> None:
    """nDCG always agrees; recall and reciprocal rank where no hit covers two judgments."""
    qrels = {name: trec.passage_judgments(score.grades) for name, score in scores.items()}
    rankings = {name: trec.passage_ranking(score.slots, len(score.ranking)) for name, score in scores.items()}
    (folder / "qrels").write_text(trec.format_qrels(qrels), encoding="utf-8")
    (folder / "run").write_text(trec.format_run(rankings), encoding="utf-8")
    run = {question: dict(ranking) for question, ranking in trec.read_run(folder / "run").items()}
    theirs = judged(trec.read_qrels(folder / "qrels"), run)
    alone = 0
    for name, score in scores.items():
        if not rankings[name]:  # nothing retrieved leaves no line, and pytrec_eval no result
            assert set(score.values.values()) == {0.0}
            continue
        found = theirs[trec.escape(name)]
        assert found["nDCG@10"] == score.values["nDCG@10"]
        if all(len(groups) < 2 for groups in score.covered):
            alone += 1
            if found["MRR"] < 1 / 10:  # it has no cut-off there
                found["MRR"] = 0.0
            assert found == {measure: score.values[measure] for measure in found}
    assert alone > len(scores) / 10


@pytest.mark.parametrize("share", range(SHARES))
def test_every_measure_is_what_its_definition_says_and_pytrec_eval_agrees(share: int, tmp_path: Path) -> None:
    draw = seeded(f"measures {share}")
    scores: dict[str, QuestionScore] = {}
    for _ in range(CASES // SHARES // 25):
        world = World(draw)
        for _ in range(25):
            scores[f"q {len(scores)}"] = check_question(world)
    assert {loss.stage for score in scores.values() for loss in score.losses} == set(STAGES)
    check_export(scores, tmp_path)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_every_measure_is_what_its_definition_says_where_hypothesis_looks(draw: random.Random) -> None:
    check_question(World(draw))


@pytest.mark.parametrize("share", range(SHARES))
def test_chance_is_the_mean_over_all_orders(share: int) -> None:
    """Exact for Recall@k; for token budgets ragkit draws 1,000 orders, so six standard errors are allowed."""
    draw = seeded(f"chance {share}")
    for _ in range(5):
        world = World(draw, chunks=5)
        question = world.question()
        found, exact = world.score(question, world.trace(reranked=False)).chance, world.reference.chance(question)
        assert found.keys() == exact.keys()
        for name, value in exact.items():
            assert found[name] == pytest.approx(value, abs=0.095 if name.endswith("tok") else 1e-12), name


@pytest.mark.parametrize("share", range(SHARES))
def test_the_bounds_of_ties_hold_every_order_that_ties_allow(share: int) -> None:
    draw = seeded(f"ties {share}")
    for _ in range(10):
        world = World(draw, chunks=7)
        question, reference = world.question(), world.reference
        hits = world.hits(world.chunks, levels=6)
        trace = Trace(hits, hits, hits)
        found = world.score(question, trace)
        orders = list(reference.orders(hits))
        values = [reference.values(question, order) for order in orders]
        for name, (worst, best) in found.bounds.items():
            reached = [value[name] for value in values]
            assert worst <= min(reached), name
            assert max(reached) <= best, name
            if len(found.grades) == 1 and not name.endswith("tok"):  # one judgment: they are attained
                assert (worst, best) == (min(reached), max(reached)), name


def test_runs_of_documents_score_the_same_in_pytrec_eval(tmp_path: Path) -> None:
    """Graded judgments, ties, questions without hits; the order is that of the files, read by each."""
    draw = seeded("documents")
    qrels: trec.Qrels = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(CASES):
        pool = [f"d{at}" for at in range(draw.choice((1, 3, 20)))]
        grades = {slug: draw.randint(0, 3) for slug in draw.sample(pool, draw.randint(1, len(pool)))}
        ranked = draw.sample(pool, draw.randint(0, min(10, len(pool))))
        qrels[f"q{number}"] = grades
        run[f"q{number}"] = {slug: draw.randint(0, 3) / 4 for slug in ranked}
    lines = [
        f"{question} Q0 {slug} 0 {score} x\n" for question, scores in run.items() for slug, score in scores.items()
    ]
    draw.shuffle(lines)
    (tmp_path / "run").write_text("".join(lines))
    theirs, ours = judged(qrels, run), trec.read_run(tmp_path / "run")
    ties = 0
    for question, grades in qrels.items():
        relevant = {slug: grade for slug, grade in grades.items() if grade > 0}
        ranking = [slug for slug, _ in ours.get(question, [])]
        ties += len(set(run[question].values())) < len(ranking)
        if not relevant or not ranking:
            assert not any(theirs.get(question, {}).values())
            continue
        order = list(relevant)
        ranks = first_ranks([[order.index(slug)] if slug in relevant else [] for slug in ranking], len(order))
        found = {f"Recall@{k}": recall(ranks, k, 10) for k in (1, 5, 10)}
        found |= {"MRR": reciprocal_rank(ranks, 10), "nDCG@10": ndcg(ranks, list(relevant.values()), 10)}
        assert theirs[question] == found
    assert ties > CASES / 4


def test_a_document_ranked_twice_is_no_ranking(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 d 1 2 x\nq Q0 d 2 1 x\n")
    with pytest.raises(DataError, match="ranks d again"):
        trec.read_run(tmp_path / "run")


def test_the_reference_itself_gives_the_examples_of_the_definition() -> None:
    reference = Reference([], [], tokens, 10)

    def of(covered: list[set[str]], grades: dict[str, int]) -> float:
        ranks = first_ranks([[list(grades).index(j) for j in hit if j in grades] for hit in covered], len(grades))
        return reference.of_ranks(ranks, list(grades.values()))["nDCG@10"]

    one = {"A": 1}
    assert of([{"A"}, {"A"}, {"A"}], one) == 1
    assert of([{"A", "B"}], {"A": 1, "B": 1}) == 1
    assert of([{"A", "B"}, {"x"}, {"C"}], {"A": 1, "B": 1, "C": 1}) == 1
    assert of([{"A"}, {"A"}, {"B"}], {"A": 1, "B": 1}) == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    graded = {"A": 1, "B": 1, "C": 3}
    assert of([{"A"}, {"B", "C"}], graded) == pytest.approx(0.8213, abs=5e-5)
    assert of([{"A", "B"}, {"C"}], graded) == pytest.approx(0.8213, abs=5e-5)
