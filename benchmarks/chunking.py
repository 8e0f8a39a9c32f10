"""Megabytes of text chunked in a second: ragkit and langchain-text-splitters.

Compare like with like: chunks with their place in the document (ragkit: and their blocks) with
`create_documents(add_start_index=True)`, bare cutting with `split_text`.

    python benchmarks/chunking.py [FILE ...]      # default: prose made from a seed

Wants `pip install langchain-text-splitters`. Checks first that both give the same chunks.
"""

from __future__ import annotations

import random
import sys
from functools import partial
from pathlib import Path

import timing
from langchain_text_splitters import RecursiveCharacterTextSplitter

from ragkit.chunking import chunk_document
from ragkit.chunking.recursive import split
from ragkit.config import RecursiveChunking
from ragkit.records import Block, Document


def prose(seed: int, size: int) -> str:
    """Paragraphs of 1 to 12 sentences of made-up words, about `size` characters."""
    draw = random.Random(seed)  # noqa: S311  not for secrets: the same text every time
    words = ["".join(draw.choices("etaoinshrdlucmfw", k=draw.randint(2, 10))) for _ in range(5000)]
    paragraphs: list[str] = []
    while size > 0:
        sentences = (" ".join(draw.choices(words, k=draw.randint(4, 25))) + "." for _ in range(draw.randint(1, 12)))
        paragraphs.append(" ".join(sentences))
        size -= len(paragraphs[-1]) + 2
    return "\n\n".join(paragraphs)


def document_of(text: str, slug: str) -> Document:
    """A document with a block for every paragraph."""
    blocks = []
    start = 0
    for order, passage in enumerate(text.split("\n\n")):
        blocks.append(Block(order, "paragraph", None, (), passage, start, start + len(passage)))
        start += len(passage) + 2
    return Document(slug, "text", slug, text, tuple(blocks), None, "")


def chunk_all(documents: list[Document], config: RecursiveChunking) -> None:
    for document in documents:
        chunk_document(document, config)


def cut_all(texts: list[str], config: RecursiveChunking) -> None:
    for text in texts:
        split(text, config.chunk_size, config.chunk_overlap, config.separators)


def split_all(peer: RecursiveCharacterTextSplitter, texts: list[str]) -> None:
    for text in texts:
        peer.split_text(text)


def main(paths: list[str]) -> None:
    texts = [Path(path).read_text(encoding="utf-8") for path in paths] or [prose(seed, 50_000) for seed in range(40)]
    documents = [document_of(text, f"{number}.txt") for number, text in enumerate(texts)]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    for size, overlap in [(500, 50), (500, 250), (2000, 200)]:
        config = RecursiveChunking(strategy="recursive", chunk_size=size, chunk_overlap=overlap)
        peer = RecursiveCharacterTextSplitter(
            chunk_size=size,
            chunk_overlap=overlap,
            separators=list(config.separators),
            keep_separator="end",
            add_start_index=True,
        )
        same = all(
            [chunk.text for chunk in chunk_document(document, config)] == peer.split_text(document.text)
            for document in documents
        )
        seconds = timing.alternate(
            {
                "ragkit: chunks and block spans": partial(chunk_all, documents, config),
                "ragkit: ranges": partial(cut_all, texts, config),
                "langchain: documents with start": partial(peer.create_documents, texts),
                "langchain: texts": partial(split_all, peer, texts),
            },
            repeats=9,
        )
        title = f"Chunking {megabytes:.1f} MB, size {size}, overlap {overlap}; same chunks: {'yes' if same else 'no'}"
        timing.show(title, timing.rows(seconds, megabytes, "MB"))


if __name__ == "__main__":
    main(sys.argv[1:])
