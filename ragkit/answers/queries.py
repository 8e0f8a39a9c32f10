"""The questions' vectors, kept when the retriever makes them, so that the answerer needn't again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding import Encoder
from ragkit.records import Progress, Role


class RememberedQueries:
    """An `Encoder` that does all the work of the one it wraps, every time, and keeps what queries became.

    So what a retriever's call costs is what it costs without this class.
    """

    def __init__(self, encoder: Encoder) -> None:
        self.dimension, self.identity, self.description = encoder.dimension, encoder.identity, encoder.description
        self.count_tokens, self.token_spans = encoder.count_tokens, encoder.token_spans
        self._encoder = encoder
        self._kept: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        """See `Encoder.encode`."""
        vectors = self._encoder.encode(texts, role, progress)
        if role == "query":
            self._kept.update(zip(texts, vectors, strict=True))
        return vectors

    def encode_tokens(
        self, texts: Sequence[str], role: Role, progress: Progress | None = None
    ) -> list[NDArray[np.int8]]:
        """See `Encoder.encode_tokens`."""
        return self._encoder.encode_tokens(texts, role, progress)

    def vectors(self, questions: Sequence[str]) -> NDArray[np.float32]:
        """The questions' vectors, (n, dimension); those that no retriever has asked for are made now."""
        missing = [question for question in dict.fromkeys(questions) if question not in self._kept]
        if missing:
            self.encode(missing, "query")
        kept = [self._kept[question] for question in questions]
        return np.stack(kept) if kept else np.empty((0, self.dimension), np.float32)
