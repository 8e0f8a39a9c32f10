"""The encoder for any local sentence-transformers folder, and for the float32 reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.base import Spans, TextError, checked, identity_of, pooled, prefixed, quantised
from ragkit.errors import ModelError
from ragkit.files import sha256_file
from ragkit.records import Progress, Role


class SentenceTransformerEncoder:
    """Loads a folder by its path, never a name, so that no hub is ever asked.

    One text per call: a padded batch moves the last bits of a vector with what shares it, and the
    vector cache would make a run depend on what was in it. `batch_size` is for measuring speed; another
    one is another identity. The prefixes come from the configuration; the folder's own prompts are not used.
    """

    def __init__(
        self,
        folder: Path,
        *,
        prefixes: dict[Role, str],
        about: dict[str, Any],
        hashes: dict[str, str] | None = None,
        batch_size: int = 1,
    ) -> None:
        """`hashes` are those of the folder's files, when they are known. Raises `ModelError`."""
        if not (folder / "modules.json").is_file():
            raise ModelError(
                f"{folder}: not a sentence-transformers model (no modules.json): "
                "model.path names a folder on this machine, made by SentenceTransformer.save or ragkit prepare"
            )
        known = hashes is not None
        hashes = hashes or {
            path.relative_to(folder).as_posix(): sha256_file(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        self._model = _load(folder, quiet=known)
        self._tokenizer = _fast_tokenizer(self._model, folder)
        self._prefixes = prefixes
        self.threads = 1  # torch uses all cores for one call
        self._batch_size = batch_size
        self.dimension = int(_dimension(self._model))
        self.max_tokens = int(self._model.max_seq_length or 512)
        self.description: dict[str, Any] = {
            **about,
            "precision": "float32",
            "dimension": self.dimension,
            "max_tokens": self.max_tokens,
            "model_sha256": identity_of(hashes),
            "prefixes": dict(prefixes),
        }
        self.identity = identity_of({"runner": "sentence-transformers-1", "hashes": hashes, "prefixes": prefixes}
                                    | {"max_tokens": self.max_tokens, "batch_size": batch_size})  # fmt: skip

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        """See `Encoder.encode`. All lengths are checked before the first text is run."""
        whole = self._whole(texts, role)
        vectors = np.empty((len(whole), self.dimension), np.float32)
        for start in range(0, len(whole), self._batch_size):
            batch = whole[start : start + self._batch_size]
            found = self._model.encode(
                batch, prompt="", batch_size=self._batch_size, show_progress_bar=False, normalize_embeddings=True
            )
            for offset, vector in enumerate(found):
                vectors[start + offset] = checked(start + offset, vector, self.dimension)
            if progress is not None:
                progress(len(batch))
        return vectors

    def encode_tokens(
        self, texts: Sequence[str], role: Role, progress: Progress | None = None
    ) -> list[NDArray[np.int8]]:
        """See `Encoder.encode_tokens`."""
        before = len(self._prefixes[role])
        found = []
        for index, (_, states, spans) in enumerate(self._all(texts, role)):
            own = [end > before for _, end in spans]  # a special token stands at (0, 0)
            found.append(quantised(index, states[own] if any(own) else states))
            if progress is not None:
                progress(1)
        return found

    def encode_parts(
        self, texts: Sequence[str], parts: Sequence[Spans], progress: Progress | None = None
    ) -> tuple[NDArray[np.float32], list[NDArray[np.int8]]]:
        """See `Encoder.encode_parts`."""
        before = len(self._prefixes["passage"])
        vectors, found = np.empty((len(texts), self.dimension), np.float32), []
        for index, (vector, states, spans) in enumerate(self._all(texts, "passage")):
            vectors[index] = checked(index, vector / np.linalg.norm(vector), self.dimension)
            moved = [(start + before, end + before) for start, end in parts[index]]
            found.append(pooled(index, states, spans, moved))
            if progress is not None:
                progress(1)
        return vectors, found

    def _all(
        self, texts: Sequence[str], role: Role
    ) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32], Spans]]:
        """Of each text its vector, its tokens' vectors, and where they stand in the text with its prefix."""
        for text in self._whole(texts, role):
            out = self._model.encode([text], prompt="", output_value=None, show_progress_bar=False)[0]
            found = self._tokenizer(text, return_offsets_mapping=True, truncation=False, verbose=False)
            yield out["sentence_embedding"].numpy(), out["token_embeddings"].numpy(), found["offset_mapping"]

    def count_tokens(self, text: str, role: Role | None) -> int:
        return self._count(text if role is None else self._prefixes[role] + text, specials=role is not None)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        found = self._tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        return [(start, end) for start, end in found["offset_mapping"]]

    def _whole(self, texts: Sequence[str], role: Role) -> list[str]:
        """The texts with their prefix, none of them too long."""
        whole = [prefixed(index, self._prefixes[role], text) for index, text in enumerate(texts)]
        for index, text in enumerate(whole):
            if (tokens := self._count(text, specials=True)) > self.max_tokens:
                raise TextError.too_long(index, tokens, self.max_tokens)
        return whole

    def _count(self, text: str, *, specials: bool) -> int:
        return len(self._tokenizer(text, add_special_tokens=specials, truncation=False, verbose=False)["input_ids"])


def _load(folder: Path, *, quiet: bool) -> Any:
    """`quiet`: without the report on weights that file and architecture don't share (the unused pooler)."""
    with loading(folder, "sentence-transformers can't load it", quiet=quiet) as library:
        return library.SentenceTransformer(
            str(folder.resolve()), device="cpu", local_files_only=True, trust_remote_code=False
        )


@contextmanager
def loading(folder: Path, failure: str, *, quiet: bool) -> Iterator[Any]:
    """The module `sentence_transformers`, without progress bars; what is raised inside becomes a `ModelError`."""
    try:
        import sentence_transformers
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise ModelError(f"sentence-transformers can't be imported: {error}. Run: pip install ragkit") from error
    logging: Any = transformers_logging  # its functions carry no types
    bars, verbosity = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    if quiet:
        logging.set_verbosity_error()
    try:
        yield sentence_transformers
    except Exception as error:  # a damaged folder fails in any of four libraries, each in its own way
        raise ModelError(f"{folder}: {failure}: {type(error).__name__}: {error}") from error
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _dimension(model: Any) -> int:
    ask = getattr(model, "get_embedding_dimension", None) or model.get_sentence_embedding_dimension
    return int(ask())


def _fast_tokenizer(model: Any, folder: Path) -> Any:
    tokenizer = model.tokenizer
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(f"{folder}: has no tokenizer.json, so its tokens can't be located in the text")
    return tokenizer
