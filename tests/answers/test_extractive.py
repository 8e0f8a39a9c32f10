"""Answers from retrieved sentences, with vectors one can reckon by hand."""

from __future__ import annotations

import doctest
from collections.abc import Callable

import numpy as np
import pytest

from ragkit.answers import Answer, Passages, answer_questions, extractive
from ragkit.answers.extractive import select, shared_words
from ragkit.config import AnswersConfig
from ragkit.errors import EncodingError
from ragkit.records import Chunk, Document, Hit
from tests.answers.toys import Written, chunk_of, hits_of, places, store_of

Make = Callable[..., Document]
QUESTION = np.array([[1, 0, 0]], np.float32)


def whole(document: Document) -> Chunk:
    return chunk_of(document, 0, len(document.text))


def answer(
    documents: list[Document], hits: list[Hit], encoder: Written, asked: str = "q", **settings: float
) -> tuple[Answer, list]:
    passages = Passages(documents)
    store = store_of(documents, [hit.chunk for hit in hits], passages, encoder)
    config = AnswersConfig(**{"sentences": 3, "words": 0.0, **settings})
    (found,) = answer_questions([asked], QUESTION, [hits], config, passages, store, encoder)
    return found, places(found, store)


def test_the_most_similar_sentences_are_quoted_in_document_order_and_their_blocks_cited(make_document: Make) -> None:
    document = make_document("a.md", ["Far. Near.", "Nearest. Far.", "Near too."])
    encoder = Written({"Far.": (0, 1, 0), "Near.": (3, 1, 0), "Nearest.": (1, 0, 0), "Near too.": (1, 1, 0)})
    found, cited = answer([document], hits_of(whole(document)), encoder, sentences=2, redundancy=0.0)
    assert (found.text, cited, found.evidence) == ("Near. Nearest.", [("a.md", 0), ("a.md", 1)], 1.0)


def test_documents_stand_in_the_order_of_their_best_hits_and_a_block_is_cited_once(make_document: Make) -> None:
    a, b = make_document("a.md", ["One. Two."]), make_document("b.md", ["Three."])
    encoder = Written({"One.": (1, 0, 0), "Two.": (1, 1, 0), "Three.": (1, 0, 1)})
    found, cited = answer([a, b], hits_of(whole(b), whole(a)), encoder)
    assert (found.text, cited) == ("Three. One. Two.", [("b.md", 0), ("a.md", 0)])


def test_redundancy_prefers_what_is_not_said_yet(make_document: Make) -> None:
    document = make_document("a.md", ["Six years. It lasts 6 years. Then replace it."])
    vectors = {"Six years.": (9, 1, 0), "It lasts 6 years.": (8, 1, 0), "Then replace it.": (2, 0, 1)}
    for redundancy, text in ((0.0, "Six years. It lasts 6 years."), (0.5, "Six years. Then replace it.")):
        found, _ = answer([document], hits_of(whole(document)), Written(vectors), sentences=2, redundancy=redundancy)
        assert found.text == text


@pytest.mark.parametrize("redundancy", [0.0, 0.3, 1.0])
def test_the_first_choice_is_the_most_relevant_and_ties_go_to_the_first(redundancy: float) -> None:
    relevance, vectors = np.array([0.5, 0.9, 0.9]), np.eye(3, dtype=np.float32)
    assert select(relevance, vectors, 1, redundancy) == [1]
    assert sorted(select(relevance, vectors, 9, redundancy)) == [0, 1, 2]


def test_the_documented_example_of_the_selection_holds() -> None:
    assert doctest.testmod(extractive).failed == 0


def test_selection_agrees_with_the_definition_written_out() -> None:
    generator = np.random.default_rng(7)
    for _ in range(50):
        vectors = generator.normal(size=(8, 3))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        relevance, between, r = vectors @ vectors[0], vectors @ vectors.T, float(generator.random())
        expected = [int(relevance.argmax())]
        while len(expected) < 4:
            rest = [i for i in range(8) if i not in expected]
            expected.append(max(rest, key=lambda i: (1 - r) * relevance[i] - r * max(between[i, j] for j in expected)))
        assert select(relevance, vectors.astype(np.float32), 4, r) == expected


def test_only_the_first_context_k_hits_are_read(make_document: Make) -> None:
    a, b = make_document("a.md", ["Other."]), make_document("b.md", ["Right."])
    encoder = Written({"Other.": (0, 1, 0), "Right.": (1, 0, 0)})
    found, cited = answer([a, b], hits_of(whole(a), whole(b)), encoder, context_k=1)
    assert (found.text, cited) == ("Other.", [("a.md", 0)])


def test_a_sentence_that_no_chunk_holds_whole_is_left_out_unless_the_chunk_has_nothing_else(
    make_document: Make,
) -> None:
    document = make_document("a.md", ["A long sentence. Short."])
    encoder = Written({"Short.": (1, 1, 0), "long sent": (1, 0, 0)})
    start, end = document.text.index("sentence"), len(document.text)
    found, _ = answer([document], hits_of(chunk_of(document, start, end)), encoder)
    assert found.text == "Short."
    found, cited = answer([document], hits_of(chunk_of(document, 2, 11)), encoder)
    assert (found.text, cited) == ("long sent", [("a.md", 0)])


def test_overlapping_chunks_give_a_sentence_once(make_document: Make) -> None:
    document = make_document("a.md", ["One. Two. Three."])
    encoder = Written({"One.": (1, 0, 0), "Two.": (1, 1, 0), "Three.": (0, 1, 0)})
    found, _ = answer([document], hits_of(chunk_of(document, 0, 9), chunk_of(document, 5, 16, 1)), encoder)
    assert found.text == "One. Two. Three."


def test_headings_answer_only_where_there_is_nothing_else(make_document: Make) -> None:
    document = make_document("a.md", ["Battery", "Six years."], kinds=["heading", "paragraph"])
    encoder = Written({"Battery": (1, 0, 0), "Six years.": (1, 1, 0)})
    assert answer([document], hits_of(whole(document)), encoder)[0].text == "Six years."
    assert answer([document], hits_of(chunk_of(document, 0, 7)), encoder)[0].text == "Battery"


def test_a_sentence_that_has_the_question_s_words_gains_by_them(make_document: Make) -> None:
    document = make_document("a.md", ["It lasts six years. The battery does."])
    encoder = Written({"It lasts six years.": (4, 3, 0), "The battery does.": (3.9, 3, 0)})
    hits = hits_of(whole(document))
    for words, text in ((0.0, "It lasts six years."), (0.5, "The battery does.")):
        found, _ = answer([document], hits, encoder, "battery?", words=words, sentences=1)
        assert found.text == text
        assert found.evidence == pytest.approx(0.8, abs=0.01)  # the cosine alone


def test_shared_words_weigh_by_rarity_and_what_nobody_says_leaves_a_rest() -> None:
    found = shared_words("pump seal torque", ["Pump, seal.", "pump", "the pump", "no"])
    assert found[0] > 2 * found[1] > 0
    assert found[1] == found[2]
    assert found[3] == 0
    assert found[0] < 1
    assert shared_words("?", ["a"]).tolist() == [0.0]


@pytest.mark.parametrize(("decline_below", "declined"), [(0.0, False), (0.707, False), (0.708, True), (1.0, True)])
def test_it_declines_below_the_threshold_and_says_the_evidence_all_the_same(
    make_document: Make, decline_below: float, declined: bool
) -> None:
    document = make_document("a.md", ["Hm."])
    encoder = Written({"Hm.": (1, 1, 0)})
    found, cited = answer([document], hits_of(whole(document)), encoder, decline_below=decline_below)
    assert (found.text is None, found.evidence) == (declined, 0.707107)
    assert cited == ([] if declined else [("a.md", 0)])


def test_at_threshold_0_even_the_opposite_is_answered(make_document: Make) -> None:
    document = make_document("a.md", ["No."])
    assert answer([document], hits_of(whole(document)), Written({"No.": (-1, 0, 0)}))[0].text == "No."


def test_without_hits_every_question_is_declined(make_document: Make) -> None:
    document = make_document("a.md", ["No."])
    assert answer([document], [], Written({})) == (Answer(None), [])


def test_questions_share_what_was_stored_and_nothing_is_embedded(make_document: Make) -> None:
    a, b = make_document("a.md", ["Same. Own."]), make_document("b.md", ["Same."])
    encoder, passages = Written({"Same.": (1, 0, 0), "Own.": (0, 1, 0)}), Passages([a, b])
    store = store_of([a, b], [whole(a), whole(b)], passages, encoder)
    encoder.calls.clear()
    hits = [hits_of(whole(a), whole(b)), hits_of(whole(b)), hits_of(whole(a))]
    vectors, config = QUESTION.repeat(3, axis=0), AnswersConfig(sentences=3)
    answers = answer_questions(["q"] * 3, vectors, hits, config, passages, store, encoder)
    assert [found.text for found in answers] == ["Same. Own. Same.", "Same.", "Same. Own."]
    assert encoder.calls == []


def test_chunks_of_another_system_are_read_sentence_by_sentence(make_document: Make) -> None:
    document = make_document("a.md", ["One. Two."])
    encoder = Written({"One.": (1, 0, 0), "Two.": (0, 1, 0)})
    hits, config, passages = [hits_of(whole(document))], AnswersConfig(sentences=3), Passages([document])
    answers = answer_questions(["q"], QUESTION, hits, config, passages, store_of([document]), encoder, own_chunks=False)
    assert answers[0].text == "One. Two."
    assert encoder.calls == [("passage", ["One.", "Two."])]


def test_a_sentence_that_cannot_be_embedded_is_named(make_document: Make) -> None:
    document = make_document("a.md", ["Fine.", "too long"])
    hits, encoder = [hits_of(whole(document))], Written({"Fine.": (1, 0, 0)})
    store, passages = store_of([document]), Passages([document])
    with pytest.raises(EncodingError, match=r"a\.md, block 1 \(characters 7 to 15\): 600 tokens"):
        answer_questions(["q"], QUESTION, hits, AnswersConfig(), passages, store, encoder, own_chunks=False)
