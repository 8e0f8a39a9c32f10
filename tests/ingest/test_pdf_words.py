"""Where lines meet: hyphens, spaces, Chinese and Japanese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.ingest.pdf.words import HYPHEN, Vocabulary, has_marker, join, plain, vocabulary, without_bullet


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["Grundwasser-", "messstelle"], "Grundwassermessstelle"),
        ([f"Grundwasser{HYPHEN}", "messstelle"], "Grundwassermessstelle"),
        (["eine E-", "Mail"], "eine E-Mail"),
        (["eine 2-", "stufige"], "eine 2-stufige"),
        (["Modell WL-", "20"], "Modell WL-20"),
        (["one O-", "ring"], "one O-ring"),
        (["Ein-", "und Ausgang"], "Ein- und Ausgang"),
        (["before -", "after"], "before - after"),
        (["either/", "or"], "either/or"),
        (["two", "words"], "two words"),
        (["水位", "ロガー"], "水位ロガー"),
        (["使用", "WL-20"], "使用WL-20"),
        (["물이 흐르는", "우물"], "물이 흐르는 우물"),
        (["", "only", " "], "only"),
        ([f"mid{HYPHEN}line"], "mid-line"),
        ([], ""),
    ],
)
def test_join(lines: list[str], joined: str) -> None:
    assert join(lines) == joined


def test_a_compound_seen_within_a_line_keeps_its_hyphen() -> None:
    known = vocabulary([["the temperature-compensated span and the frag-", "ments of words"]])
    assert join(["a temperature-", "compensated span"], known) == "a temperature-compensated span"
    assert join(["a tempera-", "ture"], known) == "a temperature"


def test_a_document_that_breaks_no_words_keeps_all_its_hyphens() -> None:
    """Every first half is a word of the document, so the hyphens were written."""
    known = vocabulary([["the self is tested in a self-", "test of the battery"]])
    assert known == Vocabulary(known.words, hyphenated=False)
    assert join(["a self-", "test"], known) == "a self-test"


def test_latin_among_japanese_is_spaced_as_the_document_does_it() -> None:
    spaced = vocabulary([["水位 WL-20 の値"]])
    assert join(["前者は", "WL-25"], spaced) == "前者は WL-25"
    assert join(["前者は", "後者"], spaced) == "前者は後者"


def test_letters_of_formulas_become_letters() -> None:
    assert plain("𝑎 = 𝐛") == "a = b"
    assert plain("\ud835\udc4e") == "a"
    assert plain("10²") == "10²"


@pytest.mark.parametrize("item", ["• a", "– a", "1. a", "12) a", "(b) a", "[3] a", "・項目"])
def test_markers(item: str) -> None:
    assert has_marker(item)


@pytest.mark.parametrize("text", ["1.5 m", "a", "3.40 V", "-5 °C", "2019 was", "WL-20"])
def test_no_markers(text: str) -> None:
    assert not has_marker(text)


def test_only_bullets_and_dashes_are_taken_off() -> None:
    assert [without_bullet(item) for item in ("• a", "– a", "1. a")] == ["a", "a", "1. a"]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters=HYPHEN), max_size=12)))
def test_joining_drops_nothing_but_hyphens_and_space(lines: list[str]) -> None:
    def kept(text: str) -> str:
        return "".join(c for c in text if c not in "-\u2010" and not c.isspace())

    assert kept(join(lines)) == kept("".join(lines))
