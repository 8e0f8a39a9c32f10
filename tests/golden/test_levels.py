"""The hit levels: every cell of the table, and how each state comes about."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.golden.cases import Case, comparable
from ragkit.golden.keywords import found_keywords
from ragkit.golden.levels import KEYWORD_STATES, LEVELS, TABLE, has_suffix, judge, level_of
from ragkit.interop.shapes import Candidate

# The table as people read it, written down a second time: S strong, M medium, W weak, - miss, x refused.
WRITTEN = """
    found      found      SSSS
    found      not-found  SMMM
    found      n/a        SMMM
    not-found  found      WWWW
    n/a        found      WWWW
    not-found  not-found  WW--
    not-found  n/a        WW--
    n/a        not-found  WW--
    n/a        n/a        WW-x
"""
LETTERS = {"S": "strong", "M": "medium", "W": "weak", "-": "miss", "x": None}


def case(documents: str = "", breadcrumbs: str = "", keywords: str = "") -> Case:
    paths = tuple(tuple(path.split(">")) for path in breadcrumbs.split())
    return Case("c", "q", tuple(documents.split()), paths, tuple(keywords.split()))


def hit(doc_id: str, breadcrumb: str = "", text: str | None = "", rank: int = 1) -> Candidate:
    return Candidate(doc_id, tuple(breadcrumb.split(">")) if breadcrumb else (), text, None, rank)


def test_the_table_is_exhaustive_and_says_what_is_written_here() -> None:
    states = ("found", "not found", "n/a")
    assert set(TABLE) == set(itertools.product(states, states))
    for line in WRITTEN.split("\n")[1:-1]:
        document, breadcrumb, letters = line.split()
        key = (document.replace("-", " "), breadcrumb.replace("-", " "))
        assert [LETTERS[letter] for letter in letters] == list(TABLE[key])  # type: ignore[index]


@pytest.mark.parametrize("document", ["found", "not found", "n/a"])
@pytest.mark.parametrize("breadcrumb", ["found", "not found", "n/a"])
@pytest.mark.parametrize("keywords", KEYWORD_STATES)
def test_a_ranking_of_every_combination_is_judged_by_its_cell(document: str, breadcrumb: str, keywords: str) -> None:
    expected = case(
        "" if document == "n/a" else "right",
        "" if breadcrumb == "n/a" else "Care>Battery",
        "" if keywords == "n/a" else "six years",
    )
    text = {"complete": "six years", "partial": "six days", "none": "no", "n/a": "no"}[keywords]
    shown = hit("right" if document == "found" else "other", "Care>Battery" if breadcrumb == "found" else "Care", text)
    if (document, breadcrumb, keywords) == ("n/a", "n/a", "n/a"):
        with pytest.raises(ValueError, match="expects nothing"):
            judge(expected, [shown], 10, 1.0)
        return
    found = judge(expected, [shown], 10, 1.0)
    assert (found.document, found.breadcrumb, found.keywords) == (document, breadcrumb, keywords)
    assert found.level == level_of(document, breadcrumb, keywords)  # type: ignore[arg-type]
    assert found.level in LEVELS


def test_evidence_of_an_unrelated_document_lifts_no_case_to_strong() -> None:
    ranking = [hit("right", "Intro", "nothing"), hit("other", "Care>Battery", "six years", rank=2)]
    found = judge(case("right", "Care>Battery", "six years"), ranking, 10, 1.0)
    assert (found.level, found.evidence) == ("medium", (1,))


def test_without_the_document_all_candidates_give_evidence_but_only_weak_one() -> None:
    ranking = [hit("a", text="six"), hit("b", "Care>Battery", "years", rank=2)]
    found = judge(case("right", "Care>Battery", "six years"), ranking, 10, 1.0)
    assert (found.level, found.keywords, found.breadcrumb_rank) == ("weak", "complete", 2)


def test_keywords_are_united_over_the_passages_of_the_expected_documents() -> None:
    ranking = [hit("right", text="six"), hit("right", text="years", rank=2)]
    assert judge(case("right", "", "six years"), ranking, 10, 1.0).level == "strong"
    assert judge(case("right", "", "six years"), ranking, 1, 1.0).level == "medium"  # only the first k count


def test_coverage_decides_what_is_complete() -> None:
    ranking = [hit("right", text="one two")]
    assert judge(case("right", "", "one two three"), ranking, 10, 1.0).keywords == "partial"
    assert judge(case("right", "", "one two three"), ranking, 10, 2 / 3).keywords == "complete"
    assert judge(case("right", "", "one two three"), ranking, 10, 0.67).keywords == "partial"


def test_first_rank_and_documents_found_are_those_within_k() -> None:
    ranking = [hit("x"), hit("b", rank=2), hit("b", rank=3), hit("a", rank=4)]
    found = judge(case("a b", "", "k"), ranking, 3, 1.0)
    assert (found.first_rank, found.documents_found) == (2, ("b",))
    found = judge(case("a b", "", "k"), [], 3, 1.0)
    assert (found.level, found.first_rank, found.evidence) == ("miss", None, ())


@pytest.mark.parametrize(
    ("keyword", "text", "is_in"),
    [
        ("a.rs", "data.rs", False),
        ("a.rs", "see a.rs.", True),
        ("WL-2", "the WL-20", False),
        ("WL-20", "(WL-20)", True),
        ("2.3", "firmware 2.3.1", False),
        ("2.3", "firmware 12.3", False),
        ("2.3", "firmware 2.3.", True),
        ("4", "4.5 years", False),
        ("c++", "in C++, say", True),
        ("battery", "Batteries", False),
        ("six years", "six\n  years", True),
        ("co-operate", "co\u2010operate", True),
        ("efficient", "e\ufb03cient", True),
        ("stra\u00dfe", "STRASSE", True),
        ("cafe\u0301", "CAF\u00c9", True),
        ("cafe", "caf\u00e9", False),
        ("\u7f51\u5173", "\u65b0\u7f51\u5173\u8bbe\u5907", True),  # Chinese: gateway, inside a longer run
        ("TG-7", "\u4f7f\u7528TG-7\u7f51\u5173", True),
        ("TG-7", "\u4f7f\u7528TG-7S\u7f51\u5173", False),
        ("\u6821\u6b63", "\u6821\u6b63\u624b\u9806\u66f8", True),  # Japanese
        ("\ubc30\ud130\ub9ac", "\ubc30\ud130\ub9ac\uac00", True),  # Korean: the particle is written onto the noun
        ("\u043a\u043e\u0442", "\u043a\u043e\u0442\u044b", False),  # Cyrillic has boundaries
        ("_x", "a_x", False),
    ],
)
def test_keywords_match_as_words_where_there_are_words(keyword: str, text: str, is_in: bool) -> None:
    assert found_keywords([keyword], [text]) == ((keyword,) if is_in else ())


# What `found_keywords` means, as one pattern; compiling it for each keyword took most of a replay's time.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
)
WORD, MARK = rf"[^\W{UNSPACED}]", "\u0300-\u036f"
SIGNS = st.text(alphabet="aZ\u00e9\u0301_-., 12\u0662\u7f51\u5173\u0e01\uac00", max_size=8)


@given(SIGNS.filter(comparable), SIGNS)
def test_keywords_are_found_where_their_pattern_matches(keyword: str, text: str) -> None:
    folded = comparable(keyword)
    before = rf"(?<!{WORD})(?<!{WORD}[{MARK}])" if re.match(WORD, folded) else ""
    after = rf"(?!{WORD}|[{MARK}])" if re.match(WORD, folded[-1]) else ""
    before += r"(?<![0-9][.,])" if folded[0].isdecimal() else ""
    after += r"(?![.,][0-9])" if folded[-1].isdecimal() else ""
    for haystack in (text, f"{text}{keyword}", f"{keyword}{text}", f"{text}{keyword}{text}"):
        matches = re.search(before + re.escape(folded) + after, comparable(haystack)) is not None
        assert (found_keywords([keyword], [haystack]) == (keyword,)) is matches


def test_an_empty_keyword_is_in_nothing() -> None:
    with pytest.raises(ValueError, match="empty"):
        found_keywords(["\u00ad"], ["anything"])


def test_a_text_of_ten_megabytes_is_searched_whole() -> None:
    assert found_keywords(["needle", "hay"], ["hay " * 2_500_000 + "needle"]) == ("needle", "hay")


@pytest.mark.parametrize(
    ("breadcrumb", "expected", "fits"),
    [
        ("Manual>Care>Battery", "Care>Battery", True),
        ("Manual>Care>Battery", "battery", True),
        ("Manual>Care>Battery", "Care", False),  # a suffix, not any level
        ("Manual>Care>Spare battery", "Battery", False),  # levels are whole
        ("Battery", "Care>Battery", False),
        ("", "Battery", False),
    ],
)
def test_breadcrumbs_fit_as_a_suffix_of_whole_levels(breadcrumb: str, expected: str, fits: bool) -> None:
    assert has_suffix(breadcrumb.split(">") if breadcrumb else [], expected.split(">")) is fits
