"""Documents to chunks: a strategy decides where to cut, `spans` turns the cuts into chunks.

A strategy is a function of a part of a document and its section of the configuration that gives ranges
`[start, end)` of `document.text`: non-empty, beginning and ending with something else than white
space, starts and ends both increasing, and together holding all of the part that isn't white space.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ragkit.chunking import blocks, context, heading, recursive, sentences
from ragkit.chunking.parts import Part, Range, parts_of
from ragkit.chunking.spans import chunks_of
from ragkit.config import BlockChunking, ChunkingConfig, HeadingChunking, SentenceChunking
from ragkit.records import Chunk, Document


def chunk_document(document: Document, config: ChunkingConfig) -> list[Chunk]:
    """The chunks of a document in reading order; none if it has nothing but white space.

    Deterministic, in time linear in the text it reads and returns. Each chunk knows the block spans it
    holds, and its text is `document.text[chunk.start:chunk.end]`; what is put before it when it is
    embedded is its `context`, which counts for the model's limit of tokens.
    """
    parts = parts_of(document, across_pages=config.across_pages)
    chunks = chunks_of(document, (cut for part in parts for cut in _ranges(part, config)))
    if config.context == "none":
        return chunks
    before = context.BUILDERS[config.context]
    return [replace(chunk, context=before(document, chunk)) for chunk in chunks]


def _ranges(part: Part, config: ChunkingConfig) -> Iterator[Range]:
    if isinstance(config, HeadingChunking):
        return heading.split(part, config)
    if isinstance(config, BlockChunking):
        return blocks.split(part, config)
    if isinstance(config, SentenceChunking):
        return sentences.split(part, config)
    return recursive.split_part(part, config)
