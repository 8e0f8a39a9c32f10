"""A model that reads question and chunk together; any local folder that sentence-transformers can load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ragkit.embedding.sentence_transformer import loading
from ragkit.errors import EncodingError, ModelError
from ragkit.records import Hit


class CrossEncoderReranker:
    """Loads a folder by its path, never a name, so that no hub is ever asked.

    One pair per call: a padded batch would move the last bits of a score with what shares it. Raises
    `ModelError` when the folder can't be loaded or the model gives more than one score.
    """

    def __init__(self, folder: Path) -> None:
        if not (folder / "config.json").is_file():
            raise ModelError(
                f"{folder}: not a cross-encoder (no config.json): retrieval.cross_encoder names a folder on this machine"
            )
        self._folder = folder
        with loading(folder, "can't be loaded as a cross-encoder", quiet=False) as library:
            self._model = library.CrossEncoder(
                str(folder.resolve()), device="cpu", local_files_only=True, trust_remote_code=False
            )
        # The older name of the same limit warns where the newer one exists.
        self._limit = getattr(self._model, "max_seq_length", None) or getattr(self._model, "max_length", None)

    def scores(self, question: str, hits: Sequence[Hit]) -> list[float]:
        """What the model says of question and embedded text. Raises `EncodingError` for a pair it can't read to the end."""
        pairs = [(question, hit.chunk.embedded_text) for hit in hits]
        for (_, text), hit in zip(pairs, hits, strict=True):
            tokens = len(self._model.tokenizer(question, text, truncation=False, verbose=False)["input_ids"])
            if self._limit is not None and tokens > self._limit:
                where = f"{hit.chunk.slug}, chunk {hit.chunk.index} (block {hit.chunk.spans[0].block})"
                raise EncodingError(
                    f"{where}: {tokens} tokens with the question, the cross-encoder reads {self._limit}: use smaller chunks"
                )
        found = np.asarray(self._model.predict(pairs, batch_size=1, show_progress_bar=False), np.float64)
        if found.shape != (len(hits),) or not np.isfinite(found).all():
            raise ModelError(f"{self._folder}: must give one finite score for a pair, gave the shape {found.shape}")
        return [float(score) for score in found]
