"""The command line as a whole: help, exit codes, plain output, nothing heavy before it is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ragkit.cli import COMMANDS, run

HEAVY = ("torch", "pandas", "matplotlib", "sentence_transformers", "onnxruntime", "papermill", "numpy", "rich", "apsw")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Usage:" in text
    assert f"ragkit {command}" in text or command == "cache-key"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"  {command} " in text for command in COMMANDS)


def imported_by(code: str, folder: Path) -> set[str]:
    """Every module, and every package by its name alone."""
    script = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    names = done.stderr.splitlines()[-1].split()
    return {*names, *(name.partition(".")[0] for name in names)}


def test_importing_the_package_and_showing_help_load_nothing_heavy(tmp_path: Path) -> None:
    loaded = imported_by("import ragkit\nfrom ragkit.cli import run\nrun(['--help'])", tmp_path)
    assert loaded.isdisjoint({*HEAVY, "ragkit.records", "ragkit.files", "ragkit.report"})


def test_a_replay_of_golden_cases_loads_no_more_than_it_reads_with(tmp_path: Path) -> None:
    golden = Path(__file__).resolve().parents[2] / "eval/golden"
    arguments = ["golden", "--cases", f"{golden}/cases.json", "--fixtures", f"{golden}/fixtures", "--out", "golden"]
    loaded = imported_by(f"from ragkit.cli import run\nassert run({arguments}) == 0", tmp_path)
    assert (tmp_path / "golden.md").exists()
    assert loaded.isdisjoint({*HEAVY, "pydantic", "ragkit.dataset", "ragkit.interop.service", "jmespath"})


def test_an_evaluation_loads_no_torch_pandas_or_matplotlib(workspace: Path) -> None:
    loaded = imported_by("from ragkit.cli import run\nassert run(['eval']) == 0", workspace)
    assert loaded.isdisjoint({"torch", "pandas", "matplotlib", "sentence_transformers", "papermill", "IPython"})


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nonsense"], 2),
        (["eval", "--nonsense"], 2),
        (["eval", "--config", "missing.toml"], 2),
        (["eval", "--set", "chunking.chunk_sise=3"], 2),
        (["eval", "--set", "nonsense"], 2),
        (["blocks", "missing.pdf"], 2),
    ],
)
def test_wrong_usage_exits_with_2_and_a_message(
    workspace: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int
) -> None:
    assert run(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.strip()
    assert "Traceback" not in captured.err


def test_blocks_in_a_pipe_is_one_line_a_block(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["blocks", "eval/corpus/guide/care.md"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t") == ["order", "page", "kind", "breadcrumb", "text"]
    assert lines[3].split("\t") == [
        "2", "–", "paragraph", "Care > Cartridge", "The cartridge turns from orange to green when it is spent.",
    ]  # fmt: skip


def test_blocks_as_json_slice_back(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["blocks", "eval/corpus/sheet.html", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for block in document["blocks"]:
        assert document["text"][block["start"] : block["end"]] == block["text"]


def test_locate_finds_the_block_of_a_phrase(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["locate", "lasts six years", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert (first["slug"], first["order"]) == ("guide/care.md", 4)


def test_validate_tells_corpus_and_question_problems_together(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace / "eval/corpus/empty.md").write_text("")
    questions = workspace / "eval/questions.jsonl"
    questions.write_text(
        questions.read_text() + '{"id": "q1", "question": "again?", "answerable": false, "relevant": []}\n'
    )
    assert run(["validate"]) == 2
    error = capsys.readouterr().err
    assert "empty.md" in error
    assert "eval/questions.jsonl:5: duplicate-id" in error


def test_a_valid_dataset_says_so(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["validate"]) == 0
    assert "no problems: 4 questions, 5 judgments, 3 documents" in capsys.readouterr().out


def test_the_cache_key_needs_no_prepared_model(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache-key"]) == 0
    key = capsys.readouterr().out.strip()
    assert "multilingual-e5-small" in key
    assert run(["cache-key", "--source", "hub"]) == 0
    assert capsys.readouterr().out.strip() != key
