"""Text to chunks: ragkit and langchain-text-splitters, on prose made from a seed.

Like is compared with like: chunks with their place in the document (ragkit's have their blocks, too) with
`create_documents(add_start_index=True)`, bare cutting with `split_text`. Both must give the same chunks.
"""

from __future__ import annotations

import random
from functools import partial

from frame import Row, Section, faster, rows
from langchain_text_splitters import RecursiveCharacterTextSplitter
from timing import alternate

from ragkit.chunking import chunk_document
from ragkit.chunking.recursive import split
from ragkit.config import RecursiveChunking
from ragkit.records import Block, Document

SETTINGS = [(500, 50), (2000, 200)]
"""Chunk size and overlap in characters."""


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


def compared(texts: list[str], size: int, overlap: int) -> list[Row]:
    config = RecursiveChunking(strategy="recursive", chunk_size=size, chunk_overlap=overlap)
    peer = RecursiveCharacterTextSplitter(
        chunk_size=size,
        chunk_overlap=overlap,
        separators=list(config.separators),
        keep_separator="end",
        add_start_index=True,
    )
    documents = [document_of(text, f"{number}.txt") for number, text in enumerate(texts)]
    ours = [[chunk.text for chunk in chunk_document(document, config)] for document in documents]
    same = ours == [peer.split_text(text) for text in texts]
    works = {
        "chunks with their places": (partial(chunk_all, documents, config), partial(peer.create_documents, texts)),
        "cutting alone": (partial(cut_all, texts, config), partial(split_all, peer, texts)),
    }
    found = []
    for work, (own, theirs) in works.items():
        measured = alternate({"ragkit": own, "langchain-text-splitters": theirs})
        found += rows(
            f"{work}, size {size}, overlap {overlap}",
            measured,
            ours=["ragkit"],
            peers=["langchain-text-splitters"],
            amount=sum(len(text.encode()) for text in texts) / 1e6,
            unit="MB",
            checked=f"{sum(map(len, ours)):,} chunks, the same texts" if same else "chunks differ",
            bars=[faster(measured, "ragkit", ["langchain-text-splitters"], 1.0, "langchain-text-splitters")],
        )
    return found


def measure(quick: bool) -> Section:
    texts = [prose(seed, 50_000) for seed in range(1 if quick else 40)]
    found = [row for size, overlap in SETTINGS for row in compared(texts, size, overlap)]
    return Section("Chunking", found, ("langchain-text-splitters",))
