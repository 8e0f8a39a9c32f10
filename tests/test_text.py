"""The fold forgives print, never words; what it finds maps back to the original."""

from __future__ import annotations

import doctest
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragkit.text
from ragkit.text import LIGATURES, Folded, _one_by_one, _origins, fold, nfc

SOFT = "\u00ad"
# Characters that the fold, NFC or white-space collapsing treat specially, and plain ones.
ALPHABET = (
    "abcA -\n\t.,2" + SOFT + "\u2010\u2013\u2019\u201c\ufb01\ufb03\u2026\u200b\u00a0\u3000\u2028é\u0301\u0327\u0323"
    "\uff21\u1100\u1161\u11a8가\u09c7\u09be\u0344\u212b²水ー"
)
texts = st.text(alphabet=ALPHABET, max_size=30) | st.text(max_size=30)


@pytest.mark.parametrize(
    ("printed", "plain"),
    [
        ("e\ufb03cient \ufb02ow, \ufb01rst", "efficient flow, first"),
        ("Mess" + SOFT + "gerät", "Messgerät"),
        ("Mess" + SOFT + "\n  gerät", "Messgerät"),
        ("cali-\nbration", "calibration"),
        ("cali\u2010\r\n\tbration", "calibration"),
        ("0.5\u20130.8 m \u2014 roughly \u22123", "0.5-0.8 m - roughly -3"),
        ("\u201cit\u2019s\u201d \u00abla\u00bb \u201eso\u201f", '"it\'s" "la" "so"'),
        ("10\u00a0kPa\u202f=\u2009a\u3000b", "10 kPa = a b"),
        ("Bru\u0308ckner", "Brückner"),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"),
        ("\uff37\uff2c\uff12\uff10", "WL20"),
        ("wait\u2026", "wait..."),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("  ends \n\n inner\t", "ends inner"),
    ],
)
def test_presentation_is_folded_on_both_sides(printed: str, plain: str) -> None:
    assert fold(printed) == fold(plain) == plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("10² Pa", "102 Pa"),
        ("H₂O", "H2O"),
        ("½ turn", "1/2 turn"),
        ("Range", "range"),
        ("the sensor drifts", "the probe drifts"),
        ("the sensor drifts", "the sensor drifted"),
        ("must be closed", "must not be closed"),
        ("1.5 m", "1,5 m"),
        ("naïve", "naive"),
        ("re-sign", "resign"),
        ("North-\nSouth", "NorthSouth"),
        ("3-\n4", "34"),
        ("see -\nnext", "see next"),
    ],
)
def test_words_numbers_and_case_stay_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_the_ligature_table_agrees_with_unicode() -> None:
    assert all(unicodedata.normalize("NFKC", ligature) == letters for ligature, letters in LIGATURES.items())


def test_a_quote_is_found_where_it_stands_in_the_original() -> None:
    original = "The e\ufb03cient\u00a0Mess" + SOFT + "\ngerät\u2019s range."
    [(start, end)] = Folded(original).find_all("efficient Messgerät's")
    assert original[start:end] == "e\ufb03cient\u00a0Mess" + SOFT + "\ngerät\u2019s"


def test_a_match_takes_in_a_whole_ligature_and_a_whole_accented_letter() -> None:
    assert Folded("e\ufb03cient").find_all("icient") == [(1, 7)]
    assert Folded("cafe\u0301 au").find_all("café") == [(0, 5)]
    assert Folded("cafe\u0301 au").find_all("cafe") == []


def test_overlapping_matches_are_all_reported() -> None:
    assert Folded("aaa").find_all("aa") == [(0, 2), (1, 3)]


@pytest.mark.parametrize("nothing", ["", "  \n", SOFT, "\u200b\ufeff"])
def test_an_empty_needle_is_nowhere(nothing: str) -> None:
    assert Folded("some text").find_all(nothing) == []


@given(texts)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(texts)
def test_normal_form_does_not_matter(text: str) -> None:
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text)) == fold(text)


@given(texts)
def test_every_folded_character_knows_its_origin(text: str) -> None:
    folded = Folded(text)
    spans = [folded.span(i, i + 1) for i in range(len(folded.text))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)
    if folded.text:
        assert folded.span(0, len(folded.text)) in Folded(text).find_all(text)


@given(texts)
def test_the_quick_way_back_to_the_original_is_the_way_of_each_character(text: str) -> None:
    if _one_by_one(text):
        folded = Folded(text)
        starts, ends = _origins(text)
        spans = list(zip(starts, ends, strict=True))[: len(folded.text)]  # white space at the end comes from somewhere
        assert [folded.span(i, i + 1) for i in range(len(folded.text))] == spans


@given(texts, texts, texts)
def test_what_is_found_folds_to_what_was_sought(before: str, needle: str, after: str) -> None:
    original = f"{before} | {needle} | {after}"
    found = Folded(original).find_all(needle)
    assert bool(found) == bool(fold(needle))
    for start, end in found:
        assert fold(needle) in fold(original[start:end])


def test_the_examples_are_true() -> None:
    assert doctest.testmod(ragkit.text).failed == 0


@given(st.text(st.sampled_from("ae\u00e9\u0301\u0323\u0344\u1ea1\u200d\u2026\u5b57 "), max_size=120))
def test_rows_of_combining_marks_are_parted_and_nothing_else_is_changed(text: str) -> None:
    safe, plain = nfc(text), unicodedata.normalize("NFC", text)
    assert nfc(safe) == safe
    assert unicodedata.normalize("NFC", safe.replace("\u034f", "")) == plain
    rows = re.findall("[\u0301\u0323]+", unicodedata.normalize("NFD", safe))
    assert max(map(len, rows), default=0) <= 32  # 30, and two that NFC joins with their letter
    assert safe == plain or re.search("[\u0301\u0323\u0344\u200d]{16}", text)


def test_a_hundred_thousand_combining_marks_take_no_noticeable_time() -> None:
    row = "a" + "\u0301\u0323" * 50_000  # normalising that takes half a minute
    assert nfc(row).count("\u034f") == 100_000 // 30
    assert fold(row) == nfc(row)
