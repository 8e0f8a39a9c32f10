"""The committed questions: what eval/README.md promises of them."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from ragkit.dataset import read_questions, read_splits, validate
from ragkit.ingest import read_corpus
from ragkit.records import Document, Question

ROOT = Path(__file__).resolve().parents[2]
TYPES = {
    "exact", "paraphrase", "multi-hop", "cross-lingual", "same-language", "table", "near-duplicate", "negation-temporal",
    "unanswerable",
}  # fmt: skip


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    return {document.slug: document for document in read_corpus(ROOT / "eval/corpus")}


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return read_questions(ROOT / "eval/questions.jsonl")


def test_validation_is_clean(documents: dict[str, Document]) -> None:
    report = validate(ROOT / "eval/questions.jsonl", ROOT / "eval/splits.json", list(documents.values()))
    assert report.problems == ()
    assert {warning.rule for warning in report.warnings} <= {"also-elsewhere"}  # values that editions share


def test_there_are_enough_of_each_type(questions: list[Question]) -> None:
    counts = Counter(question.type for question in questions)
    assert set(counts) == TYPES
    assert min(counts.values()) >= 22
    assert len(questions) >= 200
    assert all((question.type == "unanswerable") != question.answerable for question in questions)


def test_every_document_answers_some_question(questions: list[Question], documents: dict[str, Document]) -> None:
    judged = {judgment.document for question in questions for judgment in question.relevant}
    assert judged == set(documents)


def test_every_answerable_question_has_quotes_pages_and_an_answer(
    questions: list[Question], documents: dict[str, Document]
) -> None:
    for question in (q for q in questions if q.answerable):
        assert question.gold_answer, question.id
        for judgment in question.relevant:
            assert judgment.quote, question.id
            assert judgment.block is not None, question.id
            assert (judgment.page is None) == (documents[judgment.document].pages is None), question.id


def test_multi_hop_questions_need_two_facts_and_many_cross_documents(questions: list[Question]) -> None:
    across = 0
    for question in (q for q in questions if q.type == "multi-hop"):
        groups: dict[object, set[str]] = {}
        for index, judgment in enumerate(question.relevant):
            groups.setdefault(judgment.group or index, set()).add(judgment.document)
        assert len(groups) >= 2, question.id
        across += not set.intersection(*groups.values())
    assert across >= 10


def test_table_answers_stand_in_tables(questions: list[Question], documents: dict[str, Document]) -> None:
    for question in (q for q in questions if q.type == "table"):
        for judgment in question.relevant:
            assert judgment.block is not None
            assert documents[judgment.document].blocks[judgment.block].kind == "table", question.id


def test_paraphrases_share_no_content_word_with_the_quote(questions: list[Question]) -> None:
    def stems(text: str) -> set[str]:
        return {word[:5] for word in re.findall(r"[^\W\d_]{5,}", text.casefold())} - {
            "which",
            "where",
            "their",
            "there",
        }

    for question in (q for q in questions if q.type == "paraphrase"):
        for judgment in question.relevant:
            assert not stems(question.question) & stems(judgment.quote or ""), question.id


def test_dev_is_a_third_of_every_type(questions: list[Question]) -> None:
    splits = read_splits(ROOT / "eval/splits.json", questions)
    for kind in TYPES:
        ids = [question.id for question in questions if question.type == kind]
        assert sum(splits[identifier] == "dev" for identifier in ids) == pytest.approx(len(ids) / 3, abs=1), kind


def test_the_schemas_beside_them_are_those_of_the_package(tmp_path: Path) -> None:
    from ragkit.dataset import write_schemas

    for written in write_schemas(tmp_path):
        assert (ROOT / "eval" / written.name).read_bytes() == written.read_bytes(), os.fspath(written)
