"""What an encoder is, and the checks every encoder makes on what goes in and what comes out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import EncodingError
from ragkit.records import Progress, Role

Spans = Sequence[tuple[int, int]]
"""Characters of a text, end exclusive."""

UNIT_TOLERANCE = 1e-3
"""How far the length of a vector may be from 1; float32 arithmetic stays below 1e-5."""


class Encoder(Protocol):
    """Turns texts into unit vectors. Safe to call from several threads, of which `threads` keep the machine busy.

    `dimension`: components of a vector. `identity`: a hash of everything that decides a vector except
    the text, the role and the machine; it is for cache keys and may differ where `description` does
    not (another library may write the same tokenizer in other bytes). `description`: what a report
    says of the model (name, source, revision, precision, hashes, prefixes); no path, no host, no time.
    """

    @property
    def threads(self) -> int: ...

    @property
    def dimension(self) -> int: ...

    @property
    def identity(self) -> str: ...

    @property
    def description(self) -> dict[str, Any]: ...

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        """Vectors (n, dimension), float32, of length 1, in the order of `texts`; the role's prefix is added.

        A vector depends on its own text and role only, never on its neighbours, their order or the
        number of threads. Raises `TextError` for the first text that is longer than the model reads,
        holds half a surrogate pair, or whose vector isn't finite.
        """
        ...

    def encode_tokens(
        self, texts: Sequence[str], role: Role, progress: Progress | None = None
    ) -> list[NDArray[np.int8]]:
        """The vectors of each text's tokens, (tokens, dimension), made by `quantised`; never empty.

        Those of the prefix and the special tokens are left out, unless there are no others. As `encode`;
        raises `ModelError` when the model gives no vectors of tokens.
        """
        ...

    def encode_parts(
        self, texts: Sequence[str], parts: Sequence[Spans], progress: Progress | None = None
    ) -> tuple[NDArray[np.float32], list[NDArray[np.int8]]]:
        """Passages' vectors as `encode` gives them, and in the same pass those of parts of each, (parts, dimension).

        `parts` are character ranges of each text. A part's vector is `pooled` from the vectors that its
        tokens have within the whole text (late chunking, Günther et al. 2024). Raises as `encode_tokens`.
        """
        ...

    def count_tokens(self, text: str, role: Role | None) -> int:
        """Tokens of the text with the role's prefix and the special tokens; `None`: of the bare text."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """`(start, end)` of every token in `text`, in characters; no prefix, no special tokens."""
        ...


class TextError(EncodingError):
    """One text of a call can't be embedded; `index` is its 0-based place in the call, `message` the rest."""

    def __init__(self, index: int, message: str) -> None:
        self.index = index
        self.message = message
        super().__init__(f"text {index}: {message}")

    @classmethod
    def too_long(cls, index: int, tokens: int, limit: int) -> TextError:
        return cls(
            index,
            f"{tokens} tokens with prefix and special tokens, the model reads at most {limit}: "
            "shorten it, or use smaller chunks (chunking.chunk_size)",
        )


def prefixed(index: int, prefix: str, text: str) -> str:
    """What the tokenizer reads. Raises `TextError` for text that no UTF-8 file could hold."""
    whole = prefix + text
    try:
        whole.encode()
    except UnicodeEncodeError as error:
        raise TextError(index, f"half of a surrogate pair at character {error.start}: it is not Unicode text") from None
    return whole


def checked(index: int, vector: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    """The vector, (dimension,) float32, if it is a finite unit vector. Raises `TextError`."""
    if vector.shape != (dimension,):
        raise TextError(index, f"the model gave a vector of shape {vector.shape}, expected ({dimension},)")
    if not np.isfinite(vector).all():
        raise TextError(index, "the model gave a vector that is not finite (NaN or infinity)")
    length = float(np.linalg.norm(vector))
    if abs(length - 1) > UNIT_TOLERANCE:
        raise TextError(index, f"the model gave a vector of length {length:.6f}, expected 1")
    return vector.astype(np.float32, copy=False)


def quantised(index: int, vectors: NDArray[np.floating]) -> NDArray[np.int8]:
    """The rows' directions in int8: each row's largest component becomes 127 or -127. Raises `TextError`.

    Sums of products of such rows are whole numbers that float32 holds exactly (up to 1040 components),
    so that scores made of them are the same bits on every machine.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not np.isfinite(largest).all() or not largest.all():
        raise TextError(index, "the model gave a token's vector that is not finite or zero")
    codes: NDArray[np.int8] = np.rint(vectors / largest * 127).astype(np.int8)
    return codes


def pooled(index: int, states: NDArray[np.float32], tokens: Spans, parts: Spans) -> NDArray[np.int8]:
    """The direction of each part's mean, (parts, dimension); one without a token has that of the whole text.

    `states` (tokens, dimension) are the tokens' vectors, `tokens` and `parts` places in one text.
    Raises `TextError` as `quantised`.
    """
    places = np.array(tokens, np.int64).reshape(-1, 2)
    means = np.empty((len(parts), states.shape[1]))
    for row, (start, end) in enumerate(parts):
        inside = (places[:, 0] < end) & (places[:, 1] > start)
        means[row] = (states[inside] if inside.any() else states).mean(axis=0, dtype=np.float64)
    return quantised(index, means)


def identity_of(parts: dict[str, Any]) -> str:
    """64 hexadecimal digits that change when anything in `parts` (JSON values) changes."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
