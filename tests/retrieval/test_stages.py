"""BM25, fusion and reranking: what they score, what a trace says, and what always holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ragkit.chunking.spans import chunks_of
from ragkit.config import RetrievalConfig
from ragkit.embedding.hashing import HashingEncoder
from ragkit.errors import EncodingError, ModelError
from ragkit.measures.losses import find_losses
from ragkit.records import Chunk, Document, Hit, Span, Trace
from ragkit.retrieval import Retriever, build_retriever, index_bytes
from ragkit.retrieval.cross_encoder import CrossEncoderReranker
from ragkit.retrieval.hybrid import reciprocal_rank, weighted
from ragkit.retrieval.maxsim import max_sim
from ragkit.retrieval.mmr import marginal
from ragkit.retrieval.rerank import RerankedRetriever
from ragkit.store import Store

Make = Callable[..., Document]
ENCODER = HashingEncoder({"query": "query: ", "passage": "passage: "}, 64)
CONFIG: TypeAdapter[Any] = TypeAdapter(RetrievalConfig)


@pytest.fixture
def store() -> Iterator[Store]:
    with Store(None, 64) as store:
        yield store


def fill(store: Store, documents: Sequence[Document]) -> Store:
    for document in documents:
        chunks = chunks_of(document, [(block.start, block.end) for block in document.blocks])
        store.add(document, chunks, ENCODER.encode([chunk.embedded_text for chunk in chunks], "passage"))
    return store


def retriever(store: Store, strategy: str, **entries: Any) -> Retriever:
    return build_retriever(CONFIG.validate_python({"strategy": strategy, **entries}), store, ENCODER)


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.chunk.text for hit in hits]


def ranking(**scores: float) -> tuple[Hit, ...]:
    """Hits whose slugs are the names, in the order given."""
    chunks = [(Chunk(slug, 0, 0, 1, slug, (Span(0, 0, 1),)), score) for slug, score in scores.items()]
    return tuple(Hit(chunk, score, rank) for rank, (chunk, score) in enumerate(chunks, 1))


def scores(hits: Sequence[Hit]) -> dict[str, float]:
    return {hit.chunk.slug: hit.score for hit in hits}


# --- fusion -------------------------------------------------------------------------------------------


def test_reciprocal_ranks_are_summed() -> None:
    fused = reciprocal_rank(60)(ranking(a=0.9, b=0.8), ranking(b=7.0, c=3.0))
    assert scores(fused) == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})
    assert [hit.rank for hit in fused] == [1, 2, 3]


def test_equal_sums_stand_in_canonical_order() -> None:
    assert list(scores(reciprocal_rank(60)(ranking(b=2, a=1), ranking(a=2, b=1)))) == ["a", "b"]


def test_scores_are_brought_to_one_scale_and_weighted() -> None:
    fused = weighted(0.75)(ranking(a=0.9, b=0.8, c=0.7), ranking(c=12.0, d=2.0))
    assert scores(fused) == pytest.approx({"a": 0.75, "b": 0.375, "c": 0.25, "d": 0.0})
    assert scores(weighted(0.5)(ranking(a=0.3), ())) == {"a": 0.5}
    assert weighted(0.5)((), ()) == ()


def test_the_threshold_applies_before_the_fusion(store: Store, make_document: Make) -> None:
    """What both find stays by its words alone when its cosine is below the threshold."""
    fill(store, [make_document("a.md", ["seal pump", "sealing", "lid"])])
    trace = retriever(store, "hybrid", threshold=1.0).trace("seal", 1)
    assert set(texts(trace.candidates)) == {"seal pump", "sealing", "lid"}
    assert texts(trace.kept) == texts(trace.hits) == ["seal pump"]


# --- reranking ----------------------------------------------------------------------------------------


class Fixed:
    """A first stage with one answer."""

    def __init__(self, hits: tuple[Hit, ...]) -> None:
        self.hits = hits

    def trace(self, question: str, depth: int) -> Trace:
        return Trace(self.hits, self.hits, self.hits)


class Backwards:
    """The last hit is the best; `asked` is how many it was given."""

    asked = 0

    def scores(self, question: str, hits: Sequence[Hit]) -> list[float]:
        self.asked = len(hits)
        return [float(rank) for rank, _ in enumerate(hits)]


def test_only_the_first_are_ordered_anew_and_the_others_follow() -> None:
    first, judge = ranking(a=9, b=8, c=7, d=6, e=6), Backwards()
    trace = RerankedRetriever(Fixed(first), judge, 3).trace("q", 5)
    assert judge.asked == 3
    assert scores(trace.hits) == {"c": 2, "b": 1, "a": 0, "d": -1, "e": -1}
    assert [hit.rank for hit in trace.hits] == [1, 2, 3, 4, 5]
    assert trace.candidates == trace.kept == first
    assert RerankedRetriever(Fixed(()), judge, 3).search("q", 5) == []


def test_what_a_reranker_pushed_out_is_its_loss() -> None:
    trace = RerankedRetriever(Fixed(ranking(a=9, b=8, c=7)), Backwards(), 3).trace("q", 3)
    losses = find_losses(trace, lambda chunk: (0,) if chunk.slug == "a" else (), 1, [True], [True])
    assert [loss.stage for loss in losses] == ["rerank"]


def test_every_token_of_the_question_looks_for_its_nearest() -> None:
    asked = np.array([[127, 0], [0, 127]], np.int8)
    both, one, slanted = ([[0, 127], [127, 0]], [[127, 0]], [[127, 127]])
    found = max_sim(asked, [np.array(rows, np.int8) for rows in (both, one, slanted)])
    assert found == pytest.approx([1, 0.5, 0.5**0.5], abs=1e-12)


@given(st.integers(1, 6), st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 99))
def test_one_product_gives_what_a_loop_gives(asked: int, lengths: list[int], seed: int) -> None:
    draw = np.random.default_rng(seed)
    question, *passages = (draw.integers(-127, 128, (n, 384)).astype(np.int8) for n in (asked, *lengths))

    def cosine(a: Any, b: Any) -> float:
        a, b = a.astype(np.float64), b.astype(np.float64)
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))

    expected = [np.mean([max(cosine(token, other) for other in p) for token in question]) for p in passages]
    assert max_sim(question, passages) == pytest.approx(expected, abs=1e-12)


def test_maxsim_prefers_the_chunk_that_has_every_word(store: Store, make_document: Make) -> None:
    fill(store, [make_document("a.md", ["seal seal seal of", "pump with a seal", "lid"])])
    hits = retriever(store, "dense", rerank="maxsim").search("pump seal", 3)
    assert texts(hits)[0] == "pump with a seal"
    assert hits[0].score == pytest.approx(1, abs=1e-9)


def test_mmr_values_by_hand() -> None:
    """The twin of the first choice falls behind; its value never rises."""
    between = np.array([[1, 1, 0.2], [1, 1, 0.2], [0.2, 0.2, 1]])
    relevance = np.array([0.9, 0.9, 0.8])
    assert marginal(relevance, between, 0.5) == [0.45, -0.05, 0.3]
    assert marginal(relevance, between, 0.0) == [0.9, 0.9, 0.8]
    assert marginal(np.array([0.5]), np.array([[1.0]]), 1.0) == [0.0]


def test_mmr_puts_a_twin_behind(store: Store, make_document: Make) -> None:
    fill(store, [make_document("a.md", ["pump seal", "pump seal", "pump lid"])])
    assert texts(retriever(store, "dense").search("pump seal", 3)) == ["pump seal", "pump seal", "pump lid"]
    hits = retriever(store, "dense", rerank="mmr", redundancy=0.8).search("pump seal", 3)
    assert texts(hits) == ["pump seal", "pump lid", "pump seal"]


def test_a_cross_encoder_s_folder_must_be_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a cross-encoder"):
        CrossEncoderReranker(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="can't be loaded as a cross-encoder"):
        CrossEncoderReranker(tmp_path)


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny untrained cross-encoder that reads 16 tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("judge-1")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "pump", "seal", "lid", "oil"]
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]",
        model_max_length=16,
    ).save_pretrained(folder)  # fmt: skip
    BertForSequenceClassification(
        BertConfig(vocab_size=8, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8,
                   max_position_embeddings=16, num_labels=1)
    ).save_pretrained(folder)  # fmt: skip
    return folder


def test_a_cross_encoder_orders_by_its_own_score_one_pair_at_a_time(
    store: Store, make_document: Make, judge: Path
) -> None:
    fill(store, [make_document("a.md", ["pump seal", "lid", "oil oil oil"])])
    hits = retriever(store, "dense", rerank="cross-encoder", cross_encoder=str(judge)).search("pump", 3)
    reranker = CrossEncoderReranker(judge)
    alone = {hit.chunk.text: reranker.scores("pump", [hit])[0] for hit in hits}
    assert {hit.chunk.text: hit.score for hit in hits} == alone
    assert [hit.score for hit in hits] == sorted(alone.values(), reverse=True)


def test_a_pair_that_a_cross_encoder_would_cut_is_refused(store: Store, make_document: Make, judge: Path) -> None:
    fill(store, [make_document("a.md", ["oil " * 20])])
    with pytest.raises(EncodingError, match=r"a.md, chunk 0 \(block 0\): 24 tokens .* reads 16"):
        retriever(store, "dense", rerank="cross-encoder", cross_encoder=str(judge)).search("pump", 3)


# --- all of them --------------------------------------------------------------------------------------

STAGES: list[dict[str, Any]] = [
    {"strategy": strategy, **fusion, **rerank}
    for strategy, fusions in {"dense": [{}], "bm25": [{}], "hybrid": [{}, {"fusion": "weighted"}]}.items()
    for fusion in fusions
    for rerank in ({}, {"rerank": "maxsim", "rerank_k": 4}, {"rerank": "mmr", "rerank_k": 4})
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=10)
@pytest.mark.parametrize("entries", STAGES, ids=lambda entries: "-".join(map(str, entries.values())))
@given(
    corpus=st.lists(
        st.lists(st.sampled_from(["pump", "seal", "pump seal", "lid", "a lid"]), min_size=1, max_size=5),
        min_size=1,
        max_size=4,
    ),
    question=st.sampled_from(["pump", "seal lid", "zebra", "a"]),
    k=st.integers(1, 12),
    extra=st.integers(0, 12),
)
def test_search_is_the_head_of_every_deeper_trace_whatever_went_in_first(
    make_document: Make, entries: dict[str, Any], corpus: list[list[str]], question: str, k: int, extra: int
) -> None:
    documents = [make_document(f"{n}.md", blocks) for n, blocks in enumerate(corpus)]
    with Store(None, 64) as one, Store(None, 64) as two:
        asked = retriever(fill(one, documents), top_k=1, candidate_k=6, **entries)
        other = retriever(fill(two, documents[::-1]), top_k=1, candidate_k=6, **entries)
        trace, hits = asked.trace(question, k + extra), asked.search(question, k)
        assert list(trace.hits[:k]) == hits
        assert other.search(question, k) == hits
    for stage in (trace.candidates, trace.kept, trace.hits):
        assert list(stage) == sorted(stage, key=lambda hit: (-hit.score, hit.chunk.slug, hit.chunk.start))
        assert [hit.rank for hit in stage] == list(range(1, len(stage) + 1))
    assert {hit.chunk for hit in trace.hits} == {hit.chunk for hit in trace.kept} <= {h.chunk for h in trace.candidates}


def test_an_empty_store_gives_nothing() -> None:
    for entries in STAGES:
        with Store(None, 64) as store:
            assert retriever(store, **entries).search("pump", 3) == []


def test_the_size_of_the_index_is_that_of_what_is_searched(store: Store, make_document: Make) -> None:
    fill(store, [make_document("a.md", ["pump seal", "lid"])])
    dense, words, late = (
        CONFIG.validate_python(each)
        for each in ({"strategy": "dense"}, {"strategy": "bm25"}, {"strategy": "hybrid", "rerank": "maxsim"})
    )
    assert index_bytes(dense, store) == 2 * 64 * 4
    build_retriever(late, store, ENCODER)
    parts = store.index_bytes
    assert index_bytes(late, store) == sum(parts.values())
    assert index_bytes(words, store) == parts["words"] + parts["tokens"]


def test_context_reaches_words_and_tokens(store: Store, make_document: Make) -> None:
    document = make_document("a.md", ["of it", "the lid"])
    chunks = chunks_of(document, [(block.start, block.end) for block in document.blocks])
    chunks[1] = replace(chunks[1], context="Pump\n")
    store.add(document, chunks, ENCODER.encode([chunk.embedded_text for chunk in chunks], "passage"))
    [hit] = retriever(store, "bm25", rerank="maxsim").search("pump", 3)
    assert (hit.chunk.text, round(hit.score, 9)) == ("the lid", 1)
