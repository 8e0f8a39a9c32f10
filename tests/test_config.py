"""A configuration says only what is known, and its id depends only on what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragkit.config import (
    STRATEGIES,
    Bm25Retrieval,
    Configuration,
    HybridRetrieval,
    SentenceChunking,
    load,
    parse,
)
from ragkit.errors import ConfigError, FileError

FULL = """
name = "v1.4"
[model]
source = "pypi"
[chunking]
strategy = "recursive"
chunk_size = 500
separators = ["\\n\\n", " ", ""]
[retrieval]
strategy = "dense"
top_k = 10
"""


def read(tmp_path: Path, text: str, *overrides: str) -> Configuration:
    path = tmp_path / "c.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, overrides)


def complaint(tmp_path: Path, text: str, *overrides: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text, *overrides)
    return str(caught.value).replace(str(tmp_path / "c.toml"), "c.toml").splitlines()


def test_defaults_fill_what_is_not_said(tmp_path: Path) -> None:
    configuration = read(tmp_path, FULL)
    assert configuration.chunking.chunk_overlap == 50
    assert configuration.chunking.separators == ("\n\n", " ", "")
    assert configuration.dataset.corpus == "eval/corpus"
    assert read(tmp_path, 'name = "x"').retrieval.candidate_k == 100


def test_the_id_is_independent_of_name_key_order_and_spelt_out_defaults(tmp_path: Path) -> None:
    one = read(tmp_path, FULL)
    other = read(tmp_path, '[retrieval]\ntop_k = 10\nstrategy = "dense"\n' + FULL.split("[retrieval]")[0].replace(
        'name = "v1.4"', "").replace("chunk_size = 500", "chunk_overlap = 50\nchunk_size = 500"), 'name="other"')  # fmt: skip
    assert re.fullmatch("[0-9a-f]{16}", one.config_id)
    assert one.config_id == other.config_id
    assert (
        read(tmp_path, 'name = "a"').config_id == read(tmp_path, 'name = "b"\n[evaluation]\nseed = 20240501').config_id
    )


@pytest.mark.parametrize(
    "override",
    ["chunking.chunk_size=501", "retrieval.top_k=9", "dataset.split=dev", "evaluation.seed=1", "model.query_prefix=''"],
)
def test_any_other_entry_changes_the_id(tmp_path: Path, override: str) -> None:
    assert read(tmp_path, FULL, override).config_id != read(tmp_path, FULL).config_id


def test_where_files_lie_does_not_change_the_id(tmp_path: Path) -> None:
    moved = ["dataset.corpus=/x", "dataset.questions=q", "dataset.splits=s"]
    assert read(tmp_path, FULL, *moved).config_id == read(tmp_path, FULL).config_id


def test_all_problems_are_told_at_once_with_near_matches(tmp_path: Path) -> None:
    text = """
nmae = "x"
[chunkin]
[model]
precision = "q4"
[retrieval]
strategy = "dense"
topk = 10
threshold = 2
[evaluation]
zebra = 1
bootstrap = "many"
"""
    lines = complaint(tmp_path, text)
    assert "c.toml: name: Field required" in "\n".join(lines)
    sections = "known: answers, chunking, dataset, evaluation, model, name, retrieval"
    assert f"c.toml: nmae: unknown key; did you mean name? {sections}" in lines
    assert f"c.toml: chunkin: unknown key; did you mean chunking? {sections}" in lines
    dense = "candidate_k, cross_encoder, redundancy, rerank, rerank_k, strategy, threshold, top_k"
    assert f"c.toml: retrieval.topk: unknown key; did you mean top_k? known: {dense}" in lines
    assert "c.toml: evaluation.zebra: unknown key; known: bootstrap, coverage, seed, unit" in lines
    assert any(line.startswith("c.toml: model.precision: ") and line.endswith("found 'q4'") for line in lines)
    assert any(line.startswith("c.toml: retrieval.threshold: ") for line in lines)
    assert any(line.startswith("c.toml: evaluation.bootstrap: ") for line in lines)
    assert len(lines) == 8


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("chunking.chunk_overlap=500", "chunk_overlap must be smaller than chunk_size"),
        ('chunking.separators=["a"]', 'separators must end with ""'),
        ("retrieval.candidate_k=5", "candidate_k must be at least top_k"),
        ("model.path=/models/x", "`path` goes with source"),
        ("model.source=builtin", "hashing"),
        ("answers.context_k=0", "greater than or equal to 1"),
        ("answers.sentences=0", "greater than or equal to 1"),
        ("answers.redundancy=1.1", "less than or equal to 1"),
        ("answers.decline_below=-0.1", "greater than or equal to 0"),
        ("answers.decline=0.8", "did you mean decline_below"),
        ("retrieval.top_k=0", "greater than or equal to 1"),
        ("retrieval.top_k=10.5", "top_k"),
        ("retrieval.top_k=true", "valid integer"),
        ("retrieval.threshold=nan", "threshold"),
        ("name=a b", "name"),
        ("name=../x", "name"),
        ("retrieval=3", "retrieval"),
        ("nonsense", "must be section.key=value"),
        ("=3", "must be section.key=value"),
        (".top_k=3", "must be section.key=value"),
        ("name.x=3", "name is not a section"),
        ("retrieval.top_kk=3", "did you mean top_k"),
        ("retrievl.top_k=3", "did you mean retrieval"),
        (
            "retrieval.strategy=densse",
            "strategy: unknown strategy; did you mean dense? known: bm25, dense, external, hybrid",
        ),
        ("chunking.strategy=semantic", "known: block, heading, recursive, sentence"),
        ("retrieval={top_k=3}", "retrieval.strategy: missing; known: bm25, dense, external, hybrid"),
        ("retrieval.rerank=maxsin", "did you mean maxsim?, found 'maxsin'"),
        ("retrieval.rerank_k=20", "rerank_k would have no effect: only with a rerank stage"),
        ("retrieval.redundancy=0.5", 'redundancy would have no effect: only with rerank = "mmr"'),
        ("retrieval.rerank=cross-encoder", "`cross_encoder`, the folder of a model"),
        ("retrieval.cross_encoder=models/x", "`cross_encoder`, the folder of a model"),
        ("retrieval.fusion=rrf", 'retrieval.fusion: goes with strategy "hybrid", not "dense"; known: candidate_k, '),
        ("chunking.sentences=3", 'goes with strategy "sentence", not "recursive"; known: '),
        ('retrieval={strategy="bm25", threshold=0.5}', 'goes with strategy "dense" or "hybrid", not "bm25"'),
        ('retrieval={strategy="hybrid", dense_weight=0.7}', "dense_weight would have no effect"),
        ('retrieval={strategy="hybrid", fusion="weighted", rrf_k=1}', "rrf_k would have no effect"),
        (
            'retrieval={strategy="dense", rerank="mmr", candidate_k=20}',
            "rerank_k (50) must be at most candidate_k (20)",
        ),
        ('chunking={strategy="sentence", sentences=3, sentence_overlap=3}', "smaller than sentences"),
        ('chunking={strategy="heading", chunk_size=50}', "chunk_overlap must be smaller than chunk_size"),
    ],
)
def test_contradictions_and_bad_overrides_are_refused(tmp_path: Path, override: str, says: str) -> None:
    [line] = complaint(tmp_path, FULL, override)
    assert says in line


def test_overrides_win_in_order_and_read_toml_or_bare_words(tmp_path: Path) -> None:
    configuration = read(
        tmp_path, FULL, "retrieval.top_k=3", "retrieval.top_k = 4", "dataset.split=dev", 'dataset.corpus="a=b"',
        "model.query_prefix=' q: '", "evaluation.bootstrap=1_000",
    )  # fmt: skip
    assert (configuration.retrieval.top_k, configuration.dataset.split) == (4, "dev")
    assert (configuration.dataset.corpus, configuration.model.query_prefix) == ("a=b", " q: ")
    assert configuration.evaluation.bootstrap == 1000


def test_a_multi_line_override_cannot_smuggle_a_second_key(tmp_path: Path) -> None:
    assert read(tmp_path, 'name = "a"', "dataset.corpus=x\nvalue2 = 3").dataset.corpus == "x\nvalue2 = 3"


def test_parsing_leaves_the_given_entries_alone() -> None:
    entries = {"name": "a", "retrieval": {"strategy": "dense"}}
    parse(entries, "test", ["retrieval.top_k=3"])
    assert entries == {"name": "a", "retrieval": {"strategy": "dense"}}


def test_what_is_not_toml_or_not_there_says_so(tmp_path: Path) -> None:
    assert complaint(tmp_path, "name = ")[0].startswith("c.toml: not TOML: ")
    with pytest.raises(FileError, match="cannot be read"):
        load(tmp_path / "none.toml")


def test_a_configuration_cannot_be_changed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        read(tmp_path, FULL).name = "other"


def test_another_strategy_by_override_takes_what_it_shares_and_forgets_the_rest(tmp_path: Path) -> None:
    text = FULL + "threshold = 0.8\ncandidate_k = 50\n"
    bm25 = read(tmp_path, text, "retrieval.strategy=bm25").retrieval
    assert bm25 == Bm25Retrieval(strategy="bm25", top_k=10, candidate_k=50)
    hybrid = read(tmp_path, text, "retrieval.strategy=hybrid", "retrieval.fusion=weighted").retrieval
    assert hybrid == HybridRetrieval(strategy="hybrid", candidate_k=50, threshold=0.8, fusion="weighted")
    sentence = read(tmp_path, FULL, "chunking.strategy=sentence", "chunking.sentences=3").chunking
    assert sentence == SentenceChunking(strategy="sentence", chunk_size=500, sentences=3, separators=("\n\n", " ", ""))


def test_what_an_override_itself_says_must_belong_to_the_new_strategy(tmp_path: Path) -> None:
    [line] = complaint(tmp_path, FULL + "threshold = 0.8", "retrieval.threshold=0.9", "retrieval.strategy=bm25")
    assert "retrieval.threshold: goes with" in line


def test_a_cross_encoder_is_known_by_the_name_of_its_folder(tmp_path: Path) -> None:
    given = ["retrieval.rerank=cross-encoder", "retrieval.cross_encoder=/here/judge-1"]
    one = read(tmp_path, FULL, *given)
    assert one.identity()["retrieval"]["cross_encoder"] == "judge-1"
    assert one.config_id == read(tmp_path, FULL, given[0], "retrieval.cross_encoder=models/judge-1").config_id
    assert one.config_id != read(tmp_path, FULL, given[0], "retrieval.cross_encoder=models/judge-2").config_id


@pytest.mark.parametrize("section", list(STRATEGIES))
def test_a_configuration_written_out_with_all_its_defaults_is_read_back_the_same(section: str) -> None:
    for strategy in STRATEGIES[section].keys() - {"external"}:
        one = parse({"name": "a", section: {"strategy": strategy}}, "test")
        assert parse(one.model_dump(mode="json"), "test") == one
