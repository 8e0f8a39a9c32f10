"""A small search service on this machine, which can be told to misbehave."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ragkit.interop import service

CARE = {"doc": "guide/care.md", "trail": ["Care", "Cartridge"], "words": "turns from orange to green", "sim": 0.9}
SHEET = {"doc": "sheet.html", "trail": [], "words": "Deep | 40 m", "sim": 0.8, "signed_url": "https://x/?token=secret"}
MAP = """\
[fields]
hits = "answer.rows"
docId = "doc"
breadcrumb = "trail"
text = "words"
score = "sim"

[request]
headers = { Authorization = "env:SEARCH_AUTHORIZATION" }
json = { question = "{query}", limit = "{k}" }
timeout = 1.0
attempts = 3
"""


@dataclass
class Search:
    """`script` has the answers to come: a status, a (status, headers, body), or seconds to sleep; then rows."""

    url: str = ""
    mapping: str = MAP
    script: list[Any] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=lambda: [CARE, SHEET])


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Iterator[Search]:
    monkeypatch.setattr(service, "PAUSE", 0.01)
    monkeypatch.setenv("SEARCH_AUTHORIZATION", "Bearer secret")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    state = Search()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({"path": self.path})

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, asked: dict[str, Any]) -> None:
            state.asked.append(asked)
            state.headers.append(dict(self.headers))
            step = state.script.pop(0) if state.script else 200
            if isinstance(step, float):
                time.sleep(step)
                step = 200
            status, headers, body = step if isinstance(step, tuple) else (step, {}, None)
            data = json.dumps({"answer": {"rows": state.rows}}) if body is None else body
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data.encode())))
                self.end_headers()
                self.wfile.write(data.encode())
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client had enough

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}/search"
    yield state
    server.shutdown()
    server.server_close()
