"""Answers made of the corpus's own sentences: no language model, and the same on every run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ragkit.answers.model import Answer, Citation
from ragkit.answers.passages import Passages
from ragkit.config import AnswersConfig
from ragkit.embedding import Encoder, TextError
from ragkit.errors import EncodingError
from ragkit.files import DECIMALS
from ragkit.records import Chunk, Hit, Progress
from ragkit.sentences import Sentence
from ragkit.store import Store, terms

_BATCH = 1024
"""Questions whose sentences are in memory at a time."""

_Read = Mapping[Sentence, NDArray[np.int8]]
"""A chunk's sentences, each with the direction that the model gives it there."""


def answer_questions(
    questions: Sequence[str],
    vectors: NDArray[np.float32],
    hits: Sequence[Sequence[Hit]],
    config: AnswersConfig,
    passages: Passages,
    store: Store,
    encoder: Encoder,
    progress: Progress | None = None,
    *,
    own_chunks: bool = True,
) -> list[Answer]:
    """One answer for each question from its own hits, of which the first `config.context_k` are read.

    `vectors` are the questions', (n, dimension). Sentences have the vectors that were stored with the chunk that
    holds them; without `own_chunks` there are none, and `encoder` reads each sentence by itself.
    A sentence's relevance is its cosine to the question plus `config.words` x `shared_words`. At most
    `config.sentences` are chosen by `select`, joined in the order of the documents (best hit first) and of
    their text, and each one's block is cited by its runtime id. A question is declined when nothing was
    retrieved or its best cosine is below `config.decline_below` (0: never for that reason).

    Raises `EncodingError` for a chunk or sentence that can't be embedded.
    """
    block_ids = {slug: store.block_ids(identifier) for slug, identifier in store.document_ids().items()}
    contexts = [list(found[: config.context_k]) for found in hits]
    if not own_chunks:  # they may be longer than the model reads
        contexts = [
            [replace(hit, chunk=piece) for hit in found for piece in passages.alone(hit.chunk)] for found in contexts
        ]
    answers = []
    for start in range(0, len(questions), _BATCH):
        batch = slice(start, start + _BATCH)
        chunks = list({_place(hit.chunk): hit.chunk for found in contexts[batch] for hit in found}.values())
        codes = store.parts(chunks) if own_chunks else _embedded(chunks, passages, encoder, progress)
        read = {
            _place(chunk): dict(zip(passages.held(chunk), rows, strict=True))
            for chunk, rows in zip(chunks, codes, strict=True)
        }
        for question, vector, found in zip(questions[batch], vectors[batch], contexts[batch], strict=True):
            answers.append(_answer(question, vector, _context(found, read, passages), config, block_ids))
    return answers


def shared_words(question: str, sentences: Sequence[str]) -> NDArray[np.float64]:
    """How much of the question's words each of n sentences has, (n,), in [0, 1].

    A word weighs log(1 + n / (f + 1/2)), f being how many of the sentences have it: what all of them say tells
    nothing. Words are those of full-text search (`terms`).

    >>> shared_words("battery life", ["The life of a battery.", "Half a life.", "No."]).round(2).tolist()
    [1.0, 0.42, 0.0]
    """
    asked = set(terms(question))
    said = [asked & _words(sentence) for sentence in sentences]
    having = Counter(term for own in said for term in own)
    weight = {term: math.log1p(len(sentences) / (having[term] + 0.5)) for term in asked}
    whole = math.fsum(weight.values())
    return np.array([math.fsum(weight[term] for term in own) / whole if own else 0.0 for own in said])


def select(relevance: NDArray[np.float64], vectors: NDArray[np.float32], count: int, redundancy: float) -> list[int]:
    """At most `count` of n sentences, in the order chosen, by maximal marginal relevance.

    `relevance` (n,), n > 0, is the similarity to the question, `vectors` (n, dimension) are the sentences.
    The first is the most relevant; the next has the largest (1 - redundancy) x relevance - redundancy x
    similarity to the most similar one chosen before (Carbonell and Goldstein 1998); of equals the first.

    >>> relevance, vectors = np.array([0.9, 0.9, 0.8]), np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> select(relevance, vectors, 2, 0.0), select(relevance, vectors, 2, 0.5)
    ([0, 1], [0, 2])
    """
    chosen = [int(np.argmax(relevance))]
    nearest = np.full(len(relevance), -1.0)
    while len(chosen) < min(count, len(relevance)):
        # One vector at a time: so small a product of matrices is slower on several threads than on one.
        nearest = np.maximum(nearest, _rounded(vectors @ vectors[chosen[-1]]))
        value = (1 - redundancy) * relevance - redundancy * nearest
        value[chosen] = -np.inf
        chosen.append(int(np.argmax(value)))
    return chosen


def _answer(
    question: str,
    vector: NDArray[np.float32],
    context: _Read,
    config: AnswersConfig,
    block_ids: Mapping[str, Mapping[int, str]],
) -> Answer:
    if not context:
        return Answer(None)
    sentences = list(context)
    rows = np.stack(list(context.values())).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = _rounded(rows @ vector)
    evidence = float(cosines.max())
    if evidence < config.decline_below and config.decline_below > 0:
        return Answer(None, evidence=evidence)
    relevance = cosines + config.words * shared_words(question, [sentence.text for sentence in sentences])
    chosen = [sentences[index] for index in sorted(select(relevance, rows, config.sentences, config.redundancy))]
    cited = dict.fromkeys((sentence.slug, sentence.block) for sentence in chosen)
    return Answer(
        " ".join(sentence.text for sentence in chosen),
        tuple(Citation(block_ids[slug][block], f"{slug}#{block}") for slug, block in cited),
        evidence,
    )


@lru_cache(maxsize=1 << 14)
def _words(sentence: str) -> frozenset[str]:
    """A sentence is among those of many questions."""
    return frozenset(terms(sentence))


def _rounded(cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    """So that sentences of the same words are equals, whatever the order of the sums."""
    return cosines.astype(np.float64).round(DECIMALS)


def _embedded(
    chunks: Sequence[Chunk], passages: Passages, encoder: Encoder, progress: Progress | None
) -> list[NDArray[np.int8]]:
    try:
        return encoder.encode_parts(
            [chunk.embedded_text for chunk in chunks], [passages.parts(chunk) for chunk in chunks], progress
        )[1]
    except TextError as error:
        at = chunks[error.index]
        where = f"{at.slug}, block {at.spans[0].block} (characters {at.start} to {at.end})"
        raise EncodingError(f"{where}: {error.message}") from error


def _context(hits: Sequence[Hit], read: Mapping[tuple[str, int, int], _Read], passages: Passages) -> _Read:
    """One question's sentences, once each: by document (best hit first), then in the order of the text.

    Where two chunks hold a sentence, it is as the better hit has it. Headings name what is said without
    saying it, so they count only where there is nothing else.
    """
    place = {slug: n for n, slug in enumerate(dict.fromkeys(hit.chunk.slug for hit in hits))}
    every: dict[Sentence, NDArray[np.int8]] = {}
    for hit in reversed(hits):
        every |= read[_place(hit.chunk)]
    ordered = {s: every[s] for s in sorted(every, key=lambda s: (place[s.slug], s.start, s.end))}
    said = {s: row for s, row in ordered.items() if passages.block(s).kind != "heading"}
    return said or ordered


def _place(chunk: Chunk) -> tuple[str, int, int]:
    return chunk.slug, chunk.start, chunk.end
