"""From a configuration's `[model]` section to an encoder. Never touches the network."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkit.config import ModelConfig
from ragkit.embedding.base import Encoder
from ragkit.embedding.beside import beside
from ragkit.embedding.registry import Source, model_folder, registered
from ragkit.errors import ConfigError, ModelMissing
from ragkit.records import Role

if TYPE_CHECKING:
    from ragkit.embedding.q8 import Q8Encoder


def load_encoder(config: ModelConfig, cache: Path) -> Encoder:
    """The encoder that a configuration names, from the prepared models in `cache` or a local path.

    Every file that it uses is checked first. Raises `ModelMissing` when nothing was prepared,
    `ModelError` when a file is damaged or can't be loaded, `ConfigError` when the model has no such
    name or precision.
    """
    prefixes: dict[Role, str] = {"query": config.query_prefix, "passage": config.passage_prefix}
    if config.source == "builtin":
        from ragkit.embedding.hashing import HashingEncoder

        return HashingEncoder(prefixes)
    if config.source == "path":
        from ragkit.embedding.sentence_transformer import SentenceTransformerEncoder

        about: dict[str, Any] = {"name": config.name, "source": "path"}
        return SentenceTransformerEncoder(Path(config.path or ""), prefixes=prefixes, about=about)
    source = registered(config.source)
    if config.name != source.model:
        raise ConfigError(f'model.name: source "{source.name}" has {source.model!r} only, found {config.name!r}')
    if config.precision not in source.precisions:
        known = ", ".join(source.precisions)
        raise ConfigError(f'model.precision: source "{source.name}" has {known} only, found {config.precision!r}')
    folder = model_folder(source, cache)
    if not folder.exists():
        raise ModelMissing
    return open_prepared(source, folder, config.precision, prefixes)


def begin_loading(config: ModelConfig, cache: Path) -> Future[Encoder]:
    """`load_encoder` beside what the caller does next; the future raises what that raises."""
    return beside(load_encoder, config, cache)


def open_prepared(source: Source, folder: Path, precision: str, prefixes: dict[Role, str]) -> Encoder:
    """The encoder of a prepared folder, wherever it is. Raises `ModelError`."""
    from ragkit.embedding import manifest

    hashes = manifest.verify(folder, source.about, source.command, precision)
    if precision == "float32":
        from ragkit.embedding.sentence_transformer import SentenceTransformerEncoder

        about = {key: value for key, value in source.about.items() if key not in {"graph_sha256", "weights"}}
        about["weights"] = source.reference
        return SentenceTransformerEncoder(folder / "reference", prefixes=prefixes, about=about, hashes=hashes)
    return open_q8(source, folder, hashes, prefixes)


def open_q8(source: Source, folder: Path, hashes: dict[str, str], prefixes: dict[Role, str]) -> Q8Encoder:
    """The q8 encoder of a folder whose files were checked to have `hashes`."""
    from ragkit.embedding.q8 import Q8Encoder

    return Q8Encoder(
        folder / "model.onnx",
        folder / "tokenizer.model",
        dimension=source.dimension,
        max_tokens=source.max_tokens,
        prefixes=prefixes,
        description={**source.about, "precision": "q8", "prefixes": dict(prefixes)},
        hashes=hashes,
    )
