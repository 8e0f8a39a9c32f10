"""One configuration: everything that decides a run, read from one TOML file.

Unknown sections, strategies and keys are refused with near matches, all problems at once. `config_id`
is the hash of what was read, so that two files that say the same have the same id.
"""

from ragkit.config.chunking import (
    BlockChunking,
    ChunkingConfig,
    HeadingChunking,
    OverlappingChunking,
    RecursiveChunking,
    SentenceChunking,
)
from ragkit.config.configuration import (
    STRATEGIES,
    AnswersConfig,
    Configuration,
    DatasetConfig,
    EvaluationConfig,
    ModelConfig,
)
from ragkit.config.reading import DEFAULT_PATH, external, load, parse
from ragkit.config.retrieval import (
    Bm25Retrieval,
    DenseRetrieval,
    ExternalRetrieval,
    HybridRetrieval,
    RerankedRetrieval,
    RetrievalConfig,
)

__all__ = [
    "DEFAULT_PATH",
    "STRATEGIES",
    "AnswersConfig",
    "BlockChunking",
    "Bm25Retrieval",
    "ChunkingConfig",
    "Configuration",
    "DatasetConfig",
    "DenseRetrieval",
    "EvaluationConfig",
    "ExternalRetrieval",
    "HeadingChunking",
    "HybridRetrieval",
    "ModelConfig",
    "OverlappingChunking",
    "RecursiveChunking",
    "RerankedRetrieval",
    "RetrievalConfig",
    "SentenceChunking",
    "external",
    "load",
    "parse",
]
