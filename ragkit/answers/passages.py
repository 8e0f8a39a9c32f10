"""The sentences that chunks hold, and where they stand in the text that is embedded."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile

from ragkit.embedding import Spans
from ragkit.records import Block, Chunk, Document, Span
from ragkit.sentences import Sentence, cut, split_block


class Passages:
    """The sentences of a corpus, found by the chunks that hold them."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._blocks = {document.slug: document.blocks for document in documents}
        # A long block is cut into many chunks, and a chunk is an answer to many questions.
        self._split = lru_cache(maxsize=1 << 14)(lambda slug, order: split_block(slug, self._blocks[slug][order]))

    def block(self, sentence: Sentence) -> Block:
        return self._blocks[sentence.slug][sentence.block]

    def held(self, chunk: Chunk) -> list[Sentence]:
        """The sentences that all stand in the chunk; of a chunk without one its longest part."""
        whole = [sentence for span in chunk.spans for sentence in self._within(chunk.slug, span)]
        if whole:
            return whole
        longest = max(chunk.spans, key=lambda span: span.end - span.start)
        part = cut(chunk.slug, self._blocks[chunk.slug][longest.block], longest.start, longest.end)
        return [part] if part and len(part.text) > 1 else []  # one character stands for a passage that wasn't found

    def parts(self, chunk: Chunk) -> Spans:
        """Where those sentences stand in the chunk's embedded text."""
        moved = len(chunk.context) - chunk.start
        return [(sentence.start + moved, sentence.end + moved) for sentence in self.held(chunk)]

    def alone(self, chunk: Chunk) -> list[Chunk]:
        """The chunk's sentences as chunks of their own: for one that may be longer than a model reads."""
        return [
            Chunk(chunk.slug, chunk.index, s.start, s.end, s.text, (Span(s.block, s.start, s.end),))
            for s in self.held(chunk)
        ]

    def _within(self, slug: str, span: Span) -> Iterable[Sentence]:
        sentences = self._split(slug, span.block)
        first = bisect_left(sentences, span.start, key=lambda sentence: sentence.start)
        return takewhile(lambda sentence: sentence.end <= span.end, sentences[first:])
