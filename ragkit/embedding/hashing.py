"""A deterministic encoder without a model: hashed words and character trigrams. For tests and examples.

It knows spelling, not meaning. The same text gives the same vector on every machine and Python.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.base import Spans, TextError, checked, identity_of, prefixed, quantised
from ragkit.records import Progress, Role

_TOKEN = re.compile(r"\w+|[^\w\s]")
SPECIAL_TOKENS = 2
"""Added to every counted text that has a role, as a real model adds its start and end."""


class HashingEncoder:
    """Each word and each trigram of a word adds +1 or -1 to the component that its hash names.

    Component 0 is the same for every text, so that no vector is zero, whatever cancels.
    """

    def __init__(self, prefixes: dict[Role, str], dimension: int = 256, max_tokens: int = 512) -> None:
        self.threads = 1  # pure Python: side by side, calls would wait for each other
        self.dimension = dimension
        self.max_tokens = max_tokens
        self._prefixes = prefixes
        self.description: dict[str, Any] = {
            "name": "hashing",
            "source": "builtin",
            "revision": "hashing-1",
            "precision": "float32",
            "dimension": dimension,
            "max_tokens": max_tokens,
            "prefixes": dict(prefixes),
        }
        self.identity = identity_of(self.description)

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        """See `Encoder.encode`."""
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for index, text in enumerate(texts):
            whole = prefixed(index, self._prefixes[role], text)
            tokens = self.count_tokens(text, role)
            if tokens > self.max_tokens:
                raise TextError.too_long(index, tokens, self.max_tokens)
            vectors[index] = checked(index, self._vector(whole), self.dimension)
            if progress is not None:
                progress(1)
        return vectors

    def encode_tokens(
        self, texts: Sequence[str], role: Role, progress: Progress | None = None
    ) -> list[NDArray[np.int8]]:
        """See `Encoder.encode_tokens`: a token's vector is that of a text with nothing else in it."""
        self.encode(texts, role, progress)  # for its checks
        found = []
        for index, text in enumerate(texts):
            tokens = _TOKEN.findall(text) or [self._prefixes[role]]
            found.append(quantised(index, np.stack([self._vector(token) for token in tokens])))
        return found

    def encode_parts(
        self, texts: Sequence[str], parts: Sequence[Spans], progress: Progress | None = None
    ) -> tuple[NDArray[np.float32], list[NDArray[np.int8]]]:
        """See `Encoder.encode_parts`: a part's vector is that of a text with nothing else in it."""
        vectors = self.encode(texts, "passage", progress)
        own = [
            [self._vector(text[start:end]) for start, end in spans] for text, spans in zip(texts, parts, strict=True)
        ]
        empty = np.empty((0, self.dimension), np.int8)
        return vectors, [quantised(index, np.stack(rows)) if rows else empty for index, rows in enumerate(own)]

    def count_tokens(self, text: str, role: Role | None) -> int:
        if role is None:
            return len(_TOKEN.findall(text))
        return len(_TOKEN.findall(self._prefixes[role] + text)) + SPECIAL_TOKENS

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(text)]

    def _vector(self, text: str) -> NDArray[np.float32]:
        found = [number for word in _TOKEN.findall(text.casefold()) for number in _numbers(word)]
        numbers = np.array(found, np.uint64)
        components = 1 + ((numbers >> np.uint64(1)) % np.uint64(self.dimension - 1)).astype(np.intp)
        signs = np.where(numbers & np.uint64(1), 1.0, -1.0)
        sums = np.zeros(self.dimension)
        sums[0] = 0.5
        sums += np.bincount(components, signs, self.dimension)  # whole numbers: exact in any order
        return (sums / np.linalg.norm(sums)).astype(np.float32)


@lru_cache(maxsize=1 << 16)  # a few words are most of any text
def _numbers(word: str) -> tuple[int, ...]:
    """The hashes, 64 bits each, of a word and of its trigrams."""
    marked = f"<{word}>"
    features = [word, *(marked[at : at + 3] for at in range(len(marked) - 2) if len(word) > 1)]
    return tuple(int.from_bytes(hashlib.blake2b(each.encode(), digest_size=8).digest(), "little") for each in features)
