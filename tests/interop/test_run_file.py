"""Run files in blocks: the same hits, and the same refusals, as the plain reader's."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.errors import DataError, FileError
from ragkit.interop import fields, run_file, trec
from ragkit.interop.fields import Column
from ragkit.interop.run_file import read_blocks
from ragkit.measures.runs import Qrels, score

white = st.sampled_from([" ", "\t", "  ", " \x0b", "\x0c"])
ids = st.one_of(
    st.sampled_from(["q1", "q2", "a", "b", "d" * 8, "d" * 9, "d" * 64, "d" * 65 + "1", "d" * 65 + "2"]),
    st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\x0b\x0c\ufeff"), min_size=1, max_size=70),
)
numbers = st.one_of(
    st.floats(-1e6, 1e6, allow_nan=False).map(repr),
    st.floats(-100, 100).map(lambda x: f"{x:.6f}"),
    st.floats(0, 1, width=32).map(str),
    st.sampled_from(["1", "+.5", "5.", "-0", "1e3", "12345678901234567890", "99999999999999999999", "1e-400"]),
)
wrong = st.sampled_from(["nan", "inf", "-", ".", "1..2", "1-", "1_0", "0x1", "1e999", "é", "1.2.3", "e5", "--1"])


@st.composite
def lines(draw, scores):
    parts = [draw(ids), "Q0", draw(ids), "1", draw(scores), "tag"]
    gap = draw(white)
    return gap.join(parts) + draw(st.sampled_from(["\n", "\r\n", " \n", "\n\n"]))


files = st.lists(lines(numbers), max_size=30).map("".join)
any_files = st.lists(
    st.one_of(lines(numbers), lines(st.one_of(numbers, wrong)), st.sampled_from(["q Q0 d 1\n", "\n", " \n", "x"])),
    max_size=12,
).map("".join)


def hits(path):
    """question -> document -> float32 score, by blocks."""
    found = {}
    for block in read_blocks(path):
        for i, question in enumerate(block.questions):
            rows = range(block.bounds[i], block.bounds[i + 1])
            found[question] = {block.documents.field(row).decode(): block.scores[row] for row in rows}
    return found


def plain(path):
    with np.errstate(over="ignore"):
        return {
            question: {document: np.float32(value) for document, value in ranking}
            for question, ranking in trec.read_run(path).items()
        }


def outcome(read, path):
    """The hits, or how the file was refused."""
    try:
        return read(path)
    except (DataError, FileError) as refused:
        return type(refused), str(refused)


def check(path):
    assert outcome(hits, path) == outcome(plain, path)


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(files, any_files), size=st.sampled_from([7, 64, 1 << 20]))
def test_what_is_read_and_what_is_refused_is_the_plain_readers(text, size, tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_file, "BLOCK", size)
        check(path)


grades = st.one_of(st.integers(-9, 9).map(str), st.sampled_from(["+1", "007", "1.0", "é", "1234567890", "1_0"]))
qrels_lines = st.one_of(
    st.tuples(ids, st.just("0"), ids, grades).map(lambda fields: " ".join(fields) + "\n"),
    st.sampled_from(["q\t0\td\t1\r\n", "\n", " \n", "x y\n", "q 0 d 1"]),
)


@settings(max_examples=300, deadline=None)
@given(text=st.lists(qrels_lines, max_size=8).map("".join))
def test_judgments_read_at_once_are_those_read_line_by_line(text, tmp_path_factory):
    path = tmp_path_factory.mktemp("qrels") / "qrels"
    path.write_text(text, encoding="utf-8", newline="")
    assert outcome(trec.read_qrels, path) == outcome(trec._told_qrels, path)
    with contextlib.suppress(DataError):
        assert trec._sound_qrels(path.read_bytes()) == trec._told_qrels(path)


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xef\xbb\xbfq 0 d 1 1 t", b"q 0 \xff 1 1 t\n", b"\x00 0 d 1 1 t"])
def test_odd_bytes(data, tmp_path):
    (tmp_path / "run").write_bytes(data)
    check(tmp_path / "run")


def write(path, run, order=None):
    rows = [(q, d, s) for q, hits in run.items() for d, s in hits.items()]
    rows = [rows[i] for i in order] if order is not None else rows
    path.write_text("".join(f"{q} Q0 {d} 0 {s!r} t\n" for q, d, s in rows), encoding="utf-8")


def many(questions=60, documents=80):
    random = np.random.default_rng(2)
    run = {
        f"q{n}": {f"doc-{d:06}": round(float(random.normal()), int(random.integers(0, 12))) for d in range(documents)}
        for n in range(questions)
    }
    qrels = {q: {f"doc-{d:06}": int(random.integers(0, 4)) for d in random.integers(0, 99, 9)} for q in run}
    return qrels, run


def assert_same_scores(ours, expected):
    for name, values in expected.values.items():
        assert ours.values[name].tolist() == values.tolist()
    assert ours.missing == expected.missing


@pytest.mark.parametrize("size", [100, 5000, 1 << 20])
@pytest.mark.parametrize("scattered", [False, True])
def test_scores_from_a_file_are_those_from_dictionaries(size, scattered, tmp_path, monkeypatch):
    """Also with ties, with blocks smaller than a question, with every question's lines all over the file."""
    qrels, run = many()
    order = np.random.default_rng(3).permutation(60 * 80) if scattered else None
    write(tmp_path / "run", run, order)
    monkeypatch.setattr(run_file, "BLOCK", size)
    judged = Qrels.of(qrels)
    assert_same_scores(score(judged, read_blocks(tmp_path / "run")), score(judged, run))


def test_hashes_that_collide_change_nothing(tmp_path, monkeypatch):
    qrels, run = many(10, 20)
    write(tmp_path / "run", run)
    monkeypatch.setattr(Column, "fingerprints", lambda self: self.lengths.astype(np.uint64))
    judged = Qrels.of(qrels)
    assert_same_scores(score(judged, read_blocks(tmp_path / "run")), score(judged, run))


def test_all_bad_lines_are_told_up_to_a_hundred(tmp_path):
    (tmp_path / "run").write_text("q Q0 a 1 1 t\n" + "q Q0 a 1 x t\n" * 250, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        hits(tmp_path / "run")
    problems = caught.value.problems
    assert [problem.line for problem in problems] == list(range(2, 103))
    assert (problems[-1].rule, problems[-1].found) == ("more", "150 more lines are wrong, from this one to line 251")


def test_a_missing_file_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        list(read_blocks(tmp_path / "none"))


@settings(max_examples=500, deadline=None)
@given(st.lists(st.one_of(numbers, wrong), min_size=1, max_size=20))
def test_a_number_read_in_arrays_is_the_one_that_float_reads(texts):
    for text, value in zip(texts, Column.of(texts).numbers().tolist(), strict=True):
        if value == value:  # else float reads it, or says that it is none
            assert np.float32(value) == np.float32(float(text))
            if sum(map(str.isdigit, text)) <= 15:
                assert value == float(text)


def test_ordinary_numbers_are_read_in_arrays():
    texts = ["30.051639", "-0.8444218515250481", "7", "+.5", "12.", "9999999999999999999", "999999999.9999999999"]
    assert not np.isnan(Column.of(texts).numbers()).any()
    halfway = "1.000000059604644775"  # a hair below the middle between two float32
    assert np.isnan(Column.of([halfway, "1e5", "-", "."]).numbers()).all()


def test_lines_with_other_numbers_of_fields_are_refused_even_if_the_sum_is_right():
    assert fields.split(fields.padded(b"a b c\nd\n"), 2, [0, 1]) is None
    assert fields.split(fields.padded(b"a b c\nd"), 2, [0, 1]) is None
    columns = fields.split(fields.padded(b"a b\n \n c\td\r\n"), 2, [1, 0])
    assert [column.texts() for column in columns] == [["b", "d"], ["a", "c"]]
