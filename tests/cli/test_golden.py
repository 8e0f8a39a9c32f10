"""`ragkit golden` and `ragkit record` from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragkit import config
from ragkit.cli import run
from ragkit.cli.console import progress
from ragkit.indexing import Clock, indexed

CASES = [
    {
        "caseId": "cartridge",
        "query": "Which colour has the spent cartridge?",
        "expectedDocIds": ["guide/care.md"],
        "expectedBreadcrumbs": ["Cartridge"],
        "expectedKeywords": ["green"],
        "notes": "Exact.",
    },
    {
        "caseId": "range",
        "query": "range of the deep model",
        "expectedDocIds": ["sheet.html"],
        "expectedBreadcrumbs": [],
        "expectedKeywords": ["40 m", "Deep"],
    },
]
# Everything but the standard library, pydantic with what it needs, click and ragkit is unimportable; so is the network.
BLOCKED = """
import socket, sys
ALLOWED = {"ragkit", "click", "pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in ALLOWED and top not in sys.stdlib_module_names and not top.startswith("_sysconfigdata"):
            raise ImportError(f"{name} is blocked")
sys.meta_path.insert(0, Refuse())
def refuse(*_, **__):
    raise OSError("no network")
socket.socket = socket.getaddrinfo = socket.create_connection = refuse
from ragkit.cli import main
main(sys.argv[1:])
"""


@pytest.fixture
def golden(workspace: Path) -> Path:
    """The workspace with two cases and what the hashing encoder retrieves for them."""
    folder = workspace / "eval/golden"
    folder.mkdir(parents=True)
    (folder / "cases.json").write_text(json.dumps(CASES), encoding="utf-8")
    assert run(["record", "--config", "eval/configs/v1.4.toml"]) == 0
    return workspace


def report(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_recorded_run_has_the_documents_of_the_live_run_at_their_ranks(golden: Path) -> None:
    settings = config.load(config.DEFAULT_PATH)
    recorded = report(golden / "eval/golden/fixtures/recorded.json")
    with indexed(settings, cache=golden / "cache", progress=progress, clock=Clock()) as index:
        for case in CASES:
            live = index.retriever.search(str(case["query"]), 10)
            found = [(hit["docId"], hit["text"], hit["rank"]) for hit in recorded["cases"][case["caseId"]]]
            assert found == [(hit.chunk.slug, hit.chunk.text, hit.rank) for hit in live]
    assert run(["golden"]) == 0
    scored = report(golden / "docs/eval/golden-baseline.json")
    assert scored["cases"][0]["first"]["docId"] == recorded["cases"]["cartridge"][0]["docId"]


def test_reports_say_what_they_are_and_where_it_comes_from(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["golden"]) == 0
    found = report(golden / "docs/eval/golden-baseline.json")
    assert found["notice"] == "fixture replay, not live accuracy"
    assert found["provenance"][0]["config_id"] == config.load(config.DEFAULT_PATH).config_id
    assert (found["k"], found["min_coverage"]) == (10, 1.0)
    assert found["levels"] == {"strong": 2, "medium": 0, "weak": 0, "miss": 0}
    text = (golden / "docs/eval/golden-baseline.md").read_text(encoding="utf-8")
    assert "Fixture replay, not live accuracy" in text
    assert found["fixtures_sha256"] in text
    assert found["cases_sha256"] in text
    assert "first 10 candidates" in text
    assert "fixture replay" in capsys.readouterr().out


def test_the_same_files_give_the_same_bytes_and_recording_again_the_same_file(golden: Path) -> None:
    fixture = golden / "eval/golden/fixtures/recorded.json"
    first = fixture.read_bytes()
    assert run(["golden", "--out", "a"]) == 0
    assert run(["record", "--config", "eval/configs/v1.4.toml"]) == 0
    assert run(["golden", "--out", "b.json"]) == 0
    assert fixture.read_bytes() == first
    for suffix in ("json", "md"):
        assert (golden / f"a.{suffix}").read_bytes() == (golden / f"b.{suffix}").read_bytes()
    assert str(golden) not in (golden / "a.json").read_text()


def test_it_needs_nothing_but_pydantic_and_click_and_no_socket(golden: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, "golden"], capture_output=True, text=True, env={**os.environ, "COLUMNS": "100"}
    )
    assert done.returncode == 0, done.stderr
    assert "2 strong" in done.stdout


def test_the_committed_bytes_are_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    assert run(["golden", "--out", str(tmp_path / "again")]) == 0
    for suffix in ("json", "md"):
        assert (tmp_path / f"again.{suffix}").read_bytes() == (
            root / f"docs/eval/golden-baseline.{suffix}"
        ).read_bytes()


def test_committed_cases_name_documents_of_the_corpus() -> None:
    root = Path(__file__).parents[2]
    cases = json.loads((root / "eval/golden/cases.json").read_text(encoding="utf-8"))
    assert 10 <= len(cases) <= 20
    for document in {name for case in cases for name in case["expectedDocIds"]}:
        assert (root / "eval/corpus" / document).is_file(), document


def test_fixtures_of_other_queries_are_told(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [{**CASES[0], "query": "What colour?"}, CASES[1]]
    (golden / "eval/golden/cases.json").write_text(json.dumps(cases), encoding="utf-8")
    assert run(["golden"]) == 0
    assert "recorded for other queries" in capsys.readouterr().err
    assert "recorded for other queries" in (golden / "docs/eval/golden-baseline.md").read_text()


def test_python_m_ragkit_golden_is_the_same(golden: Path) -> None:
    assert run(["golden", "--out", "a"]) == 0
    subprocess.run([sys.executable, "-m", "ragkit", "golden", "--out", "b"], check=True, capture_output=True)
    assert (golden / "a.json").read_bytes() == (golden / "b.json").read_bytes()


def lose(golden: Path, case: str) -> None:
    path = golden / "eval/golden/fixtures/recorded.json"
    recorded = report(path)
    recorded["cases"][case] = []
    path.write_text(json.dumps(recorded), encoding="utf-8")


def test_a_case_that_falls_exits_1_unless_it_is_allowed(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["golden"]) == 0
    before = (golden / "docs/eval/golden-baseline.json").read_bytes()
    old = "docs/eval/golden-baseline.json"
    assert run(["golden", "--compare", old]) == 0
    lose(golden, "range")
    capsys.readouterr()
    assert run(["golden", "--compare", old]) == 1
    captured = capsys.readouterr()
    assert "range\tstrong\tmiss\tfell" in captured.out
    assert "1 golden cases fell: range" in captured.err
    assert run(["golden", "--compare", old, "--allow", "range"]) == 0
    assert (golden / old).read_bytes() == before  # comparing never promotes
    assert run(["golden", "--compare", old, "--out", "docs/eval/golden-baseline"]) == 2
    assert run(["golden", "--compare", old, "--out", "new"]) == 1
    assert (golden / "new.json").exists()  # the report of a fall is what one wants to read
    assert run(["golden", "--fixtures", "eval/golden/fixtures", "--compare", "new.json"]) == 0


def test_a_rise_is_shown_and_does_not_fail(golden: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["golden", "--out", "good"]) == 0
    lose(golden, "range")
    assert run(["golden", "--out", "bad"]) == 0
    assert run(["record", "--config", "eval/configs/v1.4.toml"]) == 0
    capsys.readouterr()
    assert run(["golden", "--compare", "bad.json"]) == 0
    assert "range\tmiss\tstrong\tup" in capsys.readouterr().out


def test_a_case_that_is_gone_counts_as_fallen(golden: Path) -> None:
    assert run(["golden", "--out", "old"]) == 0
    (golden / "eval/golden/cases.json").write_text(json.dumps(CASES[:1]), encoding="utf-8")
    assert run(["record", "--config", "eval/configs/v1.4.toml"]) == 0
    assert run(["golden", "--compare", "old.json"]) == 1
    assert run(["golden", "--compare", "old.json", "--allow", "range"]) == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--k", "5"], 4),
        (["--min-coverage", "0.5"], 4),
        (["--allow", "nobody"], 2),
    ],
)
def test_what_cannot_be_compared_is_refused(golden: Path, arguments: list[str], code: int) -> None:
    assert run(["golden", "--out", "old"]) == 0
    assert run(["golden", "--compare", "old.json", *arguments]) == code


@pytest.mark.parametrize("content", ["[]", "{}", '{"schema": "ragkit-golden-1", "k": 10, "min_coverage": 1.0}', "3"])
def test_something_else_than_a_report_is_no_baseline(golden: Path, content: str) -> None:
    (golden / "old.json").write_text(content)
    assert run(["golden", "--compare", "old.json"]) == 4


@pytest.mark.parametrize(
    "arguments",
    [
        ["golden", "--cases", "none.json"],
        ["golden", "--fixtures", "none"],
        ["golden", "--map", "none.toml"],
        ["golden", "--compare", "none.json"],
        ["golden", "--allow", "range"],
        ["golden", "--k", "0"],
        ["golden", "--min-coverage", "0"],
        ["golden", "--min-coverage", "1.1"],
        ["record"],
        ["record", "--config", "none.toml"],
        ["record", "--config", "eval/configs/v1.4.toml", "--http", "http://localhost"],
        ["record", "--config", "eval/configs/v1.4.toml", "--map", "map.toml"],
        ["record", "--http", "ftp://localhost", "--map", "map.toml"],
        ["record", "--http", "http://localhost"],
    ],
)
def test_bad_usage_exits_2_and_writes_nothing(golden: Path, arguments: list[str]) -> None:
    fixture = golden / "eval/golden/fixtures/recorded.json"
    before = fixture.read_bytes()
    assert run(arguments) == 2
    assert not (golden / "docs").exists()
    assert fixture.read_bytes() == before


def test_markup_in_cases_and_fixtures_stays_text_in_the_markdown(golden: Path) -> None:
    cases = [{**CASES[0], "query": "<script>|**x**", "expectedKeywords": ["<b>|nothing"]}]
    (golden / "eval/golden/cases.json").write_text(json.dumps(cases), encoding="utf-8")
    assert run(["record", "--config", "eval/configs/v1.4.toml"]) == 0
    assert run(["golden", "--out", "a"]) == 0
    text = (golden / "a.md").read_text()
    assert "<script>" not in text
    assert "<b>" not in text
