"""The throwaway database of one run: documents, blocks, chunks and their vectors."""

from ragkit.store.store import Store
from ragkit.store.terms import terms

__all__ = ["Store", "terms"]
