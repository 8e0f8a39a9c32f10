"""Recursive splitting: where it cuts, and what always holds."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.chunking.recursive import split

SEPARATORS = ("\n\n", "\n", ". ", " ", "")


def passages(text: str, size: int, overlap: int = 0, separators: tuple[str, ...] = SEPARATORS) -> list[str]:
    return [text[start:end] for start, end in split(text, size, overlap, separators)]


def test_a_text_that_fits_is_one_chunk() -> None:
    assert passages("One. Two.\n\nThree.", 100) == ["One. Two.\n\nThree."]


def test_the_coarsest_separator_that_occurs_decides() -> None:
    assert passages("a b c\n\nd e f", 7) == ["a b c", "d e f"]


def test_a_piece_of_exactly_the_size_is_kept_whole() -> None:
    assert passages("abcd efgh", 5) == ["abcd", "efgh"]
    assert passages("abcde", 5) == ["abcde"]


def test_the_separator_counts_with_the_piece_before_it() -> None:
    """`ab ` and `cd ` are 6 characters together, though `ab cd` would fit into 5."""
    assert passages("ab cd ef", 5) == ["ab", "cd ef"]


def test_a_sentence_keeps_its_full_stop() -> None:
    assert passages("First one. Second one. Third one.", 25) == ["First one. Second one.", "Third one."]


def test_a_long_piece_is_cut_by_finer_separators_and_not_joined_with_its_neighbours() -> None:
    assert passages("Head\n\none two three four\n\nTail", 10) == ["Head", "one two", "three", "four", "Tail"]


def test_overlap_repeats_whole_pieces_only() -> None:
    assert passages("aa bb cc dd ee", 9, 3) == ["aa bb cc", "cc dd ee"]
    assert passages("aa bb cc dd ee", 9, 2) == ["aa bb cc", "dd ee"]


def test_overlap_gives_way_where_the_next_piece_needs_the_room() -> None:
    assert passages("aa bb cccccccc", 9, 6) == ["aa bb", "cccccccc"]


def test_nothing_is_repeated_around_a_piece_that_had_to_be_cut() -> None:
    assert passages("aa bb\n\ncc dd ee ff\n\ngg", 9, 4) == ["aa bb", "cc dd ee", "ee ff", "gg"]


def test_text_without_separators_is_cut_between_characters_with_the_exact_overlap() -> None:
    assert passages("abcdefghij", 4, 1) == ["abcd", "defg", "ghij"]
    assert passages("天地玄黄宇宙洪荒", 3) == ["天地玄", "黄宇宙", "洪荒"]


def test_a_chunk_that_another_one_holds_is_left_out() -> None:
    """The last piece is only white space: with the overlap before it, it would repeat `bb`."""
    assert passages("aa bb \n", 6, 3, (" ", "")) == ["aa bb"]


def test_a_leading_blank_piece_gives_no_second_chunk_with_the_same_start() -> None:
    starts = [start for start, _ in split("\n\n\n\nab cd ef", 8, 7, ("\n\n", " ", ""))]
    assert starts == sorted(set(starts))


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\n", "\u2003\u00a0"])
def test_white_space_alone_gives_no_chunk(text: str) -> None:
    assert split(text, 5, 2, SEPARATORS) == []


def test_separators_are_no_patterns() -> None:
    assert passages("a.b|c", 2, 0, (".", "|", "")) == ["a.", "b|", "c"]
    assert passages("axb", 2, 0, (".", "")) == ["ax", "b"]


def test_time_is_linear_for_a_long_line_and_for_many_tiny_pieces() -> None:
    """Half a million characters of each; a quadratic step would take minutes and hit the time limit."""
    assert len(split("x" * 500_000, 500, 50, SEPARATORS)) == 1111
    assert len(split("x " * 250_000, 500, 50, SEPARATORS)) == 1111
    assert split(" " * 500_000 + "x", 500, 50, SEPARATORS) == [(500_000, 500_001)]


@given(
    text=st.text(st.sampled_from("abé漢. \n\t\u00a0"), max_size=300),
    size=st.integers(1, 40),
    share=st.floats(0, 1, exclude_max=True),
    separators=st.lists(st.sampled_from(["\n\n", "\n", ". ", " ", "aa", "ab"]), unique=True),
)
def test_what_always_holds(text: str, size: int, share: float, separators: list[str]) -> None:
    """Sizes, overlaps, order, clean ends, and no character lost."""
    overlap = int(share * size)
    chunks = split(text, size, overlap, (*separators, ""))

    held = {at for start, end in chunks for at in range(start, end)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= held
    for start, end in chunks:
        assert 0 < end - start <= size
        assert text[start:end] == text[start:end].strip()
    for (start, end), (next_start, next_end) in pairwise(chunks):
        assert start < next_start
        assert end < next_end
        assert end - next_start <= overlap


@given(st.text(st.sampled_from("ab. \n"), max_size=200), st.integers(2, 40))
def test_cuts_fall_between_pieces_or_inside_pieces_too_long(text: str, size: int) -> None:
    """With one separator, a chunk ends at a separator, at the end, or inside a word beyond the size."""
    longest_word = max(map(len, text.split(" ")), default=0) + 1
    for _, end in split(text, size, 0, (" ", "")):
        assert end == len(text) or text[end].isspace() or text[end - 1] == " " or longest_word > size
