"""coverage-1: which chunk covers which judgment."""

import numpy as np
import pytest

from ragkit.measures.coverage import ChunkIndex, Coverage, merged
from ragkit.records import Span, Target


def test_quote_needs_one_chunk_that_holds_all_of_it(document, chunk, target):
    d = document("a", "The valve opens at 5 bar.")
    coverage, quote = Coverage([d]), target(d, "quote", "opens at 5")
    start = d.text.index("opens")
    assert coverage.covers(chunk(d, start, start + 10), quote)
    assert not coverage.covers(chunk(d, start, start + 9), quote)
    assert not coverage.covers(chunk(d, start + 1, len(d.text)), quote)


def test_quote_cut_in_two_is_covered_by_neither_half_but_by_both_together(document, chunk, target):
    d = document("a", "abcdefghij")
    coverage, quote = Coverage([d]), target(d, "quote", "defg")
    left, right = chunk(d, 0, 5), chunk(d, 5, 10)
    assert not coverage.covers(left, quote)
    assert not coverage.covers(right, quote)
    assert coverage.holds([(5, 10), (0, 5)], quote)


def test_missing_whitespace_at_a_quotes_edge_does_not_matter(document, chunk):
    d = document("a", "one two  three")
    quote = Target("a", "quote", (Span(0, 3, 8),), 1, 0)  # " two "
    assert Coverage([d]).covers(chunk(d, 4, 7), quote)


@pytest.mark.parametrize(("size", "needed"), [(1, 1), (2, 1), (3, 2), (399, 200), (400, 200), (401, 200), (5000, 200)])
def test_block_needs_half_of_it_or_200_characters(document, chunk, target, size, needed):
    d = document("a", "x" * size)
    coverage, block = Coverage([d]), target(d, "block", 0)
    assert coverage.needed(block) == needed
    assert coverage.covers(chunk(d, 0, needed), block)
    if needed > 1:
        assert not coverage.covers(chunk(d, 0, needed - 1), block)


def test_block_counts_only_non_whitespace(document, chunk, target):
    d = document("a", "ab" + " " * 50 + "cdefgh")
    coverage, block = Coverage([d]), target(d, "block", 0)
    assert not coverage.covers(chunk(d, 0, 53), block)  # 3 of 8 characters, although most of the length
    assert coverage.covers(chunk(d, 0, 54), block)


def test_overlap_tail_of_a_neighbouring_block_does_not_cover_it(document, chunk, target):
    d = document("a", "x" * 100, "y" * 100)
    coverage = Coverage([d])
    with_tail = chunk(d, 70, 202)
    assert not coverage.covers(with_tail, target(d, "block", 0))
    assert coverage.covers(with_tail, target(d, "block", 1))


def test_page_pools_its_blocks(document, chunk, target):
    d = document("a", "x" * 6, "y" * 4, "z" * 50, pages=(1, 1, 2))
    coverage, page = Coverage([d]), target(d, "page", 1)
    assert not coverage.covers(chunk(d, 8, 12), page)  # 4 of 10, although one whole block
    assert coverage.covers(chunk(d, 5, 12), page)  # 1 + 4


def test_document_is_covered_by_any_chunk_of_it_and_no_other(document, chunk, target):
    a, b = document("a", "xxxx"), document("b", "xxxx")
    coverage = Coverage([a, b])
    assert coverage.covers(chunk(a, 3, 4), target(a, "document"))
    assert not coverage.covers(chunk(b, 0, 4), target(a, "document"))
    assert not coverage.holds([], target(a, "document"))


def test_same_offsets_in_another_document_cover_nothing(document, chunk, target):
    a, b = document("a", "same words"), document("b", "same words")
    assert not Coverage([a, b]).covers(chunk(b, 0, 10), target(a, "quote", "same"))


def test_overlapping_intervals_are_not_counted_twice(document, target):
    d = document("a", "x" * 100)
    coverage, block = Coverage([d]), target(d, "block", 0)
    assert not coverage.holds([(0, 30), (0, 30), (10, 35)], block)  # 35 of 50 needed


def test_blank_target_is_never_covered(document, chunk):
    d = document("a", "a   b")
    assert not Coverage([d]).covers(chunk(d, 0, 5), Target("a", "quote", (Span(0, 1, 3),), 1, 0))


def test_group_is_covered_when_one_member_is(document, chunk, target):
    d = document("a", "first fact", "same fact again", "other")
    targets = [
        target(d, "quote", "first fact", group=1),
        target(d, "quote", "same fact", group=1),
        target(d, "block", 2, group=0),
    ]
    coverage = Coverage([d])
    assert coverage.covered_groups(chunk(d, 12, 27), targets) == (1,)
    assert coverage.covered_groups(chunk(d, 0, len(d.text)), targets) == (0, 1)
    assert coverage.covered_groups(chunk(d, 0, 5), targets) == ()


def test_index_finds_what_trying_every_chunk_finds(document, chunk, target):
    """Chunks of mixed length, overlapping and nested, in two documents."""
    random = np.random.default_rng(4)
    documents = [document(slug, *("".join(random.choice([*"ab "], 40)) + "." for _ in range(12))) for slug in "ab"]
    coverage = Coverage(documents)
    chunks = []
    for d in documents:
        for i in range(30):
            start = int(random.integers(len(d.text) - 80))
            chunks.append(chunk(d, start, start + int(random.integers(5, 80)), i))
    index = ChunkIndex(coverage, chunks)
    for d in documents:
        for block in range(12):
            for t in (target(d, "block", block), target(d, "quote", d.blocks[block].text[5:20]), target(d, "document")):
                assert sorted(index.covering(t)) == [i for i, c in enumerate(chunks) if coverage.covers(c, t)]


def test_merged_joins_touching_intervals():
    assert merged([(4, 6), (0, 2), (2, 3), (5, 9)]) == [(0, 3), (4, 9)]
    assert merged([]) == []
