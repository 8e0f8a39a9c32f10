"""Questions, judgments and splits: reading, checking, and locating them in the parsed corpus."""

from ragkit.dataset.fingerprint import dataset_hashes
from ragkit.dataset.locate import Place, locate
from ragkit.dataset.questions import read_questions
from ragkit.dataset.resolve import Resolution, resolve
from ragkit.dataset.schema import question_schema, splits_schema, write_schemas
from ragkit.dataset.similar import similar_pairs
from ragkit.dataset.splits import make_splits, read_splits, render_splits
from ragkit.dataset.validate import Report, validate

__all__ = [
    "Place",
    "Report",
    "Resolution",
    "dataset_hashes",
    "locate",
    "make_splits",
    "question_schema",
    "read_questions",
    "read_splits",
    "render_splits",
    "resolve",
    "similar_pairs",
    "splits_schema",
    "validate",
    "write_schemas",
]
