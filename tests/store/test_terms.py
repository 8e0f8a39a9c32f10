"""What a text is found by."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.store.terms import terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Café's AX-200: 10 °C", ["the", "cafe", "s", "ax", "200", "10", "c"]),
        ("Straße und Schlüssel", ["strasse", "und", "schlussel"]),
        ("10² is not 102", ["10²", "is", "not", "102"]),
        ("inter-\nval, co\u00adoperate, ﬁlter", ["interval", "cooperate", "filter"]),
        ("snake_case c++", ["snake", "case", "c"]),
        ("关闭阀门。", ["关闭", "闭阀", "阀门"]),
        ("水", ["水"]),
        ("水泵AX型200", ["水泵", "ax", "型", "200"]),
        ("ポンプ・電源を切る", ["ポン", "ンプ", "電源", "源を", "を切", "切る"]),
        ("ガイド", ["ガイ", "イド"]),
        ("ＡＢ１２", ["ab12"]),
        ('" OR * ()', ["or"]),
        ("", []),
    ],
)
def test_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


@given(st.text(max_size=80))
def test_a_term_needs_no_escape(text: str) -> None:
    assert all(terms(text))
    assert not any(character in term for term in terms(text) for character in " \"'*_\n\0")
