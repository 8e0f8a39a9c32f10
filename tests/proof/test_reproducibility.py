"""The same numbers elsewhere: other thread counts, another Python, another processor; a cut of the committed corpus.

docs/methodology.qmd, "Reproducibility", has what the whole set gave.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragkit.comparison import read_metrics, read_policy
from ragkit.comparison.rerun import flips

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("policies/data/POL-07 retention and access.md", "帮助中心/网关/潮线接入指南.html")
QEMU = shutil.which(os.environ.get("RAGKIT_EMULATOR", ""))
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def other_python() -> str | None:
    """An interpreter of another version that has ragkit's dependencies; RAGKIT_OTHER_PYTHON can name it."""
    needed = "import apsw, onnxruntime, pydantic, sqlite_vec, tokenizers, lxml, pypdfium2, matplotlib, sys; "
    for name in (os.environ.get("RAGKIT_OTHER_PYTHON"), "python3.12", "python3.13", "python3.11"):
        path = name and shutil.which(name)
        if path:
            script = f"{needed} sys.exit(sys.version_info[:2] == {tuple(sys.version_info[:2])})"
            if subprocess.run([path, "-c", script], capture_output=True, check=False).returncode == 0:
                return path
    return None


@pytest.fixture
def cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An evaluation folder of a few documents and the questions that they alone answer."""
    questions = [json.loads(line) for line in (ROOT / "eval/questions.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = [q for q in questions if q["relevant"] and {j["document"] for j in q["relevant"]} <= set(DOCUMENTS)]
    ids = {question["id"] for question in kept}
    splits = json.loads((ROOT / "eval/splits.json").read_text(encoding="utf-8"))
    for slug in DOCUMENTS:
        target = tmp_path / "eval/corpus" / slug
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "eval/corpus" / slug, target)
    lines = "".join(json.dumps(question, ensure_ascii=False) + "\n" for question in kept)
    (tmp_path / "eval/questions.jsonl").write_text(lines, encoding="utf-8")
    sides = {side: [name for name in splits[side] if name in ids] for side in ("dev", "test")}
    (tmp_path / "eval/splits.json").write_text(json.dumps(sides))
    (tmp_path / "eval/configs").mkdir()
    shutil.copy(ROOT / "eval/configs/v1.4.toml", tmp_path / "eval/configs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def evaluate(out: str, cache: Path, *before: str, python: str = sys.executable, cores: set[int] | None = None) -> bytes:
    """`ragkit eval` without cached vectors in a process of its own; its metrics.json."""
    command: Sequence[str] = [*before, python, "-m", "ragkit", "eval", "--no-cache", "--out", out]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAGKIT_CACHE": str(cache)}
    pin = None if cores is None else lambda: os.sched_setaffinity(0, cores)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, preexec_fn=pin)
    assert done.returncode == 0, done.stderr
    return Path(out, "metrics.json").read_bytes()


def scores_of(out: str) -> dict[tuple[str, str, str], float]:
    """By question and chunk: chunks of one long block have the same place, and different spans."""
    lines = Path(out, "rankings.jsonl").read_text(encoding="utf-8").splitlines()
    return {
        (ranking["id"], hit["document"], str(hit["spans"])): hit["score"]
        for ranking in map(json.loads, lines)
        for hit in ranking["hits"]
    }


@pytest.mark.skipif(CORES < 2, reason="one core only")
@pytest.mark.timeout(900)
def test_one_core_and_several_give_the_same_bytes(cut: Path, prepared_cache: Path) -> None:
    one = sorted(os.sched_getaffinity(0))[:1]
    assert evaluate("one", prepared_cache, cores=set(one)) == evaluate("all", prepared_cache)
    for name in ("rankings.jsonl", "run.trec", "qrels.trec"):
        assert Path("one", name).read_bytes() == Path("all", name).read_bytes()


@pytest.mark.timeout(900)
def test_another_python_gives_the_same_bytes(cut: Path, prepared_cache: Path) -> None:
    python = other_python()
    if python is None:
        pytest.skip("no other Python has the dependencies: name one in RAGKIT_OTHER_PYTHON")
    assert evaluate("there", prepared_cache, python=python) == evaluate("here", prepared_cache)


@pytest.mark.skipif(QEMU is None, reason="takes half an hour: RAGKIT_EMULATOR=qemu-x86_64 (apt-get install qemu-user)")
@pytest.mark.timeout(7200)
def test_a_haswell_gives_the_same_numbers_within_the_tolerance(cut: Path, prepared_cache: Path) -> None:
    """No VNNI, no AVX-512: the instructions of a processor of 2013, emulated. Slow."""
    assert QEMU is not None
    evaluate("here", prepared_cache)
    evaluate("there", prepared_cache, QEMU, "-cpu", "Haswell")
    here, there = (read_metrics(Path(name, "metrics.json")) for name in ("here", "there"))
    moved = flips(here, there)
    tolerance = read_policy(ROOT / "eval/policy.toml").check.score_tolerance
    assert [flip for flip in moved if flip.gap > tolerance] == []
    before, after = (scores_of(name) for name in ("here", "there"))
    both = before.keys() & after.keys()
    assert len(both) > len(before) / 2
    assert max(abs(before[hit] - after[hit]) for hit in both) <= tolerance
