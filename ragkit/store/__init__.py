"""The throwaway database of one run: documents, blocks, chunks and their vectors."""

from ragkit.store.store import Store

__all__ = ["Store"]
