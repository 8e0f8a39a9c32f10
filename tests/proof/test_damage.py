"""Files that are cut off or have wrong bytes: the command that reads them says which and what to do, or makes them again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.cli import run
from ragkit.config import ModelConfig
from ragkit.embedding import load_encoder
from ragkit.embedding.registry import SOURCES, model_folder
from tests.proof.processes import git

BASELINE = "docs/eval/baseline-v1.4"
SWEEP = "sweep eval/sweeps/sizes.toml"
COMPARE = "compare v1.4 eval/runs/small"
RESTORE = "restore it from version control, or"
READERS = [
    (f"{BASELINE}.json", "check", 2, RESTORE),
    (f"{BASELINE}.json", COMPARE, 2, RESTORE),
    (f"{BASELINE}.json", SWEEP, 2, RESTORE),
    (f"{BASELINE}.json", "freeze --allow saturated", 2, RESTORE),
    (f"{BASELINE}.meta.json", "check", 2, RESTORE),
    (f"{BASELINE}.meta.json", COMPARE, 2, RESTORE),
    (f"{BASELINE}.meta.json", SWEEP, 2, RESTORE),
    (f"{BASELINE}.meta.json", "freeze --allow saturated", 2, RESTORE),
    (f"{BASELINE}.timing.json", "check", 2, RESTORE),
    (f"{BASELINE}.timing.json", COMPARE, 2, RESTORE),
    (f"{BASELINE}.timing.json", SWEEP, 2, RESTORE),
    (f"{BASELINE}.md", "check", 1, "don't edit it, freeze again"),
    ("eval/runs/small/metrics.json", COMPARE, 2, RESTORE),
    ("eval/runs/small/metrics.json", "export beir eval/runs/small", 2, RESTORE),
    ("eval/runs/small/timing.json", COMPARE, 2, RESTORE),
    ("eval/runs/small/run.trec", "export trec eval/runs/small", 2, "a line is: question Q0 document"),
    ("eval/runs/small/qrels.trec", "export trec eval/runs/small", 2, "a line is: question iteration"),
    ("eval/splits.json", "eval", 2, RESTORE),
    ("eval/splits.json", "validate", 2, RESTORE),
    ("eval/splits.json", "check", 2, RESTORE),
    ("eval/splits.json", SWEEP, 4, "restore it, or freeze"),
    ("eval/questions.jsonl", SWEEP, 4, "restore it, or freeze"),
    ("eval/questions.jsonl", "eval", 2, RESTORE),
    ("eval/questions.jsonl", "validate", 2, RESTORE),
    ("eval/questions.jsonl", "export beir eval/runs/small", 2, RESTORE),
    ("eval/golden/cases.json", "golden", 2, RESTORE),
    ("eval/golden/cases.json", "record --config eval/configs/v1.4.toml", 2, RESTORE),
    ("eval/golden/fixtures/recorded.json", "golden", 2, RESTORE),
    ("docs/eval/golden-baseline.json", "golden --compare docs/eval/golden-baseline.json", 2, RESTORE),
    ("eval/ledger.jsonl", f"{COMPARE} --confirm --again", 2, "restore it from version control"),
    ("ids.json", "export trec eval/runs/small --ids ids.json", 2, RESTORE),
    ("answers.jsonl", "eval --answers answers.jsonl", 2, RESTORE),
    ("notebooks/quick.ipynb", SWEEP, 2, RESTORE),
    ("scifact/corpus.jsonl", "import beir scifact", 2, RESTORE),
    ("scifact/queries.jsonl", "import beir scifact", 2, RESTORE),
    (f"{BASELINE}.json", "render --engine jupyter docs/eval/baseline-v1.4.qmd", 1, RESTORE),
]
MADE_AGAIN = [
    (f"{BASELINE}.timing.json", "freeze --allow saturated"),
    (f"{BASELINE}.md", "freeze --allow saturated"),
    ("eval/runs/small/metrics.json", "eval --set name=small --set chunking.chunk_size=30"),
    ("eval/golden/fixtures/recorded.json", "record --config eval/configs/v1.4.toml"),
    ("docs/eval/golden-baseline.json", "golden"),
]


@pytest.fixture
def more(project: Path) -> Path:
    """The project with what only some commands read."""
    Path("ids.json").write_text(json.dumps({"documents": {"notes.txt": "n"}, "questions": {"q1": ["1"]}}))
    Path("answers.jsonl").write_text('{"id": "q1", "answer": "Green."}\n{"id": "q2", "answer": "Six years."}\n')
    shutil.copy("eval/policy.toml", "policy.toml")
    assert run([*COMPARE.split(), "--confirm"]) == 0
    git("add", "-A")
    git("commit", "-qm", "more")
    return project


def cuts(content: bytes) -> list[bytes]:
    """The content cut off at several places, never between two lines: that would be a file, and another one."""
    if b" Q0 " in content or b" 0 " in content.splitlines()[0]:
        return [content.rsplit(b" ", 2)[0]]  # TREC files can't tell a last field that is cut off from a short one
    places = [len(content) * tenths // 10 for tenths in (1, 3, 5, 7, 9)] + [len(content.rstrip()) - 1]
    return [content[:place].rstrip(b"\n}") for place in places if place]


@pytest.mark.parametrize(("path", "command", "code", "remedy"), READERS)
def test_a_file_that_is_cut_off_is_named_with_a_remedy(
    more: Path, capsys: pytest.CaptureFixture[str], path: str, command: str, code: int, remedy: str
) -> None:
    content = Path(path).read_bytes()
    pieces = cuts(content) if "render" not in command else cuts(content)[2:3]  # a kernel for each
    for piece in pieces:
        Path(path).write_bytes(piece)
        git("commit", "-qam", "cut off", "--allow-empty")
        capsys.readouterr()
        assert run(command.split()) == code, f"cut off after {len(piece)} bytes"
        said = capsys.readouterr().err
        assert Path(path).name in said, f"cut off after {len(piece)} bytes"
        assert remedy in said, said
        assert "Traceback" not in said, said


def test_every_json_of_the_project_was_cut_off(more: Path) -> None:
    """What a new command writes can't be forgotten here."""
    cut = {path for path, *_ in READERS}
    there = {path for path in git("ls-files").splitlines() if ".json" in path or ".ipynb" in path}
    there |= {path.as_posix() for path in Path("eval/runs/small").glob("*.json*")}
    read_by_nobody = {"eval/runs/small/rankings.jsonl"}
    assert there - read_by_nobody <= cut


@pytest.mark.parametrize(("path", "command"), MADE_AGAIN)
def test_what_a_command_writes_it_does_not_need_to_read(project: Path, path: str, command: str) -> None:
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[: len(content) // 2])
    assert run(command.split()) == 0
    if "timing" in path:
        json.loads(Path(path).read_bytes())
    elif not path.startswith(BASELINE):
        assert Path(path).read_bytes() == content


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _remove(path: Path) -> None:
    path.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE = [_cut, _flip, _empty, _remove, _folder]


@pytest.mark.parametrize("name", ["metrics.json", "timing.json"])
def test_a_sweep_makes_damaged_results_again_and_keeps_the_others(
    project: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert run(SWEEP.split()) == 0
    report = Path("docs/eval/experiments/sizes.json").read_bytes()
    capsys.readouterr()
    _cut(min(Path("eval/runs/sizes").glob(f"*/{name}")))
    assert run(SWEEP.split()) == 0
    said = capsys.readouterr().err
    assert said.count(": kept") == 1
    assert said.count(": done") == 1
    assert Path("docs/eval/experiments/sizes.json").read_bytes() == report


def test_a_sweeps_own_report_that_is_cut_off_is_made_again_and_its_times_are_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(SWEEP.split()) == 0
    path = Path("docs/eval/experiments/sizes.json")
    content = path.read_bytes()
    _cut(path)
    assert run(SWEEP.split()) == 0
    assert path.read_bytes() == content
    _cut(path.with_suffix(".timing.json"))
    capsys.readouterr()
    assert run(SWEEP.split()) == 2
    assert "sizes.timing.json" in capsys.readouterr().err
    path.with_suffix(".timing.json").unlink()  # "or make it again"
    assert run(SWEEP.split()) == 0


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_vectors_are_made_again(project: Path, damage: Callable[[Path], None]) -> None:
    assert run(["eval", "--out", "before"]) == 0
    segments = list(Path("cache/vectors").rglob("*.seg"))
    assert segments
    for path in segments:
        damage(path)
    assert run(["eval", "--out", "after"]) == 0
    assert Path("after/metrics.json").read_bytes() == Path("before/metrics.json").read_bytes()


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.model", "manifest.json", "reference/modules.json"])
def test_a_damaged_model_is_named_and_prepare_mends_it(
    scene: Path, capsys: pytest.CaptureFixture[str], name: str, damage: Callable[[Path], None]
) -> None:
    assert run(["prepare"]) == 0
    settings = Path("eval/configs/v1.4.toml")
    settings.write_text(settings.read_text().replace('name = "hashing"\nsource = "builtin"', 'source = "pypi"'))
    path = model_folder(SOURCES["pypi"], scene / "cache") / name
    damage(path)
    capsys.readouterr()
    if not name.startswith("reference"):  # which runs in q8 don't read
        assert run(["eval"]) == 3
        said = capsys.readouterr().err
        assert Path(name).name in said
        assert "Run: ragkit prepare --force" in said
        assert not Path("eval/runs/v1.4").exists()
    assert run(["prepare"]) == 0
    load_encoder(ModelConfig(), scene / "cache")
    assert run(["prepare"]) == 0
    assert "Already prepared" in capsys.readouterr().out
