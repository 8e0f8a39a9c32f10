"""Where each strategy cuts, and what holds of all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ragkit.chunking import chunk_document
from ragkit.config import STRATEGIES, ChunkingConfig
from ragkit.records import Block, BlockKind, Document

Make = Callable[..., Document]
CONFIG: TypeAdapter[ChunkingConfig] = TypeAdapter(ChunkingConfig)


def chunking(strategy: str, **entries: Any) -> ChunkingConfig:
    return CONFIG.validate_python({"strategy": strategy, **entries})


def passages(document: Document, strategy: str, **entries: Any) -> list[str]:
    return [chunk.text for chunk in chunk_document(document, chunking(strategy, **entries))]


def manual(*entries: tuple[int, str], title: str = "Manual") -> Document:
    """Headings of level 1 or more, and paragraphs (level 0), with the breadcrumbs they give."""
    blocks: list[Block] = []
    above: list[tuple[int, str]] = []
    start = 0
    for order, (level, text) in enumerate(entries):
        kind: BlockKind = "heading" if level else "paragraph"
        if level:
            above = [entry for entry in above if entry[0] < level]
        breadcrumb = tuple(heading for _, heading in above)
        blocks.append(Block(order, kind, None, breadcrumb, text, start, start + len(text)))
        if level:
            above.append((level, text))
        start += len(text) + 2
    return Document("m.md", "markdown", title, "\n\n".join(text for _, text in entries), tuple(blocks), None, "")


# --- heading ------------------------------------------------------------------------------------------


def test_a_section_is_a_heading_and_what_follows_it() -> None:
    document = manual((1, "Care"), (0, "Keep dry."), (2, "Seal"), (0, "Grease it."), (0, "Once a year."))
    assert passages(document, "heading") == ["Care\n\nKeep dry.", "Seal\n\nGrease it.\n\nOnce a year."]


def test_a_heading_with_nothing_beneath_goes_with_the_section_after_it() -> None:
    document = manual((1, "Care"), (2, "Seal"), (0, "Grease it."), (1, "End"))
    assert passages(document, "heading") == ["Care\n\nSeal\n\nGrease it.", "End"]


def test_text_before_the_first_heading_is_a_section_too() -> None:
    assert passages(manual((0, "Preface."), (1, "Care"), (0, "Dry.")), "heading") == ["Preface.", "Care\n\nDry."]


def test_a_long_section_is_split_by_itself() -> None:
    document = manual((1, "Care"), (0, "one two three"), (1, "End"), (0, "four"))
    assert passages(document, "heading", chunk_size=11, chunk_overlap=0) == ["Care", "one two", "three", "End\n\nfour"]


# --- block --------------------------------------------------------------------------------------------


def test_a_block_is_a_chunk(make_document: Make) -> None:
    assert passages(make_document("a.md", ["One.", "Two.", "Three."]), "block") == ["One.", "Two.", "Three."]


def test_neighbouring_blocks_are_merged_up_to_the_number_and_the_size(make_document: Make) -> None:
    document = make_document("a.md", ["1", "2", "3", "456789", "0"])
    assert passages(document, "block", blocks=2, chunk_overlap=0) == ["1\n\n2", "3\n\n456789", "0"]
    assert passages(document, "block", blocks=9, chunk_size=7, chunk_overlap=0) == ["1\n\n2\n\n3", "456789", "0"]


def test_a_long_block_is_split_and_its_neighbours_are_not_joined_to_it(make_document: Make) -> None:
    document = make_document("a.md", ["x", "one two", "y"])
    assert passages(document, "block", blocks=9, chunk_size=5, chunk_overlap=0) == ["x", "one", "two", "y"]


# --- sentence -----------------------------------------------------------------------------------------

FIVE = ["Aa. Bb. Cc.", "Dd. Ee."]


def test_windows_of_sentences_run_over_blocks_and_repeat_some(make_document: Make) -> None:
    document = make_document("a.md", FIVE)
    assert passages(document, "sentence", sentences=3, sentence_overlap=1) == ["Aa. Bb. Cc.", "Cc.\n\nDd. Ee."]
    assert passages(document, "sentence", sentences=2, sentence_overlap=0) == ["Aa. Bb.", "Cc.\n\nDd.", "Ee."]
    assert passages(document, "sentence", sentences=1, sentence_overlap=0) == ["Aa.", "Bb.", "Cc.", "Dd.", "Ee."]


def test_the_size_ends_a_window_and_repeats_give_way(make_document: Make) -> None:
    document = make_document("a.md", FIVE)
    assert passages(document, "sentence", chunk_size=8, sentences=4, sentence_overlap=3) == [
        "Aa. Bb.",
        "Bb. Cc.",
        "Cc.\n\nDd.",
        "Dd. Ee.",
    ]
    assert passages(make_document("a.md", ["Aa. Bbbbb."]), "sentence", chunk_size=6) == ["Aa.", "Bbbbb."]


def test_a_sentence_longer_than_the_size_is_cut(make_document: Make) -> None:
    assert passages(make_document("a.md", ["one two. Six."]), "sentence", chunk_size=5) == ["one", "two.", "Six."]


def test_chinese_sentences_need_no_space(make_document: Make) -> None:
    document = make_document("a.md", ["先关闭阀门。再打开盖子。"])
    assert passages(document, "sentence", sentences=1, sentence_overlap=0) == ["先关闭阀门。", "再打开盖子。"]


# --- pages and context --------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["recursive", "heading", "sentence"])
def test_a_chunk_runs_over_pages_only_where_it_may(make_document: Make, strategy: str) -> None:
    document = make_document("a.pdf", ["One.", "Two.", "Three."], pages=[1, 1, 2])
    assert passages(document, strategy) == ["One.\n\nTwo.\n\nThree."]
    assert passages(document, strategy, across_pages=False) == ["One.\n\nTwo.", "Three."]
    unpaged = make_document("a.md", ["One.", "Two."])
    assert passages(unpaged, strategy, across_pages=False) == ["One.\n\nTwo."]


def test_context_is_embedded_and_never_quoted() -> None:
    document = manual((1, "Care"), (2, "Seal"), (0, "Grease it."))
    for context, line in [("none", ""), ("title", "Manual\n"), ("breadcrumb", "Care > Seal\n")]:
        chunk = chunk_document(document, chunking("block", context=context))[-1]
        assert (chunk.text, chunk.embedded_text) == ("Grease it.", f"{line}Grease it.")
        assert document.text[chunk.start : chunk.end] == chunk.text


def test_a_breadcrumb_has_only_what_stands_above_all_of_a_chunk() -> None:
    document = manual((1, "Care"), (2, "Seal"), (0, "Grease."), (2, "Lid"), (0, "Wipe."), (1, "End"), (0, "Bye."))
    contexts = [c.context for c in chunk_document(document, chunking("block", blocks=2, context="breadcrumb"))]
    assert contexts == ["", "Care\n", "", "End\n"]
    sections = [(c.context, c.text[:4]) for c in chunk_document(document, chunking("heading"))]
    assert sections == [("", "Care"), ("Care\n", "Lid\n"), ("", "End\n")]


# --- all of them --------------------------------------------------------------------------------------

PIECES = st.text(st.sampled_from("abç漢。. \n"), max_size=60)
KINDS: Sequence[BlockKind] = ("heading", "paragraph", "list_item", "table", "code")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    blocks=st.lists(st.tuples(PIECES, st.sampled_from(KINDS), st.integers(0, 1)), min_size=1, max_size=8),
    strategy=st.sampled_from(sorted(STRATEGIES["chunking"])),
    size=st.integers(1, 60),
    overlap=st.integers(0, 59),
    count=st.integers(1, 4),
    across=st.booleans(),
    context=st.sampled_from(["none", "breadcrumb", "title"]),
)
def test_nothing_is_lost_every_span_slices_back_and_no_chunk_is_too_long(
    make_document: Make,
    blocks: list[tuple[str, BlockKind, int]],
    strategy: str,
    size: int,
    overlap: int,
    count: int,
    across: bool,
    context: str,
) -> None:
    pages = [1 + sum(turn for _, _, turn in blocks[: at + 1]) for at in range(len(blocks))]
    document = make_document("a.pdf", [text for text, _, _ in blocks], pages, kinds=[kind for _, kind, _ in blocks])
    own: dict[str, Any] = {"sentence": {"sentences": count, "sentence_overlap": min(overlap, count - 1)}}.get(
        strategy, {"chunk_overlap": min(overlap, size - 1)} | ({"blocks": count} if strategy == "block" else {})
    )
    config = chunking(strategy, chunk_size=size, across_pages=across, context=context, **own)
    chunks = chunk_document(document, config)
    held = {at for chunk in chunks for span in chunk.spans for at in range(span.start, span.end)}
    assert {at for at, character in enumerate(document.text) if not character.isspace()} <= held
    for index, chunk in enumerate(chunks):
        assert (chunk.index, chunk.text) == (index, document.text[chunk.start : chunk.end])
        assert chunk.text == chunk.text.strip()
        assert 0 < len(chunk.text) <= size
        assert chunk.spans
        assert across or len({document.blocks[span.block].page for span in chunk.spans}) == 1
        for span in chunk.spans:
            block = document.blocks[span.block]
            assert max(block.start, chunk.start) <= span.start < span.end <= min(block.end, chunk.end)
    for one, two in pairwise(chunks):
        assert one.start < two.start
        assert one.end < two.end
