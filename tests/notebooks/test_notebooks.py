"""The notebooks, executed on a small workspace; what they are made of; what they refuse."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest

from ragkit.cli import run
from ragkit.errors import ConfigError, FileError
from ragkit.notebook import CompareParameters, EvaluateParameters, ExploreParameters, Parameters, enter_project

ROOT = Path(__file__).parents[2]
NOTEBOOKS: dict[str, type[Parameters]] = {
    "evaluate": EvaluateParameters,
    "explore": ExploreParameters,
    "compare": CompareParameters,
}
STRIP = ["--keep-id", "--extra-keys", "metadata.papermill cell.metadata.papermill metadata.language_info.version"]


def path(name: str) -> str:
    return str(ROOT / "notebooks" / f"{name}.ipynb")


def execute(name: str, **parameters: Any) -> nbformat.NotebookNode:
    return papermill.execute_notebook(path(name), "out.ipynb", parameters, progress_bar=False)


def shown(notebook: nbformat.NotebookNode) -> str:
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(str(o.get("text", "")) + str(o.get("data", {}).get("text/markdown", "")) for o in outputs)


def test_evaluate_writes_what_ragkit_eval_writes(workspace: Path) -> None:
    notebook = execute("evaluate", overrides=["chunking.chunk_size=50", "name=small"])
    assert run(["eval", "--set", "chunking.chunk_size=50", "--set", "name=small", "--out", "by-hand"]) == 0
    for name in ("metrics.json", "rankings.jsonl", "run.trec", "qrels.trec"):
        assert (workspace / "eval/runs/small" / name).read_bytes() == (workspace / "by-hand" / name).read_bytes()
    assert "| Recall@5 |" in shown(notebook)
    figures = [o for cell in notebook.cells for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
    assert len(figures) == 4


def test_evaluate_refuses_an_unknown_parameter_before_anything_runs(workspace: Path) -> None:
    with pytest.raises(papermill.PapermillExecutionError, match="parameter confg: unknown; did you mean config"):
        execute("evaluate", confg="eval/configs/v1.4.toml", out="mine")
    assert not (workspace / "mine").exists()


def test_explore_shows_a_failing_question_with_the_texts(workspace: Path) -> None:
    assert run(["eval", "--set", "chunking.chunk_size=10", "--set", "chunking.chunk_overlap=0"]) == 0
    (workspace / "notebooks").mkdir()
    notebook = execute("explore", split="all", question="q1")
    text = shown(notebook)
    assert "q1: Which colour has the spent cartridge?" in text
    assert "| 0 | guide/care.md\\#2 | 1 | – | chunk | turns from orange to green |" in text
    assert "| headings |" in text


def test_compare_shows_the_verdict(workspace: Path) -> None:
    shutil.copy(ROOT / "eval/policy.toml", "eval")
    assert run(["eval", "--out", "a"]) == 0
    assert run(["eval", "--out", "b", "--set", "chunking.chunk_size=40", "--set", "name=b"]) == 0
    notebook = execute("compare", baseline="a/metrics.json", candidate="b/metrics.json", split="all")
    assert "b against v1.4 on all questions: " in shown(notebook)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_thin_and_their_parameters_are_those_that_are_checked(name: str) -> None:
    notebook = nbformat.read(path(name), as_version=4)
    first, *others = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert first.metadata.tags == ["parameters"]
    for statement in ast.parse(first.source).body:
        assert isinstance(statement, ast.AnnAssign)
        ast.literal_eval(statement.value)  # type: ignore[arg-type]  # a parameter has a default
    for cell in others:
        assert not any(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in ast.walk(ast.parse(cell.source)))
    # papermill's own reader, which a sweep asks before it starts a kernel, sees them all with their types.
    inferred = papermill.inspect_notebook(path(name))
    assert list(inferred) == list(NOTEBOOKS[name].model_fields)
    assert all(parameter["inferred_type_name"] != "None" for parameter in inferred.values())


def test_they_are_committed_without_outputs() -> None:
    assert (
        subprocess.run([sys.executable, "-m", "nbstripout", "--verify", *STRIP, *map(path, NOTEBOOKS)]).returncode == 0
    )


def test_every_wrong_parameter_is_told_and_other_variables_are_let_alone() -> None:
    good = {"config": "c.toml", "overrides": [], "out": None, "_": 1, "In": [], "json": json, "settings": Path()}
    assert EvaluateParameters.check(good).config == "c.toml"
    with pytest.raises(ConfigError) as caught:
        EvaluateParameters.check({**good, "overides": [], "top_k": 5, "out": 3, "overrides": "a=1"})
    assert str(caught.value).splitlines() == [
        "parameter overrides: Input should be a valid list, found 'a=1'",
        "parameter out: Input should be a valid string, found 3",
        "parameter overides: unknown; did you mean overrides?",
        "parameter top_k: unknown; known: config, overrides, out",
    ]
    with pytest.raises(ConfigError, match="parameter config: Field required"):
        EvaluateParameters.check({"overrides": [], "out": None})


def test_the_project_is_found_from_a_folder_inside_it(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(workspace / "eval/corpus")
    assert enter_project("eval/configs/v1.4.toml") == workspace == Path.cwd()
    with pytest.raises(FileError, match=r"missing\.toml: cannot be read: not in"):
        enter_project("missing.toml")
