"""Documents to chunks: a strategy decides where to cut, `spans` turns the cuts into chunks.

A strategy is a function of a document and its section of the configuration that gives ranges
`[start, end)` of `document.text`: non-empty, beginning and ending with something else than white
space, starts and ends both increasing, and together holding all that isn't white space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ragkit.chunking import recursive
from ragkit.chunking.spans import chunks_of
from ragkit.config import ChunkingConfig
from ragkit.records import Chunk, Document

Range = tuple[int, int]

_STRATEGIES: dict[str, Callable[[Document, ChunkingConfig], Iterable[Range]]] = {
    "recursive": lambda document, config: recursive.split(
        document.text, config.chunk_size, config.chunk_overlap, config.separators
    ),
}


def chunk_document(document: Document, config: ChunkingConfig) -> list[Chunk]:
    """The chunks of a document in reading order; none if it has nothing but white space.

    Deterministic, in time linear in the text it reads and returns. Each chunk knows the block spans it
    holds, and its text is `document.text[chunk.start:chunk.end]`.
    """
    return chunks_of(document, _STRATEGIES[config.strategy](document, config))
