"""locate: the block a label should point to, found by reading alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.dataset import locate, resolve
from ragkit.dataset.locate import SNIPPET, word_list
from ragkit.records import Document, Judgment, Question

MakeDocument = Callable[..., Document]


@pytest.fixture
def corpus(make_document: MakeDocument) -> list[Document]:
    return [
        make_document("b.md", ["The seal is changed every year.", "Change the battery, then the seal."]),
        make_document("a.pdf", ["Battery life: two years.", "Change  the\nSeal \u2013 yearly."], pages=[1, 3]),
        make_document("zh.md", ["水位计的量程是十米。", "电池寿命为两年。"]),
    ]


def orders(corpus: list[Document], words: str, limit: int = 10) -> list[tuple[str, int]]:
    return [(place.slug, place.order) for place in locate(corpus, words, limit)]


def test_the_exact_phrase_comes_first_whatever_its_case_and_print(corpus: list[Document]) -> None:
    first, *rest = locate(corpus, "change the seal - YEARLY")
    assert (first.slug, first.page, first.order, first.exact, first.share) == ("a.pdf", 3, 1, True, 1.0)
    assert first.quote == "Change  the\nSeal \u2013 yearly"
    document = corpus[1]
    assert document.text[first.start : first.end] == first.quote
    assert not any(place.exact for place in rest)


def test_then_by_share_of_words_and_ties_by_slug_and_order(corpus: list[Document]) -> None:
    assert orders(corpus[::-1], "seal change battery") == [("b.md", 1), ("a.pdf", 1), ("a.pdf", 0), ("b.md", 0)]
    assert [round(place.share, 2) for place in locate(corpus, "seal change battery")] == [1.0, 0.67, 0.33, 0.33]
    assert orders(corpus, "seal change battery", 2) == [("b.md", 1), ("a.pdf", 1)]


def test_scripts_without_spaces_are_found_by_pairs_of_characters(corpus: list[Document]) -> None:
    assert orders(corpus, "电池的寿命") == [("zh.md", 1)]
    assert word_list("WL-20 量程是") == ["wl", "20", "量程", "程是"]
    assert word_list("水") == ["水"]


@pytest.mark.parametrize("words", ["", "  ", "\u200b", "?!", "zebra"])
def test_words_that_are_nowhere_find_nothing(corpus: list[Document], words: str) -> None:
    assert locate(corpus, words) == []


def test_what_is_found_can_be_pasted_as_a_judgment(corpus: list[Document]) -> None:
    place = locate(corpus, "changed every year")[0]
    assert place.judgment() == {"document": "b.md", "page": None, "block": 0, "quote": "changed every year"}
    question = Question("q", "?", (Judgment(**place.judgment()),), None, None, True, 1)
    assert resolve([question], corpus, "q").problems == []


def test_a_phrase_that_cannot_be_a_quote_is_not_offered_as_one(make_document: MakeDocument) -> None:
    twice = make_document("a.md", ["the seal and the seal", "x" * 300])
    assert locate([twice], "the seal")[0].occurrences == 2
    assert "quote" not in locate([twice], "the seal")[0].judgment()
    assert "quote" not in locate([twice], "x" * 201)[0].judgment()


def test_a_snippet_shows_the_words_and_is_cut_on_both_sides(make_document: MakeDocument) -> None:
    document = make_document("a.md", ["before " * 60 + "needle " + "after " * 60])
    for words in ("needle", "needle zebra"):
        snippet = locate([document], words)[0].snippet
        assert "needle" in snippet
        assert snippet.startswith("…")
        assert snippet.endswith("…")
        assert len(snippet) <= SNIPPET + 2
