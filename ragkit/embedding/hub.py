"""Downloading pinned files from a model hub over HTTP: resumed where it stopped, believed only by its hash."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.embedding.registry import HubSource, Pin
from ragkit.errors import ModelError
from ragkit.files import sha256_file
from ragkit.records import Progress

if TYPE_CHECKING:
    import httpx

DEFAULT_ENDPOINT = "https://huggingface.co"
"""Used unless the caller or HF_ENDPOINT names another one (a mirror)."""

ATTEMPTS = 5
"""So many connections in a row that bring nothing; one that brings bytes starts the count anew."""
PAUSE = 1.0
"""Seconds before the second attempt; doubled before each further one."""
_TIMEOUT = 30.0


def endpoint_or_default(endpoint: str | None) -> str:
    """Where to download from, without a slash at the end."""
    return (endpoint or os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")


def download(source: HubSource, pin: Pin, folder: Path, endpoint: str, progress: Progress | None = None) -> Path:
    """Bring one file into `folder`, under the name of its sha256, and give its path.

    A file that is there in part is completed, one that is whole is only checked; `progress` counts
    bytes, those that were there included. Raises `ModelError` when the hub can't be reached, refuses,
    or sends other bytes than the pinned ones; these are deleted. A full disk is an `OSError`.
    """
    import httpx

    url = f"{endpoint}/{source.repository}/resolve/{source.revision}/{pin.path}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / pin.sha256
    counter = _Counter(progress)
    counter.reach(_size(path))
    failures, best = 0, _size(path)
    with httpx.Client(follow_redirects=True, timeout=_TIMEOUT, headers={"Accept-Encoding": "identity"}) as client:
        while _size(path) < pin.size:
            try:
                _continue(client, url, pin, path, counter)
                reason = f"the connection ended after {_size(path)} of {pin.size} bytes"
            except (httpx.TransportError, _TryAgain) as error:
                reason = str(error) or type(error).__name__
            except (httpx.InvalidURL, httpx.TooManyRedirects) as error:
                raise ModelError(f"{url}: cannot be downloaded: {error}") from error
            failures = 0 if _size(path) > best else failures + 1
            best = max(best, _size(path))
            if failures >= ATTEMPTS:
                raise ModelError(
                    f"{url}: cannot be downloaded: {reason}. "
                    "Check the connection (HF_ENDPOINT names a mirror); a rerun goes on where this one stopped"
                )
            if failures:
                time.sleep(PAUSE * 2 ** (failures - 1))
    _check(path, pin, url)
    return path


class _TryAgain(Exception):
    """The server can't answer now."""


class _Counter:
    """Tells `progress` how far the file has grown; a restart from zero is not told twice."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress
        self._told = 0

    def reach(self, size: int) -> None:
        if self._progress is not None and size > self._told:
            self._progress(size - self._told)
            self._told = size


def _continue(client: httpx.Client, url: str, pin: Pin, path: Path, counter: _Counter) -> None:
    """One request: append what comes, at most one byte more than the pinned size."""
    have = _size(path)
    with client.stream("GET", url, headers={"Range": f"bytes={have}-"} if have else {}) as response:
        if response.status_code == 416 or (response.status_code == 206 and _first_byte(response) != have):
            path.unlink(missing_ok=True)  # the server's file is not the one that was begun
            raise _TryAgain("the server can't continue the download")
        if response.status_code >= 500 or response.status_code in {408, 429}:
            raise _TryAgain(f"HTTP status {response.status_code}")
        if response.status_code not in {200, 206}:
            raise ModelError(f"{url}: cannot be downloaded: HTTP status {response.status_code}")
        mode = "ab" if response.status_code == 206 else "wb"  # 200: the server ignored the range
        with path.open(mode) as stream:
            for piece in response.iter_raw():
                stream.write(piece)
                counter.reach(min(stream.tell(), pin.size))
                if stream.tell() > pin.size:
                    return


def _first_byte(response: httpx.Response) -> int | None:
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(match[1]) if match else None


def _check(path: Path, pin: Pin, url: str) -> None:
    size = _size(path)
    digest = sha256_file(path) if size == pin.size else ""
    if digest != pin.sha256:
        path.unlink(missing_ok=True)
        found = f"sha256 {digest}" if size == pin.size else f"more than {pin.size} bytes"
        raise ModelError(
            f"{url}: sent other bytes than the pinned ones: {found}, expected sha256 {pin.sha256}. "
            "What was downloaded is deleted; if HF_ENDPOINT names a mirror, try without it"
        )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
