"""Chunks to vectors: the q8 runner and sentence-transformers in float32 at its best batch size, the same weights in both.

Times are taken on a sample of the corpus's chunks: every so many of them in order of length, so that it has the
corpus's mixture. All chunks and questions are embedded once by either, untimed: how near their vectors are, and
what the difference does to retrieval. For information: plain dynamic int8, which PyTorch makes of the float32 model.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from frame import Bar, Row, Section, faster, rows
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from timing import alternate

from ragkit import config
from ragkit.chunking import chunk_document
from ragkit.dataset import read_questions, resolve
from ragkit.embedding import Encoder, cache_root, load_encoder
from ragkit.embedding.q8 import usable_cores
from ragkit.embedding.registry import model_folder, registered
from ragkit.ingest import read_corpus
from ragkit.measures import Scorer
from ragkit.records import Chunk, Trace
from ragkit.store import Store

SETTINGS = config.load(config.DEFAULT_PATH)
BATCHES = (1, 2, 4, 8, 16, 32)
SAMPLE = 125
"""How many chunks are timed, about."""
MEASURE = "nDCG@10"

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]


class Corpus:
    """The committed evaluation set, with what it takes to score vectors on it; `quick`: one document of it."""

    def __init__(self, quick: bool) -> None:
        self.documents = read_corpus(Path(SETTINGS.dataset.corpus))
        self.questions = read_questions(Path(SETTINGS.dataset.questions))
        if quick:
            self.documents = [min(self.documents, key=lambda document: len(document.text))]
            only = {self.documents[0].slug}
            self.questions = [q for q in self.questions if {judgment.document for judgment in q.relevant} == only][:3]
        self.chunks = [chunk_document(document, SETTINGS.chunking) for document in self.documents]
        self.targets = resolve(self.questions, self.documents, SETTINGS.dataset.questions).targets

    def all_chunks(self) -> list[Chunk]:
        return [chunk for own in self.chunks for chunk in own]

    def quality(self, encoder: Encoder, passages: Vectors, queries: Vectors) -> float:
        """The mean nDCG@10 of dense retrieval by these vectors, over the questions that have judgments."""
        depth = SETTINGS.retrieval.candidate_k
        chunks = self.all_chunks()
        scorer = Scorer(self.documents, chunks, encoder.token_spans, depth=10, candidate_k=depth, seed=0)
        with Store(None, encoder.dimension) as store:
            at = 0
            for document, own in zip(self.documents, self.chunks, strict=True):
                store.add(document, own, passages[at : at + len(own)])
                at += len(own)
            found = []
            for question, vector in zip(self.questions, queries, strict=True):
                hits = tuple(store.nearest(vector, depth))
                score = scorer.score(question, self.targets.get(question.id, ()), Trace(hits, hits, hits))
                found += [score.values[MEASURE]] if score.judged else []
        return math.fsum(found) / len(found)


def float32(model: SentenceTransformer, batch: int, prefix: str) -> Encode:
    def encode(texts: Sequence[str]) -> Vectors:
        whole = [prefix + text for text in texts]
        found: Vectors = model.encode(whole, batch_size=batch, show_progress_bar=False, normalize_embeddings=True)
        return found

    return encode


def best_batch(model: SentenceTransformer, texts: Sequence[str]) -> int:
    """The batch size at which the reference is quickest here."""

    def seconds(size: int) -> float:
        started = perf_counter()
        float32(model, size, SETTINGS.model.passage_prefix)(texts)
        return perf_counter() - started

    return min(BATCHES, key=seconds)


def dynamic_int8(model: SentenceTransformer) -> SentenceTransformer:
    """A copy whose linear layers take one scale per call for what comes in and one per matrix for the weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch means to move this function to a package of its own
        made: SentenceTransformer = torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)
    return made


def cosines(ours: Vectors, theirs: Vectors) -> Vectors:
    found: Vectors = np.einsum("ij,ij->i", ours, theirs)
    return found


def measure(quick: bool) -> Section:
    torch.set_num_threads(1 if quick else usable_cores())  # on a busy machine its threads wait for each other
    encoder = load_encoder(SETTINGS.model, cache_root())
    folder = model_folder(registered(SETTINGS.model.source), cache_root())
    model = SentenceTransformer(str(folder / "reference"), device="cpu", local_files_only=True)
    corpus = Corpus(quick)
    texts = [chunk.embedded_text for chunk in corpus.all_chunks()]
    asked = [question.question for question in corpus.questions]
    sample = sorted(texts, key=len)[:: max(len(texts) // (2 if quick else SAMPLE), 1)]
    batch = best_batch(model, sample[::3])
    prefix = SETTINGS.model.passage_prefix
    reference, small = f"sentence-transformers float32, batch {batch}", "PyTorch dynamic int8"
    ways: dict[str, Encode] = {
        "ragkit q8": partial(encoder.encode, role="passage"),
        reference: float32(model, batch, prefix),
        small: float32(dynamic_int8(model), batch, prefix),
    }
    near = {name: cosines(encode(sample), ways[reference](sample)).min() for name, encode in ways.items()}
    measured = alternate({name: partial(encode, sample) for name, encode in ways.items()})
    found = rows(
        f"embedding {len(sample)} chunks",
        measured,
        ours=["ragkit q8"],
        peers=[reference],
        amount=sum(encoder.count_tokens(text, "passage") for text in sample),
        unit="tokens",
        checked=f"least cosine to float32: {near['ragkit q8']:.4f} (ragkit), {near[small]:.4f} (dynamic int8)",
        bars=[faster(measured, "ragkit q8", [reference], 4.0, "float32")],
    )
    found.append(whole_set(corpus, encoder, model, batch, texts, asked))
    return Section("Embedding", found, ("onnxruntime", "sentence-transformers", "torch"))


def whole_set(
    corpus: Corpus, encoder: Encoder, model: SentenceTransformer, batch: int, texts: list[str], asked: list[str]
) -> Row:
    """Every chunk and question by both, untimed."""
    passages, queries = encoder.encode(texts, "passage"), encoder.encode(asked, "query")
    passages32 = float32(model, batch, SETTINGS.model.passage_prefix)(texts)
    queries32 = float32(model, batch, SETTINGS.model.query_prefix)(asked)
    ours, theirs = corpus.quality(encoder, passages, queries), corpus.quality(encoder, passages32, queries32)
    both = np.concatenate([cosines(passages, passages32), cosines(queries, queries32)])
    return Row(
        "embedding the evaluation set",
        "ragkit q8",
        "ragkit",
        checked=f"{len(texts)} chunks, {len(asked)} questions; {MEASURE} {ours:.4f}, by float32 {theirs:.4f};"
        f" mean cosine {both.mean():.4f}",
        bars=(
            Bar("least cosine to float32", float(both.min()), 0.997, at_least=True),
            Bar(f"{MEASURE} from float32's", abs(ours - theirs), 0.005, at_least=False),
        ),
    )
