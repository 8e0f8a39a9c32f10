"""A small project with everything in it that a command reads.

What is under tests/proof carries the marker `proof`, which the default run leaves out: `make proof`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ragkit.cli import run
from tests.conftest import WORKSPACE, write_files
from tests.proof.processes import ROOT, git

CASES = [
    {
        "caseId": "cartridge",
        "query": "Which colour has the spent cartridge?",
        "expectedDocIds": ["guide/care.md"],
        "expectedBreadcrumbs": ["Cartridge"],
        "expectedKeywords": ["green"],
    },
    {
        "caseId": "range",
        "query": "range of the deep model",
        "expectedDocIds": ["sheet.html"],
        "expectedBreadcrumbs": [],
        "expectedKeywords": ["40 m", "Deep"],
    },
]
FILES = {
    ".gitignore": "cache/\neval/runs/\ntmp/\n",
    "eval/policy.toml": 'family = ["small"]\n[check]\nscore_tolerance = 0.005\n',
    "eval/golden/cases.json": json.dumps(CASES),
    "eval/sweeps/small.toml": (
        'name = "small"\nnotebook = "notebooks/quick.ipynb"\n[grid]\n"chunking.chunk_size" = [30, 90]\n'
    ),
    "map.toml": '[request]\njson = { query = "{query}" }\nattempts = 1\n',
    "docs/eval/baseline-v1.4.qmd": (ROOT / "docs/eval/baseline-v1.4.qmd").read_text(encoding="utf-8"),
    "scifact/corpus.jsonl": '{"_id": "a", "title": "", "text": "The pump is red."}\n',
    "scifact/queries.jsonl": '{"_id": "1", "text": "Which colour has the pump?"}\n',
    "scifact/qrels/test.tsv": "query-id\tcorpus-id\tscore\n1\ta\t1\n",
}
"""What the project has beside the files of the fixture `workspace`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Nothing in this folder can forget its marker."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.proof)


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in git: a frozen and committed baseline, a run, recorded golden cases; the hashing encoder."""
    folder = tmp_path_factory.mktemp("template")
    write_files(folder, WORKSPACE | FILES)
    shutil.copytree(ROOT / "tests/execution/resources", folder / "notebooks")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RAGKIT_CACHE", "cache")
        git("init", "-q")
        for command in ("record --config eval/configs/v1.4.toml", "golden"):
            assert run(command.split()) == 0
        git("add", "-A")
        git("commit", "-qm", "data")
        assert run(["freeze", "--allow", "saturated"]) == 0  # four questions are never enough
        git("add", "-A")
        git("commit", "-qm", "baseline")
        assert run(["eval", "--set", "name=small", "--set", "chunking.chunk_size=30"]) == 0
    return folder


@pytest.fixture
def project(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, as working directory."""
    folder = tmp_path / "project"
    shutil.copytree(template, folder)
    (folder / "tmp").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("RAGKIT_CACHE", str(folder / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # this ragkit, whatever the environment has
    return folder
