"""The vector cache: the same text under the same encoder on the same machine is embedded once.

Texts' vectors and tokens' vectors lie in folders of their own, `segments` says how. Queries' tokens are never
cached; whoever measures how long a query takes asks the encoder itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.base import Encoder, Spans, TextError, identity_of
from ragkit.embedding.locks import locked
from ragkit.embedding.machine import runtime
from ragkit.errors import FileError
from ragkit.records import Progress, Role
from ragkit.segments import LIMIT, Segments

_T = TypeVar("_T")

_BATCH = 2048
"""Texts embedded between two writes, so that a long run that is killed keeps most of its work."""
_TOKENS_BATCH = 256
"""The same for tokens' vectors, of which a text has a hundred."""


def cached(encoder: Encoder, folder: Path | None) -> Encoder:
    """The same encoder, with its passage vectors kept in `folder`; `None`: the encoder itself."""
    return encoder if folder is None else CachedEncoder(encoder, folder)


class CachedEncoder:
    """An `Encoder` that looks texts up before it embeds them; the vectors are the same, bit for bit.

    Processor features and library versions are part of the key, because they move the last bits.
    `hits` and `misses` count texts. `notice` says in a sentence why nothing could be written, or is `None`.
    """

    def __init__(self, encoder: Encoder, folder: Path, limit: int = LIMIT) -> None:
        self.hits = 0
        self.misses = 0
        self._encoder = encoder
        parts = {"encoder": encoder.identity, "runtime": runtime()}

        def memory(of: dict[str, str], batch: int) -> _Memory:
            return _Memory(Segments(folder, identity_of({**parts, **of})[:32], limit, what="vectors"), batch)

        self._texts = memory({}, _BATCH)
        self._tokens = memory({"of": "tokens"}, _TOKENS_BATCH)
        self._parts = memory({"of": "parts"}, _BATCH)

    @property
    def notice(self) -> str | None:
        return self._texts.segments.notice or self._tokens.segments.notice or self._parts.segments.notice

    @property
    def threads(self) -> int:
        return self._encoder.threads

    @property
    def dimension(self) -> int:
        return self._encoder.dimension

    @property
    def identity(self) -> str:
        return self._encoder.identity

    @property
    def description(self) -> dict[str, Any]:
        return self._encoder.description

    def count_tokens(self, text: str, role: Role | None) -> int:
        return self._encoder.count_tokens(text, role)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self._encoder.token_spans(text)

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        """See `Encoder.encode`. A text that occurs twice is embedded once."""
        keys = [_key(text, role) for text in texts]
        found = self._look_up(
            self._texts, keys, lambda at: list(self._encoder.encode(_pick(texts, at), role, progress)), progress
        )
        return np.frombuffer(bytearray().join(found), np.float32).reshape(len(texts), self.dimension)

    def encode_tokens(
        self, texts: Sequence[str], role: Role, progress: Progress | None = None
    ) -> list[NDArray[np.int8]]:
        """See `Encoder.encode_tokens`. A text that occurs twice is embedded once."""
        if role == "query":
            return self._encoder.encode_tokens(texts, role, progress)
        keys = [_key(text) for text in texts]
        found = self._look_up(
            self._tokens, keys, lambda at: self._encoder.encode_tokens(_pick(texts, at), role, progress), progress
        )
        return [np.frombuffer(value, np.int8).reshape(-1, self.dimension) for value in found]

    def encode_parts(
        self, texts: Sequence[str], parts: Sequence[Spans], progress: Progress | None = None
    ) -> tuple[NDArray[np.float32], list[NDArray[np.int8]]]:
        """See `Encoder.encode_parts`. A text that occurs twice with the same parts is embedded once."""

        def embed(at: Sequence[int]) -> list[bytes]:
            vectors, own = self._encoder.encode_parts(_pick(texts, at), _pick(parts, at), progress)
            return [vector.tobytes() + codes.tobytes() for vector, codes in zip(vectors, own, strict=True)]

        keys = [_key(f"{[*map(tuple, spans)]}\0{text}") for text, spans in zip(texts, parts, strict=True)]
        found = self._look_up(self._parts, keys, embed, progress)
        size = self.dimension * np.dtype(np.float32).itemsize
        vectors = np.frombuffer(bytearray().join(value[:size] for value in found), np.float32)
        own = [np.frombuffer(value[size:], np.int8).reshape(-1, self.dimension) for value in found]
        return vectors.reshape(len(texts), self.dimension), own

    def _look_up(
        self,
        memory: _Memory,
        keys: Sequence[bytes],
        embed: Callable[[Sequence[int]], Sequence[NDArray[Any] | bytes]],
        progress: Progress | None,
    ) -> list[bytes | memoryview]:
        """What is kept under each key; `embed` makes it for the places it is given, and tells their progress."""
        if all(map(memory.known().__contains__, keys)):
            self._embed_missing(memory, keys, embed, progress)
        else:
            with memory.alone():
                self._embed_missing(memory, keys, embed, progress)
        return [memory.known()[key] for key in keys]

    def _embed_missing(
        self,
        memory: _Memory,
        keys: Sequence[bytes],
        embed: Callable[[Sequence[int]], Sequence[NDArray[Any] | bytes]],
        progress: Progress | None,
    ) -> None:
        missing = {key: index for index, key in reversed(list(enumerate(keys))) if key not in memory.known()}
        todo = sorted(missing.values())  # the first place of each missing text
        self.misses += len(todo)
        self.hits += len(keys) - len(todo)
        if progress is not None and len(keys) > len(todo):
            progress(len(keys) - len(todo))
        for start in range(0, len(todo), memory.batch):
            batch = todo[start : start + memory.batch]
            try:
                values = embed(batch)
            except TextError as error:
                raise TextError(batch[error.index], error.message) from error
            memory.add({keys[index]: bytes(value) for index, value in zip(batch, values, strict=True)})


class _Memory:
    """What is known, read when it is first asked for; `batch` texts are added at a time."""

    def __init__(self, segments: Segments, batch: int) -> None:
        self.segments = segments
        self.batch = batch
        self._known: dict[bytes, bytes | memoryview] | None = None

    def known(self) -> dict[bytes, bytes | memoryview]:
        if self._known is None:
            self._known = {**self.segments.read()}
        return self._known

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While this process embeds, others wait, and then know what it did. Where no lock can be made, all embed."""
        with ExitStack() as stack:
            with suppress(FileError):
                stack.enter_context(locked(self.segments.lock, lambda: None))
                self._known = {**self.known(), **self.segments.read()}
            yield

    def add(self, fresh: dict[bytes, bytes]) -> None:
        self.segments.write(fresh)
        self.known().update(fresh)


def _pick(values: Sequence[_T], places: Sequence[int]) -> list[_T]:
    return [values[place] for place in places]


def _key(text: str, role: Role = "passage") -> bytes:
    return hashlib.sha256(f"{role}\0{text}".encode("utf-8", "surrogatepass")).digest()
