"""Answers made of the corpus's own sentences: no language model, and the same on every run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ragkit.answers.model import Answer, Citation
from ragkit.config import AnswersConfig
from ragkit.embedding import Encoder, TextError
from ragkit.errors import EncodingError
from ragkit.files import DECIMALS
from ragkit.records import Block, Document, Hit, Progress
from ragkit.sentences import Sentence, cut, split_block
from ragkit.store import Store

SHORT = 200
"""Characters from which on a sentence says for itself what it is about."""


def answer_questions(
    questions: NDArray[np.float32],
    hits: Sequence[Sequence[Hit]],
    config: AnswersConfig,
    documents: Sequence[Document],
    store: Store,
    encoder: Encoder,
    progress: Progress | None = None,
) -> list[Answer]:
    """One answer for each question from its own hits, of which the first `config.context_k` are read.

    `questions` are their vectors, (n, dimension). Every sentence of every context is embedded in one
    call, each text once, as a passage, a short one behind the heading it stands under ("Battery: six
    years"); give an `encoder` that is cached. At most `config.sentences` are
    chosen by `select`, joined in the order of the documents (best hit first) and of their text, and each
    one's block is cited by its runtime id. A question is declined when nothing was retrieved or its
    best sentence is less similar than `config.decline_below` (0: never for that reason).

    Raises `EncodingError` for a sentence that can't be embedded.
    """
    blocks = {document.slug: document.blocks for document in documents}

    def read(sentence: Sentence) -> str:
        above = blocks[sentence.slug][sentence.block].breadcrumb[-1:] if len(sentence.text) < SHORT else ()
        return ": ".join([*above, sentence.text])

    contexts = _contexts([found[: config.context_k] for found in hits], blocks)
    rows: dict[str, int] = {}
    where: list[Sentence] = []
    for sentence in (each for context in contexts for each in context):
        if rows.setdefault(read(sentence), len(rows)) == len(where):
            where.append(sentence)
    try:
        vectors = encoder.encode(list(rows), "passage", progress)
    except TextError as error:
        at = where[error.index]
        raise EncodingError(
            f"{at.slug}, block {at.block} (characters {at.start} to {at.end}): {error.message}"
        ) from error
    block_ids = {slug: store.block_ids(identifier) for slug, identifier in store.document_ids().items()}
    return [
        _answer(question, context, vectors[[rows[read(sentence)] for sentence in context]], config, block_ids)
        for question, context in zip(questions, contexts, strict=True)
    ]


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
    question: NDArray[np.float32],
    context: Sequence[Sentence],
    vectors: NDArray[np.float32],
    config: AnswersConfig,
    block_ids: Mapping[str, Mapping[int, str]],
) -> Answer:
    if not context:
        return Answer(None)
    relevance = _rounded(vectors @ question)
    evidence = float(relevance.max())
    if evidence < config.decline_below and config.decline_below > 0:
        return Answer(None, evidence=evidence)
    chosen = [context[index] for index in sorted(select(relevance, vectors, config.sentences, config.redundancy))]
    cited = dict.fromkeys((sentence.slug, sentence.block) for sentence in chosen)
    return Answer(
        " ".join(sentence.text for sentence in chosen),
        tuple(Citation(block_ids[slug][block], f"{slug}#{block}") for slug, block in cited),
        evidence,
    )


def _rounded(cosines: NDArray[np.float32]) -> NDArray[np.float64]:
    """So that sentences of the same words are equals, whatever the order of the sums."""
    return cosines.astype(np.float64).round(DECIMALS)


def _contexts(hits: Sequence[Sequence[Hit]], blocks: Mapping[str, Sequence[Block]]) -> list[list[Sentence]]:
    """Each question's sentences, once each: by document (best hit first), then in the order of the text.

    A sentence counts when one chunk holds all of it; a chunk that holds none gives its longest part.
    Headings name what is said without saying it, so they count only where there is nothing else.
    """
    split = cache(lambda slug, order: split_block(slug, blocks[slug][order]))

    def held(hit: Hit) -> list[Sentence]:
        slug, spans = hit.chunk.slug, hit.chunk.spans
        whole = [s for p in spans for s in split(slug, p.block) if p.start <= s.start and s.end <= p.end]
        if whole:
            return whole
        longest = max(spans, key=lambda span: span.end - span.start)
        part = cut(slug, blocks[slug][longest.block], longest.start, longest.end)
        return [part] if part and len(part.text) > 1 else []  # one character stands for a passage that wasn't found

    contexts = []
    for found in hits:
        place = {slug: n for n, slug in enumerate(dict.fromkeys(hit.chunk.slug for hit in found))}
        every = sorted({s for hit in found for s in held(hit)}, key=lambda s: (place[s.slug], s.start, s.end))
        said = [sentence for sentence in every if blocks[sentence.slug][sentence.block].kind != "heading"]
        contexts.append(said or every)
    return contexts
