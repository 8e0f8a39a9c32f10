"""Texts to vectors: preparing the pinned model, encoders for it and for others, the vector cache.

Importing this costs nothing; a model library is imported when its encoder is made.
"""

from __future__ import annotations

from ragkit.embedding.base import Encoder, Spans, TextError
from ragkit.embedding.cache import CachedEncoder, cached
from ragkit.embedding.loading import begin_loading, load_encoder
from ragkit.embedding.queries import Questions
from ragkit.embedding.registry import cache_key, cache_root

__all__ = [
    "CachedEncoder",
    "Encoder",
    "Questions",
    "Spans",
    "TextError",
    "begin_loading",
    "cache_key",
    "cache_root",
    "cached",
    "load_encoder",
]
