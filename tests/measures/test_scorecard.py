"""A whole run, scored question by question and summarised."""

import json
import math
from dataclasses import replace

import pytest

from ragkit.errors import DataError, UsageError
from ragkit.measures import (
    CONTRACT,
    MEASURES,
    Scorer,
    count_losses,
    coverable_share,
    leave_out_unreached,
    summarise,
    summarise_by_type,
    tie_exposure,
)
from ragkit.records import Hit, Judgment, Trace

RANK_MEASURES = ["Recall@1", "Recall@5", "Recall@10", "MRR", "nDCG@10"]


@pytest.fixture(scope="module")
def corpus(document, chunk):
    """12 documents of three 10-letter blocks, one chunk each block: 36 chunks."""
    documents = [document(f"d{i:02}", *(letter * 10 for letter in "abc")) for i in range(12)]
    chunks = [chunk(d, block.start, block.end, index) for d in documents for index, block in enumerate(d.blocks)]
    return documents, chunks


@pytest.fixture
def scorer(corpus, letters):
    def make(**options):
        return Scorer(*corpus, letters, **{"depth": 10, "candidate_k": 36, "seed": 1, **options})

    return make


@pytest.fixture(scope="module")
def trace(corpus):
    """`trace((document, block), ...)`: these chunks in this order, scores falling unless given."""
    _, chunks = corpus

    def make(*places, scores=None):
        hits = tuple(
            Hit(chunks[3 * d + b], scores[i] if scores else 1 - i / 100, i + 1) for i, (d, b) in enumerate(places)
        )
        return Trace(hits, hits, hits)

    return make


@pytest.fixture(scope="module")
def judged(corpus, target, question):
    """`judged((document, block), ...)`: a question with its targets, a group each."""
    documents, _ = corpus

    def make(*places, name="q", kind=None, grades=None):
        grades = grades or [1] * len(places)
        labels = [Judgment(f"d{d:02}", block=b, grade=g) for (d, b), g in zip(places, grades, strict=True)]
        targets = [target(documents[d], "block", b, group=i, grade=grades[i]) for i, (d, b) in enumerate(places)]
        return question(*labels, name=name, kind=kind), targets

    return make


def test_one_question_by_hand(scorer, trace, judged):
    score = scorer().score(*judged((0, 0), (1, 1)), trace((5, 0), (0, 0), (1, 1), (0, 1)))
    assert score.values == {
        "Recall@1": 0.0,
        "Recall@5": 1.0,
        "Recall@10": 1.0,
        "MRR": 0.5,
        "nDCG@10": (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3)),
        "EvidenceRecall@5": 1.0,
        "EvidencePrecision@5": 0.5,
        "Recall@1000tok": 1.0,
        "Recall@2000tok": 1.0,
        "Recall@4000tok": 1.0,
    }
    assert list(score.values) == list(MEASURES)
    assert score.covered == ((), (0,), (1,), ())
    assert score.first_ranks == (2, 3)
    assert score.slots[:4] == (None, 0, 1, None)
    assert score.chance["Recall@1"] == pytest.approx(1 / 36)
    assert score.chance["Recall@1000tok"] == 1.0  # the corpus has 360 tokens
    assert score.coverable == (True, True)
    assert score.losses == ()


def test_hits_beyond_the_depth_are_not_scored_but_fill_the_budget(scorer, trace, judged):
    places = [(d, 0) for d in range(12)]
    score = scorer().score(*judged((11, 0)), trace(*places))
    assert len(score.ranking) == 10
    assert score.first_ranks == (None,)
    assert score.values["Recall@10"] == 0.0
    assert score.values["Recall@1000tok"] == 1.0
    assert [loss.stage for loss in score.losses] == ["rank"]


def test_unanswered_question_scores_0_and_counts(scorer, trace, judged):
    s = scorer()
    scores = [s.score(*judged((0, 0)), None), s.score(*judged((0, 0)), trace((0, 0)))]
    assert set(scores[0].values.values()) == {0.0}
    assert summarise(scores, draws=100, seed=1)["Recall@1"].mean == 0.5


def test_question_without_judgments_is_never_averaged_in(scorer, trace, judged, question):
    s = scorer()
    unanswerable = s.score(question(name="none"), [], trace((0, 0)))
    assert not unanswerable.judged
    assert unanswerable.values == {}
    assert unanswerable.top_score == 1.0
    estimate = summarise([s.score(*judged((0, 0)), trace((0, 0))), unanswerable], draws=100, seed=1)["Recall@1"]
    assert (estimate.mean, estimate.n) == (1.0, 1)


def test_nothing_judged_is_an_error(scorer, question):
    with pytest.raises(UsageError, match="no judged question"):
        summarise([], draws=100, seed=1)
    unjudged = scorer().score(question(), [], None)
    for summary in (tie_exposure, coverable_share, lambda s: summarise_by_type(s, draws=100, seed=1)):
        with pytest.raises(UsageError, match="no judged question"):
            summary([unjudged])


def test_corpus_without_chunks_is_an_error(corpus, letters):
    with pytest.raises(DataError, match="no-chunks"):
        Scorer(corpus[0], [], letters, depth=10, candidate_k=100, seed=1)


def test_fewer_candidates_than_the_depth_are_refused(scorer):
    with pytest.raises(UsageError, match=r"candidate_k = 9: rankings are judged to 10"):
        scorer(depth=5, candidate_k=9)
    assert scorer(depth=5).depth == 10
    assert scorer(depth=20).depth == 20


def test_a_budget_that_the_candidates_cannot_fill_is_named(scorer, trace, judged):
    places = [(d, 0) for d in range(12)]
    assert scorer(candidate_k=12).score(*judged((0, 0)), trace(*places)).unreached == (
        "Recall@1000tok", "Recall@2000tok", "Recall@4000tok",
    )  # fmt: skip
    exhausted = scorer(candidate_k=13).score(*judged((0, 0)), trace(*places))  # the retriever had no more to give
    assert exhausted.unreached == ()


def test_a_budget_that_one_question_cannot_fill_is_left_out_for_all(scorer, trace, judged):
    places = [(d, 0) for d in range(12)]
    short = scorer(candidate_k=12).score(*judged((0, 0)), trace(*places))
    full = scorer(candidate_k=13).score(*judged((0, 0)), trace(*places))
    kept, names = leave_out_unreached([full, short])
    assert names == ["Recall@1000tok", "Recall@2000tok", "Recall@4000tok"]
    for score in kept:
        assert set(score.values).isdisjoint(names)
        assert set(score.chance).isdisjoint(names)
        assert set(score.bounds).isdisjoint(names)
        assert "Recall@5" in score.values
    assert leave_out_unreached([full]) == ([full], [])


def test_budget_is_not_refused_when_every_chunk_of_the_corpus_is_a_candidate(scorer, trace, judged):
    everything = [(d, b) for d in range(12) for b in range(3)]
    score = scorer(candidate_k=36).score(*judged((11, 2)), trace(*everything))
    assert score.values["Recall@1000tok"] == 1.0


def test_unlocated_judgment_still_counts(scorer, trace, judged):
    """With drift allowed, a lost quote lowers recall and is blamed on parsing."""
    q, targets = judged((0, 0), (1, 0))
    score = scorer().score(q, targets[:1], trace((0, 0)))
    assert score.values["Recall@5"] == 0.5
    assert score.values["Recall@1000tok"] == 0.5
    assert [(loss.judgment, loss.stage) for loss in score.losses] == [(1, "parse")]
    assert score.coverable == (True, False)
    assert count_losses([score])["parse"] == 1


def test_page_judgments_leave_evidence_out(scorer, trace, corpus, target, question):
    documents, _ = corpus
    s = scorer()
    score = s.score(question(Judgment("d00")), [target(documents[0], "document")], trace((0, 2)))
    assert "EvidenceRecall@5" not in score.values
    assert score.values["Recall@1"] == 1.0
    assert "EvidenceRecall@5" not in summarise([score], draws=100, seed=1)


def test_uncoverable_judgment_is_blamed_on_chunking(corpus, letters, trace, target, question):
    """A quote longer than every chunk of its document."""
    documents, chunks = corpus
    quote = replace(target(documents[0], "block", 0), kind="quote")
    halves = [replace(c, spans=(replace(c.spans[0], end=c.end - 1),)) for c in chunks]
    s = Scorer(documents, halves, letters, depth=10, candidate_k=36, seed=1)
    score = s.score(question(Judgment("d00", quote="a" * 10)), [quote], trace((0, 0)))
    assert [loss.stage for loss in score.losses] == ["chunk"]
    assert coverable_share([score]) == 0.0
    assert score.chance["Recall@10"] == 0.0


def test_tie_at_a_cutoff_is_exposed(scorer, trace, judged):
    """Six hits of one score, the covering one fifth or sixth by corpus order: Recall@5 hangs on it."""
    places = [(d, 0) for d in range(6)]
    s = scorer()
    tied = s.score(*judged((5, 0)), trace(*places, scores=[0.5] * 6))
    clear = s.score(*judged((0, 0)), trace(*places))
    assert tied.bounds["Recall@5"] == (0.0, 1.0)
    assert tied.bounds["MRR"] == (1 / 6, 1.0)
    exposure = tie_exposure([tied, clear])
    assert (exposure["Recall@5"].questions, exposure["Recall@5"].worst, exposure["Recall@5"].best) == (1, 0.5, 1.0)
    assert exposure["Recall@10"].questions == 0
    assert "EvidenceRecall@5" not in exposure


def test_value_lies_within_its_tie_bounds(scorer, trace, judged):
    score = scorer().score(*judged((2, 0), (7, 1)), trace(*((d, d % 2) for d in range(12)), scores=[0.5] * 12))
    assert all(worst <= score.values[name] <= best for name, (worst, best) in score.bounds.items())
    assert list(score.bounds) == [name for name in MEASURES if not name.startswith("Evidence")]


def test_types_are_summarised_apart(scorer, trace, judged):
    s = scorer()
    scores = [
        s.score(*judged((0, 0), kind="fact"), trace((0, 0))),
        s.score(*judged((0, 0), kind="table"), trace((1, 0))),
        s.score(*judged((0, 0)), trace((0, 0))),
    ]
    by_type = summarise_by_type(scores, draws=100, seed=1)
    assert {kind: (e["Recall@1"].mean, e["Recall@1"].n) for kind, e in by_type.items()} == {
        "(none)": (1.0, 1),
        "fact": (1.0, 1),
        "table": (0.0, 1),
    }


def test_chance_stands_beside_every_recall_and_nothing_else(scorer, trace, judged):
    found = summarise([scorer().score(*judged((0, 0)), trace((0, 0)))], draws=100, seed=1)
    assert [name for name in found if found[name].chance is not None] == [
        name for name in MEASURES if name.startswith("Recall")
    ]


def test_measures_are_named_as_reports_name_them():
    expected = (
        *RANK_MEASURES,
        "EvidenceRecall@5",
        "EvidencePrecision@5",
        "Recall@1000tok",
        "Recall@2000tok",
        "Recall@4000tok",
    )
    assert expected == MEASURES


def test_contract_is_plain_json():
    assert json.loads(json.dumps(CONTRACT)) == CONTRACT


class TestDocumentUnit:
    def test_ranking_is_collapsed_before_scoring(self, scorer, trace, judged):
        """Six chunks of d05 before the judged d00, whose other block is retrieved: rank 2."""
        q, targets = judged((0, 0), (0, 1), (3, 0), grades=[1, 3, 2])
        score = scorer(unit="document").score(q, targets, trace((5, 0), (5, 1), (5, 2), (0, 2), (0, 0)))
        assert score.judged_documents == ("d00", "d03")
        assert score.grades == (3, 2)
        assert [hit.chunk.slug for hit in score.ranking] == ["d05", "d00"]
        assert list(score.values) == RANK_MEASURES
        assert score.values["MRR"] == 0.5
        assert score.values["Recall@5"] == 0.5
        assert score.chance == {"Recall@1": 1 / 12, "Recall@5": 5 / 12, "Recall@10": 10 / 12}
        assert [(loss.judgment, loss.stage) for loss in score.losses] == [(1, "candidates")]

    def test_too_few_documents_among_the_candidates_are_refused(self, scorer, trace, judged):
        places = [(d, b) for d in range(4) for b in range(3)]
        q = judged((0, 0))
        with pytest.raises(UsageError, match=r"12 candidates come from 4 documents, 10 are wanted: raise"):
            scorer(unit="document", candidate_k=12).score(*q, trace(*places))
        scorer(unit="document", candidate_k=13).score(*q, trace(*places))
