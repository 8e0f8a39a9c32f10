"""Between our hits and the candidates of any system: to candidates for fixtures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ragkit.config import Configuration
from ragkit.embedding import Encoder
from ragkit.files import canonical_line, sha256_bytes
from ragkit.interop.shapes import Candidate, Reading
from ragkit.records import Chunk, Document
from ragkit.retrieval import Retriever


def ask(retriever: Retriever, documents: Sequence[Document]) -> Callable[[str, int], Reading]:
    """A function from (question, k) to candidates.

    A candidate's breadcrumb and page are those of the block that the chunk holds most of.
    """
    blocks = {document.slug: document.blocks for document in documents}

    def candidates(question: str, k: int) -> Reading:
        found = []
        for hit in retriever.search(question, k):
            block = blocks[hit.chunk.slug][_main_block(hit.chunk)]
            found.append(Candidate(hit.chunk.slug, block.breadcrumb, hit.chunk.text, hit.score, hit.rank, block.page))
        return Reading(found)

    return candidates


def provenance(settings: Configuration, documents: Sequence[Document], encoder: Encoder) -> dict[str, Any]:
    """What decided the answers, for the fixture: no path, no host, no time."""
    pairs = sorted((document.slug, document.sha256) for document in documents)
    return {
        "configuration": settings.name,
        "config_id": settings.config_id,
        "corpus_sha256": sha256_bytes("".join(canonical_line(pair) for pair in pairs).encode()),
        "model": encoder.description,
    }


def _main_block(chunk: Chunk) -> int:
    return max(chunk.spans, key=lambda span: span.end - span.start).block
