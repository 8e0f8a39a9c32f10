"""A run's questions, embedded ahead of the search: one on each core, each timed by itself, or looked up."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.base import Encoder, Spans, TextError
from ragkit.records import Progress, Role


class Questions:
    """The `Encoder` of a run: questions are embedded ahead of the search, everything else comes from `kept`.

    `kept` is the same encoder with its cache, if it has one. `spent` adds up what embedding the questions took that
    were asked for, whenever that was: a search that takes t seconds while `spent` grows by s would have taken t + s
    without this class.
    """

    def __init__(self, encoder: Encoder, kept: Encoder | None = None) -> None:
        self.dimension, self.identity, self.description = encoder.dimension, encoder.identity, encoder.description
        self.threads = encoder.threads
        self.count_tokens, self.token_spans = encoder.count_tokens, encoder.token_spans
        self.spent = 0.0
        self._encoder, self._kept = encoder, kept or encoder
        self._made: dict[str, tuple[NDArray[np.float32], float]] = {}

    def ahead(self, questions: Sequence[str]) -> None:
        """Embed each question by itself, as many at a time as the encoder can. Raises as `encode`."""
        with ThreadPoolExecutor(self.threads, thread_name_prefix="ragkit-questions") as pool:
            list(pool.map(self._make, range(len(questions)), questions))

    def look_up(self, questions: Sequence[str], progress: Progress | None = None) -> None:
        """Take the questions' vectors from the cache as far as it has them; they count as taking no time.

        Raises as `encode`.
        """
        vectors = self._kept.encode(questions, "query", progress)
        self._made.update({question: (vector, 0.0) for question, vector in zip(questions, vectors, strict=True)})

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        """See `Encoder.encode`."""
        if role == "passage":
            return self._kept.encode(texts, role, progress)
        if not all(text in self._made for text in texts):
            return self._encoder.encode(texts, role, progress)
        self.spent += sum(self._made[text][1] for text in texts)
        return self.vectors(texts)

    def encode_tokens(
        self, texts: Sequence[str], role: Role, progress: Progress | None = None
    ) -> list[NDArray[np.int8]]:
        """See `Encoder.encode_tokens`."""
        return self._kept.encode_tokens(texts, role, progress)

    def encode_parts(
        self, texts: Sequence[str], parts: Sequence[Spans], progress: Progress | None = None
    ) -> tuple[NDArray[np.float32], list[NDArray[np.int8]]]:
        """See `Encoder.encode_parts`."""
        return self._kept.encode_parts(texts, parts, progress)

    def vectors(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """The vectors of questions made ahead or looked up, (n, dimension); nothing is counted as spent."""
        made = [self._made[question][0] for question in questions]
        return np.stack(made) if made else np.empty((0, self.dimension), np.float32)

    def _make(self, index: int, question: str) -> None:
        started = time.perf_counter()
        try:
            [vector] = self._encoder.encode([question], "query")
        except TextError as error:
            raise TextError(index, error.message) from error
        self._made[question] = vector, time.perf_counter() - started
