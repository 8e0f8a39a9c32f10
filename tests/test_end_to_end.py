"""The committed evaluation with the real model, as a user runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ragkit.embedding.registry import model_folder, registered

ROOT = Path(__file__).resolve().parents[1]
STABLE = ("metrics.json", "rankings.jsonl", "run.trec", "qrels.trec")
pytestmark = pytest.mark.model


def ragkit(
    *arguments: str, cache: Path, prefix: tuple[str, ...] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [*prefix, sys.executable, "-m", "ragkit", *arguments]
    variables = {**os.environ, "RAGKIT_CACHE": str(cache), **environment}
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def first(prepared_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on dev with every vector made anew."""
    out = tmp_path_factory.mktemp("runs") / "first"
    done = ragkit(
        "eval",
        "--set",
        "dataset.split=dev",
        "--out",
        str(out),
        "--no-cache",
        cache=prepared_cache,
        PYTHONHASHSEED="1",
    )
    assert done.returncode == 0, done.stderr
    return out


def test_a_second_run_from_cached_vectors_gives_the_same_bytes(
    first: Path, prepared_cache: Path, tmp_path: Path
) -> None:
    done = ragkit(
        "eval", "--set", "dataset.split=dev", "--out", str(tmp_path / "b"), cache=prepared_cache, PYTHONHASHSEED="2"
    )
    assert done.returncode == 0, done.stderr
    for name in STABLE:
        assert (tmp_path / "b" / name).read_bytes() == (first / name).read_bytes(), name


def test_without_any_network_interface_nothing_changes(first: Path, prepared_cache: Path, tmp_path: Path) -> None:
    alone = ("unshare", "--map-root-user", "--net")
    if shutil.which("unshare") is None or subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no network namespaces on this system")
    done = ragkit(
        "eval", "--set", "dataset.split=dev", "--out", str(tmp_path / "b"), cache=prepared_cache, prefix=alone
    )
    assert done.returncode == 0, done.stderr
    for name in STABLE:
        assert (tmp_path / "b" / name).read_bytes() == (first / name).read_bytes(), name


def test_nobody_is_told_of_a_run(first: Path, prepared_cache: Path, tmp_path: Path) -> None:
    """Native libraries can write and connect where Python's own sockets are watched in vain."""
    (tmp_path / "home").mkdir()
    trace = ("strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg", "-o", str(tmp_path / "calls"))
    if shutil.which("strace") is None or subprocess.run([*trace, "true"], check=False).returncode:
        trace = ()
    done = ragkit(
        "eval",
        *("--set", "dataset.split=dev", "--out", str(tmp_path / "b")),
        cache=prepared_cache,
        prefix=trace,
        HOME=str(tmp_path / "home"),
    )
    assert done.returncode == 0, done.stderr
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []
    if trace:
        assert "AF_INET" not in (tmp_path / "calls").read_text(encoding="utf-8")


def test_retrieval_is_far_better_than_chance_and_not_perfect(first: Path) -> None:
    found = json.loads((first / "metrics.json").read_text(encoding="utf-8"))["measures"]
    assert found["Recall@10"]["chance"] < 0.05
    assert found["Recall@5"]["low"] > 10 * found["Recall@5"]["chance"]
    assert found["Recall@5"]["high"] < 1


def test_it_needs_less_than_600_mb(first: Path) -> None:
    assert json.loads((first / "timing.json").read_text(encoding="utf-8"))["peak_memory_mb"] < 600


def test_one_flipped_byte_of_the_model_is_found(prepared_cache: Path, tmp_path: Path) -> None:
    source = registered("pypi")
    copy = model_folder(source, tmp_path)
    shutil.copytree(model_folder(source, prepared_cache), copy)
    with (copy / "model.onnx").open("r+b") as stream:
        stream.seek(50_000_000)
        byte = stream.read(1)
        stream.seek(50_000_000)
        stream.write(bytes([byte[0] ^ 1]))
    done = ragkit("eval", "--out", str(tmp_path / "out"), cache=tmp_path)
    assert done.returncode == 3
    assert "model.onnx" in done.stderr
    assert "ragkit prepare --force" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_committed_questions_are_valid(prepared_cache: Path) -> None:
    done = ragkit("validate", cache=prepared_cache)
    assert done.returncode == 0, done.stderr
