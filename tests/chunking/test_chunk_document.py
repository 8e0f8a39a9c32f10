"""Chunks know their text and the blocks they hold."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkit.chunking import chunk_document
from ragkit.chunking.spans import chunks_of
from ragkit.config import RecursiveChunking
from ragkit.records import Document, Span

Make = Callable[..., Document]


def recursive(size: int, overlap: int = 0) -> RecursiveChunking:
    return RecursiveChunking(strategy="recursive", chunk_size=size, chunk_overlap=overlap)


def test_a_chunk_names_the_spans_of_its_blocks_without_the_blank_lines_between(make_document: Make) -> None:
    document = make_document("a.md", ["Title", "First words here.", "Then more of them."])
    chunks = chunk_document(document, recursive(28))
    assert [(chunk.index, chunk.text) for chunk in chunks] == [
        (0, "Title\n\nFirst words here."),
        (1, "Then more of them."),
    ]
    assert chunks[0].spans == (Span(0, 0, 5), Span(1, 7, 24))
    assert chunks[1].spans == (Span(2, 26, 44),)
    assert {chunk.slug for chunk in chunks} == {"a.md"}
    assert chunks[0].embedded_text == chunks[0].text


def test_a_block_cut_in_two_is_named_by_both_chunks(make_document: Make) -> None:
    document = make_document("a.md", ["one two three four"])
    assert [chunk.spans for chunk in chunk_document(document, recursive(10))] == [
        (Span(0, 0, 7),),
        (Span(0, 8, 18),),
    ]


def test_an_overlap_tail_is_a_span_of_its_own(make_document: Make) -> None:
    document = make_document("a.md", ["aa", "bb", "cc"])
    assert [chunk.spans for chunk in chunk_document(document, recursive(8, 4))] == [
        (Span(0, 0, 2), Span(1, 4, 6)),
        (Span(1, 4, 6), Span(2, 8, 10)),
    ]


def test_an_empty_block_gives_no_span(make_document: Make) -> None:
    document = make_document("a.md", ["aa", "", "cc"])
    (chunk,) = chunks_of(document, [(0, len(document.text))])
    assert [span.block for span in chunk.spans] == [0, 2]


def test_a_document_without_text_has_no_chunks(make_document: Make) -> None:
    assert chunk_document(make_document("a.md", [""]), recursive(10)) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(st.sampled_from("abç漢. \n"), min_size=1, max_size=60), min_size=1, max_size=8),
    size=st.integers(1, 60),
    overlap=st.integers(0, 59),
)
def test_every_span_slices_back_and_nothing_is_lost(
    make_document: Make, texts: list[str], size: int, overlap: int
) -> None:
    document = make_document("a.md", texts)
    chunks = chunk_document(document, recursive(size, min(overlap, size - 1)))
    held: dict[int, set[int]] = {block.order: set() for block in document.blocks}
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.spans
        assert list(chunk.spans) == sorted(chunk.spans, key=lambda span: span.block)
        for span in chunk.spans:
            block = document.blocks[span.block]
            assert block.start <= span.start < span.end <= block.end
            assert chunk.start <= span.start
            assert span.end <= chunk.end
            assert document.text[span.start : span.end] == block.text[span.start - block.start : span.end - block.start]
            held[span.block].update(range(span.start, span.end))
    for block in document.blocks:
        words = {at for at in range(block.start, block.end) if not document.text[at].isspace()}
        assert words <= held[block.order]
