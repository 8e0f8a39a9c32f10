"""The encoder that runs are made with: a quantised ONNX graph, one text per call, unpadded.

Dynamic quantisation takes one scale per call, so a text that shares a batch gets another vector. One
text per call is also the fastest way: no padding is computed, and the calls run side by side, one
calling thread per core on one shared session.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.base import Spans, TextError, checked, identity_of, pooled, prefixed, quantised
from ragkit.embedding.beside import beside
from ragkit.embedding.tokenizer import Tokenizer
from ragkit.errors import ModelError
from ragkit.records import Progress, Role

_Floats = NDArray[np.float32]
_T = TypeVar("_T")

_RECENT = 256
"""Questions whose tokens' vectors are kept for a reranker, some 50 KB each."""


class Q8Encoder:
    """Runs a graph that gives the finished vector, or one that gives `last_hidden_state`.

    In the second layout the mean over the tokens and the normalisation are done here, in float64.
    """

    def __init__(
        self,
        graph: Path,
        tokenizer: Path,
        *,
        dimension: int,
        max_tokens: int,
        prefixes: dict[Role, str],
        description: dict[str, Any],
        hashes: dict[str, str],
        threads: int | None = None,
    ) -> None:
        """`hashes` are those of the two files; `threads` defaults to the cores this process may use.

        Raises `ModelError` when the graph can't be loaded; for the tokenizer, its first use does.
        """
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.description = description
        self.threads = threads or usable_cores()
        self._prefixes = prefixes
        # This takes longer than all the rest, and isn't needed while chunks are looked up.
        self._loading = beside(Tokenizer, tokenizer)
        self._session = _session(graph)
        self._inputs = [entry.name for entry in self._session.get_inputs()]
        outputs = self._session.get_outputs()
        self._output = outputs[0].name
        self._states = next((output.name for output in outputs if len(output.shape) == 3), None)
        self._recent: dict[bytes, _Floats] = {}  # what the tokens of the latest questions became
        self.identity = identity_of(
            {
                "runner": "q8-1",
                "hashes": hashes,
                "prefixes": prefixes,
                "max_tokens": max_tokens,
                "pooling": "mean, L2" if self._output == "last_hidden_state" else "in the graph",
            }
        )

    @property
    def _tokenizer(self) -> Tokenizer:
        return self._loading.result()

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        """See `Encoder.encode`. All lengths are checked before the first text is run."""
        ids = [self._ids(index, text, role) for index, text in enumerate(texts)]
        vectors = np.empty((len(texts), self.dimension), np.float32)
        run = self._question if len(ids) == 1 and self._states else self._vector
        for index, vector in enumerate(self._each(run, ids, progress)):
            vectors[index] = vector
        return vectors

    def encode_tokens(
        self, texts: Sequence[str], role: Role, progress: Progress | None = None
    ) -> list[NDArray[np.int8]]:
        """See `Encoder.encode_tokens`."""
        prefix = self._prefixes[role]
        self._check_states()
        ids = [self._ids(index, text, role) for index, text in enumerate(texts)]
        found = []
        for index, states in enumerate(self._each(self._tokens, ids, progress)):
            # A bare word mark in front of the text is empty, and its own.
            own = [max(start + 1, end) > len(prefix) for start, end in self._tokenizer.spans(prefix + texts[index])]
            found.append(quantised(index, states[1:-1][own] if any(own) else states))  # first and last are special
        return found

    def encode_parts(
        self, texts: Sequence[str], parts: Sequence[Spans], progress: Progress | None = None
    ) -> tuple[_Floats, list[NDArray[np.int8]]]:
        """See `Encoder.encode_parts`."""
        self._check_states()
        prefix = self._prefixes["passage"]
        ids = [self._ids(index, text, "passage") for index, text in enumerate(texts)]
        outputs = list(dict.fromkeys([self._output, self._states]))

        def run(index: int, tokens: NDArray[np.int64]) -> tuple[_Floats, NDArray[np.int8]]:
            found = self._run(outputs, tokens)
            # Specials stand nowhere and the prefix before the text, so neither is in a part.
            spans = [(0, 0), *self._tokenizer.spans(prefix + texts[index]), (0, 0)]
            moved = [(start + len(prefix), end + len(prefix)) for start, end in parts[index]]
            return self._pooled(index, found[0]), pooled(index, found[-1], spans, moved)

        both = list(self._each(run, ids, progress))
        vectors = np.stack([vector for vector, _ in both]) if both else np.empty((0, self.dimension), np.float32)
        return vectors, [own for _, own in both]

    def _check_states(self) -> None:
        if self._states is None:
            raise ModelError("The prepared graph gives no tokens' vectors, which this needs: ragkit prepare --force")

    def _each(
        self, run: Callable[[int, NDArray[np.int64]], _T], ids: list[NDArray[np.int64]], progress: Progress | None
    ) -> Iterator[_T]:
        """What `run` gives for every text's index and tokens, in order."""
        if len(ids) == 1 or self.threads == 1:  # a question's latency shall not include starting threads
            for index, tokens in enumerate(ids):
                yield run(index, tokens)
                _tell(progress)
            return
        with ThreadPoolExecutor(self.threads, thread_name_prefix="ragkit-q8") as pool:
            for found in pool.map(run, range(len(ids)), ids):
                yield found
                _tell(progress)

    def count_tokens(self, text: str, role: Role | None) -> int:
        return len(self._tokenizer.spans(text) if role is None else self._tokenizer.encode(self._prefixes[role] + text))

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return self._tokenizer.spans(text)

    def _ids(self, index: int, text: str, role: Role) -> NDArray[np.int64]:
        ids = self._tokenizer.encode(prefixed(index, self._prefixes[role], text))
        if len(ids) > self.max_tokens:
            raise TextError.too_long(index, len(ids), self.max_tokens)
        return np.array([ids], np.int64)

    def _vector(self, index: int, ids: NDArray[np.int64]) -> _Floats:
        return self._pooled(index, self._run([self._output], ids)[0])

    def _question(self, index: int, ids: NDArray[np.int64]) -> _Floats:
        """As `_vector`; keeps what a reranker may ask for next, so that one pass through the model gives both."""
        found = self._run(list(dict.fromkeys([self._output, self._states])), ids)
        if len(self._recent) >= _RECENT:
            self._recent.pop(next(iter(self._recent)), None)  # another thread may have been faster
        self._recent[ids.tobytes()] = found[-1]
        return self._pooled(index, found[0])

    def _tokens(self, _: int, ids: NDArray[np.int64]) -> _Floats:
        states = self._recent.get(ids.tobytes())
        return self._run([self._states], ids)[0] if states is None else states

    def _pooled(self, index: int, vector: _Floats) -> _Floats:
        if self._output == "last_hidden_state":
            mean = vector.mean(axis=0, dtype=np.float64)
            with np.errstate(all="ignore"):  # what isn't finite is told by `checked`
                vector = (mean / np.linalg.norm(mean)).astype(np.float32)
        return checked(index, vector, self.dimension)

    def _run(self, outputs: Sequence[str | None], ids: NDArray[np.int64]) -> list[_Floats]:
        feeds = {"input_ids": ids}
        if "attention_mask" in self._inputs:
            feeds["attention_mask"] = np.ones_like(ids)
        if "token_type_ids" in self._inputs:
            feeds["token_type_ids"] = np.zeros_like(ids)
        return [found[0] for found in self._session.run(outputs, feeds)]


def usable_cores() -> int:
    """Cores that this process may run on, which in a container are fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _session(graph: Path) -> Any:
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as native

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except (native.Fail, native.InvalidArgument, native.InvalidGraph, native.InvalidProtobuf, native.NotImplemented,
            native.NoSuchFile, native.RuntimeException) as error:  # fmt: skip
        raise ModelError(
            f"{graph}: onnxruntime {onnxruntime.__version__} can't load the graph: {error}. "
            "Install the version pinned in constraints.txt, or run: ragkit prepare --force"
        ) from error


def _tell(progress: Progress | None) -> None:
    if progress is not None:
        progress(1)
