"""Inputs put together from what each format is made of, and sound ones damaged here and there."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.targets import TARGETS, Target


def pieces(target: Target) -> st.SearchStrategy[bytes]:
    words = st.sampled_from([word.encode() for word in target.words.split(" ") if word])
    other = st.sampled_from([b" ", b"\n", b"\n\n", b"\f", b"a", "ß字\u0301".encode()]) | st.binary(max_size=3)
    return st.lists(words | other, max_size=40).map(b"".join)


@st.composite
def damaged(draw: st.DrawFn, target: Target) -> bytes:
    data = bytearray(draw(st.sampled_from(target.seeds)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 20))] = draw(pieces(target) | st.binary(max_size=4))
    return bytes(data)


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_what_is_read_holds_together_and_anything_else_is_refused(name: str) -> None:
    target = TARGETS[name]

    @settings(max_examples=60, deadline=None)
    @given(pieces(target) | damaged(target))
    def comes_back(data: bytes) -> None:
        target.run(data)

    comes_back()
