"""TREC files: what ir_measures computes from them is what we computed."""

import unicodedata
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, R, nDCG

from ragkit.errors import DataError, FileError
from ragkit.interop import trec
from ragkit.measures.ranking import first_ranks, ndcg, recall, reciprocal_rank, slots


def _judge(qrels: str, run: str, folder: Path) -> dict[tuple[str, str], float]:
    """(question, measure) -> value by pytrec_eval, from the files alone."""
    (folder / "qrels").write_text(qrels, encoding="utf-8")
    (folder / "run").write_text(run, encoding="utf-8")
    measured = ir_measures.pytrec_eval.iter_calc(
        [R @ 1, R @ 5, R @ 10, RR, nDCG @ 10],
        list(ir_measures.read_trec_qrels(str(folder / "qrels"))),
        list(ir_measures.read_trec_run(str(folder / "run"))),
    )
    return {(metric.query_id, str(metric.measure)): metric.value for metric in measured}


def _ours(ranks, grades):
    return {
        **{f"R@{k}": recall(ranks, k, 10) for k in (1, 5, 10)},
        "RR": reciprocal_rank(ranks, 10),
        "nDCG@10": ndcg(ranks, grades, 10),
    }


@st.composite
def passage_questions(draw, most):
    """Up to 8 questions: (covered sets of at most `most` judgments per hit, grades)."""
    found = []
    for _ in range(draw(st.integers(1, 8))):
        judgments = draw(st.integers(1, 12))
        grades = draw(st.lists(st.integers(1, 3), min_size=judgments, max_size=judgments))
        hits = draw(st.lists(st.sets(st.integers(0, judgments - 1), max_size=most), max_size=10))
        found.append((hits, grades))
    return found


def _compare_passages(questions, folder, measures):
    qrels, rankings, expected = {}, {}, {}
    for i, (hits, grades) in enumerate(questions):
        ranks = first_ranks(hits, len(grades))
        qrels[f"q{i}"] = trec.passage_judgments(grades)
        rankings[f"q{i}"] = trec.passage_ranking(slots(ranks, grades, 10), len(hits))
        expected |= {(f"q{i}", name): value for name, value in _ours(ranks, grades).items() if name in measures}
    theirs = _judge(trec.format_qrels(qrels), trec.format_run(rankings), folder)
    assert {key: theirs[key] for key in expected} == expected  # to the last bit


@settings(max_examples=80, deadline=None)
@given(questions=passage_questions(most=4))
def test_ndcg_always_agrees(questions, tmp_path_factory):
    _compare_passages(questions, tmp_path_factory.mktemp("trec"), {"nDCG@10"})


@settings(max_examples=80, deadline=None)
@given(questions=passage_questions(most=1))
def test_everything_agrees_when_no_hit_covers_two_judgments(questions, tmp_path_factory):
    _compare_passages(questions, tmp_path_factory.mktemp("trec"), {"R@1", "R@5", "R@10", "RR", "nDCG@10"})


@st.composite
def document_questions(draw):
    """Up to 8 questions: (ranked documents, grades of judged documents)."""
    slugs = [f"a b/{c} 50%.md" for c in "äbcdefgh日jklmn"]
    questions = st.tuples(
        st.permutations(slugs).flatmap(lambda order: st.integers(0, 10).map(lambda n: order[:n])),
        st.dictionaries(st.sampled_from(slugs), st.integers(1, 3), min_size=1, max_size=12),
    )
    return draw(st.lists(questions, min_size=1, max_size=8))


@settings(max_examples=80, deadline=None)
@given(questions=document_questions())
def test_everything_agrees_in_the_document_unit(questions, tmp_path_factory):
    qrels, rankings, expected = {}, {}, {}
    for i, (ranking, grades) in enumerate(questions):
        judged = list(grades)
        ranks = first_ranks([{judged.index(slug)} if slug in grades else set() for slug in ranking], len(judged))
        qrels[f"q{i}"], rankings[f"q{i}"] = grades, ranking
        expected |= {(f"q{i}", name): value for name, value in _ours(ranks, list(grades.values())).items()}
    theirs = _judge(trec.format_qrels(qrels), trec.format_run(rankings), tmp_path_factory.mktemp("trec"))
    assert {key: theirs[key] for key in expected} == expected  # to the last bit


def test_files_are_sorted_by_question_and_rank():
    assert trec.format_qrels({"q2": {"z": 1}, "q10": {"b": 3, "a": 1}, "q3": {}}) == (
        "q10 0 b 3\nq10 0 a 1\nq2 0 z 1\n"
    )
    assert trec.format_run({"q2": ["z"], "q10": ["b", "a"], "q3": []}) == (
        "q10 Q0 b 1 2 ragkit\nq10 Q0 a 2 1 ragkit\nq2 Q0 z 1 1 ragkit\n"
    )


def test_hit_that_covers_two_judgments_makes_the_ranking_longer():
    """[A, B] as the only hit: B takes the second slot although there is no second hit."""
    assert trec.passage_ranking(slots((1, 1), (1, 1), 10), hits=1) == ["judgment-1", "judgment-2"]
    assert trec.passage_ranking((None, 0) + (None,) * 8, hits=3) == ["filler-1", "judgment-1", "filler-3"]
    assert trec.passage_ranking((None,) * 10, hits=0) == []


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_escaped_id_is_one_field_and_comes_back_in_nfc(identifier):
    field = trec.escape(identifier)
    assert field.split() == [field]
    assert field == unicodedata.normalize("NFC", field)
    assert trec.unescape(field) == unicodedata.normalize("NFC", identifier)


def test_decomposed_id_is_written_composed():
    assert trec.escape("u\u0308ber.md") == "\u00fcber.md"


def test_written_files_are_read_back(tmp_path):
    (tmp_path / "qrels").write_text(trec.format_qrels({"q": {"a b": 2}}), encoding="utf-8")
    (tmp_path / "run").write_text(trec.format_run({"q": ["x", "a b"]}), encoding="utf-8")
    assert trec.read_qrels(tmp_path / "qrels") == {"q": {"a%20b": 2}}
    assert trec.read_run(tmp_path / "run") == {"q": [("x", 2.0), ("a%20b", 1.0)]}


def test_run_is_ordered_by_score_whatever_its_ranks_say(tmp_path):
    (tmp_path / "run").write_text("q Q0 a 1 .5 t\r\n\r\nq\tQ0\tb\t2\t1e1\tt\nq Q0 c 3 0.5 t", encoding="utf-8")
    assert [document for document, _ in trec.read_run(tmp_path / "run")["q"]] == ["b", "c", "a"]


def test_every_bad_qrels_line_is_named(tmp_path):
    path = tmp_path / "qrels"
    lines = ["q 0 a 1", "q 0 a 2", "q 0 b", "", "q 0 c 1-", "q 0 d 0.5", "q 0 e x", "q 0 f " + "9" * 5000, "q 0 g ²"]
    path.write_text("\n".join([*lines, "q 0 h 0", "q 0 i 1 more"]), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        trec.read_qrels(path)
    assert [(p.line, p.rule) for p in caught.value.problems] == [
        (2, "duplicate"),
        (3, "columns"),
        (5, "grade"),
        (6, "grade"),
        (7, "grade"),
        (8, "grade"),
        (9, "grade"),
        (11, "columns"),
    ]
    assert all(p.remedy == "a line is: question iteration document grade" for p in caught.value.problems)


def test_every_bad_run_line_is_named(tmp_path):
    path = tmp_path / "run"
    scores = ["1", "nan", "inf", "1e999", "1_0", "high", "", "\u0661"]
    path.write_text("".join(f"q Q0 d{i} 1 {s} t\n" for i, s in enumerate(scores)) + "q Q0 d0 9 1 t", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        trec.read_run(path)
    assert [(p.line, p.rule) for p in caught.value.problems] == [
        *((line, "score") for line in (2, 3, 4, 5, 6)),
        (7, "columns"),
        (8, "score"),
        (9, "duplicate"),
    ]


def test_missing_file_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        trec.read_run(tmp_path / "none")
