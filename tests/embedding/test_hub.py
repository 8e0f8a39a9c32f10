"""The hub's download against a server on loopback that misbehaves in every way a network does."""

from __future__ import annotations

import hashlib
import http.server
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragkit.embedding import hub
from ragkit.embedding.registry import HubSource, Pin
from ragkit.errors import ModelError

CONTENT = bytes(range(256)) * 4000


class Hub(http.server.ThreadingHTTPServer):
    """Serves `files`; `cuts` are byte counts after which the next answers break off."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.cuts: list[int] = []
        self.statuses: list[int] = []
        self.ranges = True
        self.shift = 0
        self.asked: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append((self.path, wanted))
        if self.path.startswith("/toy/model"):
            self.send_response(302)
            self.send_header("Location", "/stored" + self.path)
            self.end_headers()
            return
        if self.server.statuses:
            self.send_error(self.server.statuses.pop(0))
            return
        content = self.server.files.get(self.path.removeprefix("/stored/toy/model/resolve/abc/"))
        if content is None:
            self.send_error(404)
            return
        start = 0
        if wanted and self.server.ranges:
            match = re.fullmatch(r"bytes=(\d+)-", wanted)
            start = int(match[1]) if match else 0
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start + self.server.shift}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        cut = self.server.cuts.pop(0) if self.server.cuts else len(content)
        self.wfile.write(content[start : start + cut])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.setattr(hub, "PAUSE", 0.0)
    with Hub() as running:
        running.files["onnx/model.onnx"] = CONTENT
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


PIN = Pin("onnx/model.onnx", len(CONTENT), hashlib.sha256(CONTENT).hexdigest())
SOURCE = HubSource(
    name="hub",
    model="toy",
    revision="abc",
    weights="toy",
    graph_sha256=PIN.sha256,
    converter="",
    precisions=("q8",),
    repository="toy/model",
    graph=PIN,
    tokenizer=PIN,
)


def test_a_file_arrives_whole_through_a_redirect(server: Hub, tmp_path: Path) -> None:
    done: list[int] = []
    path = hub.download(SOURCE, PIN, tmp_path, server.url, done.append)
    assert path.read_bytes() == CONTENT
    assert sum(done) == len(CONTENT)


def test_cut_connections_are_resumed_where_they_stopped(server: Hub, tmp_path: Path) -> None:
    server.cuts = [1000, 5000, 300_000]
    done: list[int] = []
    path = hub.download(SOURCE, PIN, tmp_path, server.url, done.append)
    assert path.read_bytes() == CONTENT
    assert sum(done) == len(CONTENT)
    asked = [wanted for url, wanted in server.asked if url.startswith("/stored")]
    assert asked == [None, "bytes=1000-", "bytes=6000-", "bytes=306000-"]


def test_what_an_earlier_process_left_is_completed(server: Hub, tmp_path: Path) -> None:
    (tmp_path / PIN.sha256).write_bytes(CONTENT[:777])
    assert hub.download(SOURCE, PIN, tmp_path, server.url).read_bytes() == CONTENT
    assert server.asked[-1][1] == "bytes=777-"


def test_a_whole_file_is_only_checked(server: Hub, tmp_path: Path) -> None:
    (tmp_path / PIN.sha256).write_bytes(CONTENT)
    hub.download(SOURCE, PIN, tmp_path, server.url)
    assert server.asked == []


def test_a_server_without_ranges_starts_again(server: Hub, tmp_path: Path) -> None:
    server.ranges = False
    server.cuts = [1000]
    done: list[int] = []
    assert hub.download(SOURCE, PIN, tmp_path, server.url, done.append).read_bytes() == CONTENT
    assert sum(done) == len(CONTENT)


def test_busy_servers_are_asked_again(server: Hub, tmp_path: Path) -> None:
    server.statuses = [503, 429, 500]
    assert hub.download(SOURCE, PIN, tmp_path, server.url).read_bytes() == CONTENT


def test_wrong_bytes_of_the_right_size_are_refused_and_deleted(server: Hub, tmp_path: Path) -> None:
    server.files["onnx/model.onnx"] = CONTENT[:-1] + b"x"
    with pytest.raises(ModelError, match="other bytes than the pinned ones") as caught:
        hub.download(SOURCE, PIN, tmp_path, server.url)
    assert PIN.sha256 in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_beginning_from_an_earlier_process_is_deleted_once_it_shows(server: Hub, tmp_path: Path) -> None:
    (tmp_path / PIN.sha256).write_bytes(b"x" * 777)
    with pytest.raises(ModelError, match="other bytes"):
        hub.download(SOURCE, PIN, tmp_path, server.url)
    assert hub.download(SOURCE, PIN, tmp_path, server.url).read_bytes() == CONTENT


def test_a_file_that_is_too_long_is_not_downloaded_to_its_end(server: Hub, tmp_path: Path) -> None:
    server.files["onnx/model.onnx"] = CONTENT + bytes(50_000_000)
    with pytest.raises(ModelError, match=f"more than {len(CONTENT)} bytes"):
        hub.download(SOURCE, PIN, tmp_path, server.url)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_too_short_fails_after_a_few_attempts(server: Hub, tmp_path: Path) -> None:
    server.files["onnx/model.onnx"] = CONTENT[:5000]
    with pytest.raises(ModelError, match="cannot be downloaded"):
        hub.download(SOURCE, PIN, tmp_path, server.url)
    assert len(server.asked) < 40


def test_a_server_that_answers_another_range_is_not_believed(server: Hub, tmp_path: Path) -> None:
    server.cuts = [1000] * 50
    server.shift = 1
    with pytest.raises(ModelError, match=r"can't continue|connection ended|peer closed"):
        hub.download(SOURCE, PIN, tmp_path, server.url)
    assert len(server.asked) < 40


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_final(server: Hub, tmp_path: Path, status: int) -> None:
    server.statuses = [status]
    with pytest.raises(ModelError, match=f"HTTP status {status}") as caught:
        hub.download(SOURCE, PIN, tmp_path, server.url)
    assert "/toy/model/resolve/abc/onnx/model.onnx" in str(caught.value)
    assert len(server.asked) == 2


def test_nobody_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "PAUSE", 0.0)
    with pytest.raises(ModelError, match="HF_ENDPOINT names a mirror") as caught:
        hub.download(SOURCE, PIN, tmp_path, "http://127.0.0.1:9")
    assert caught.value.exit_code == 3


def test_a_connection_that_drops_forever_ends(server: Hub, tmp_path: Path) -> None:
    server.cuts = [1000] + [0] * 50
    with pytest.raises(ModelError, match="a rerun goes on where this one stopped"):
        hub.download(SOURCE, PIN, tmp_path, server.url)
    assert (tmp_path / PIN.sha256).read_bytes() == CONTENT[:1000]


def test_the_endpoint_is_an_argument_or_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    assert hub.endpoint_or_default(None) == hub.DEFAULT_ENDPOINT
    monkeypatch.setenv("HF_ENDPOINT", "http://mirror.invalid/")
    assert hub.endpoint_or_default(None) == "http://mirror.invalid"
    assert hub.endpoint_or_default("http://other.invalid") == "http://other.invalid"


@pytest.mark.parametrize("endpoint", ["not a url", "ftp://127.0.0.1", "http://"])
def test_an_endpoint_that_is_no_address(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "PAUSE", 0.0)
    with pytest.raises(ModelError, match="cannot be downloaded"):
        hub.download(SOURCE, PIN, tmp_path, endpoint)
