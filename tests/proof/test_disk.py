"""A full disk and read-only folders, for real: mounted, because root is not stopped by permissions."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from ragkit.cli import run
from tests.proof.processes import MOUNTS, ROOT, Finished, need, ragkit, told

FULL = "No space left on device"
READ_ONLY = "Read-only file system"
PYTHON = shlex.quote(sys.executable)
WRITERS = {
    "eval": ("eval --set name=small --set chunking.chunk_size=90", "eval/runs"),
    "freeze": ("freeze --allow saturated --set chunking.chunk_size=30", "docs/eval"),
    "record": ("record --config eval/configs/v1.4.toml --k 2", "eval/golden/fixtures"),
    "golden": ("golden --k 1", "docs/eval"),
    "sweep": ("sweep eval/sweeps/sizes.toml", "docs/eval"),
    "compare": ("compare v1.4 eval/runs/small --confirm --again", "eval"),
    "markdown": ("compare v1.4 eval/runs/small --markdown out/comment.md", "out"),
    "import": ("import beir scifact --out out/scifact", "out"),
    "export": ("export beir eval/runs/small --out out/small", "out"),
    "init": ("init out/mine", "out"),
    "render": ("render --engine jupyter docs/eval/baseline-v1.4.qmd --out out", "out"),
}
"""A command and the folder it writes into."""


@pytest.fixture(autouse=True)
def _out(project: Path) -> None:
    (project / "out").mkdir()


def inside(script: str, *arguments: str) -> Finished:
    """A shell script where mounts are its own; `$RAGKIT` runs a command."""
    command = [*MOUNTS, "sh", "-ec", f'RAGKIT="{PYTHON} -m ragkit"; {script}', *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def contents(folder: str) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("left", [0, 12])
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_told_and_leaves_what_was_there(project: Path, name: str, left: int) -> None:
    """With no block left, and with so few KB that it gets full in the middle; with room again it works."""
    need(MOUNTS)
    command, folder = WRITERS[name]
    before = contents(folder)
    script = f"""
        cp -a {folder} tmp/before; mount -t tmpfs -o size=2m none {folder}; cp -a tmp/before/. {folder}
        free=$(df --output=avail -k {folder} | tail -1)
        head -c $(( (free - {left}) * 1024 )) /dev/zero > {folder}/.filling
        code=0; $RAGKIT {command} || code=$?
        echo "code $code" >&2; rm {folder}/.filling; cp -a {folder} tmp/after
        $RAGKIT {command} >&2; cp -a {folder} tmp/again
    """
    done = inside(script)
    assert done.returncode == 0, done.stderr
    after, again = contents("tmp/after"), contents("tmp/again")
    assert "Traceback" not in done.stderr
    assert "code 0" in done.stderr or ("code 2" in done.stderr and FULL in done.stderr), done.stderr
    if left == 0:
        assert "code 2" in done.stderr
    if "code 2" in done.stderr:
        assert after == before
    assert again != before


@pytest.mark.parametrize("name", WRITERS)
def test_a_read_only_folder_is_told(project: Path, name: str) -> None:
    need(MOUNTS)
    command, folder = WRITERS[name]
    before = contents(folder)
    told(inside(f"mount --bind {folder} {folder}; mount -o remount,ro,bind {folder}; $RAGKIT {command}"), 2, READ_ONLY)
    assert contents(folder) == before


READERS = [
    "cache-key",
    "validate",
    "blocks eval/corpus/sheet.html",
    "locate six years",
    "check",
    "compare v1.4 eval/runs/small",
    "golden --compare docs/eval/golden-baseline.json",
    "eval --out tmp/run",
]


@pytest.mark.parametrize("command", READERS)
def test_what_only_reads_works_in_a_project_that_is_read_only(project: Path, command: str) -> None:
    need(MOUNTS)
    script = "mount --bind $PWD $PWD; cd $PWD; mount -t tmpfs none tmp; mount -o remount,ro,bind $PWD; $RAGKIT"
    told(inside(f"{script} {command}"), 0)


def test_vectors_that_cannot_be_kept_are_told(project: Path) -> None:
    need(MOUNTS)
    done = inside("mount -t tmpfs -o ro none cache; $RAGKIT eval")
    told(done, 0, "The vectors are not kept for the next run", READ_ONLY)


def test_temporary_files_that_cannot_be_written_are_told(project: Path) -> None:
    need(MOUNTS)
    # Not hidden, only made read-only: the interpreter may lie there.
    others = (
        "for each in /tmp /var/tmp /usr/tmp; do "
        "[ ! -d $each ] || { mount --bind $each $each; mount -o remount,ro,bind $each; }; done"
    )
    here = "mount --bind . /mnt; mount -o remount,ro,bind /mnt; cd /mnt"  # the working directory is the last resort
    done = inside(f"export PYTHONPATH={ROOT} RAGKIT_CACHE=cache; {here}; {others}; $RAGKIT eval")
    told(done, 2, "no temporary folder can be made", "set TMPDIR")


def test_a_database_that_does_not_fit_is_told(project: Path) -> None:
    need(MOUNTS)
    for size in ("64k", "200k", "400k"):
        done = inside(f"mount -t tmpfs -o size={size} none tmp; TMPDIR=$PWD/tmp $RAGKIT eval")
        told(done, 2, "run.db", "the disk is full: free some space")
        assert not Path("eval/runs/v1.4").exists()


@pytest.mark.parametrize("name", ["eval", "freeze", "record"])
def test_a_limit_on_file_sizes_is_told_too(project: Path, name: str) -> None:
    """The same without mounts: every file that grows beyond some bytes fails in the middle of its write."""
    command, folder = WRITERS[name]
    before = contents(folder)
    need(("prlimit", "--fsize=1000000"))
    assert run(["eval", "--out", "tmp/warm"]) == 0
    done = ragkit(*command.split(), prefix=("prlimit", "--fsize=1500"))
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert contents(folder) == before
