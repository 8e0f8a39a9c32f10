"""A headless Chromium for tests, spoken to over its DevTools protocol."""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websocket import WebSocket, create_connection

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
]


class Page:
    """One opened page: `requests` has the URLs it asked for, `complaints` what went to its console as an error."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket, self._ids = socket, itertools.count(1)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._loaded = False
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._hear(message)

    def open(self, url: str, *, width: int = 1200, dark: bool = False) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self._loaded = False
        self.call("Page.navigate", url=url)
        while not self._loaded:
            self._hear(json.loads(self._socket.recv()))
        time.sleep(0.3)  # for what scripts do after loading
        self.evaluate("0")

    def evaluate(self, script: str) -> Any:
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def screenshot(self, path: Path, top: int = 0, height: int | None = None) -> None:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": top, "width": size["width"], "height": height or size["height"] - top, "scale": 1}
        shot = self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def _hear(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            self.complaints.append(str(parameters["args"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(str(parameters["entry"]))


@contextmanager
def chromium() -> Iterator[Page]:
    """A page of a browser of its own, which is gone afterwards."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port = _port(Path(profile) / "DevToolsActivePort", process)
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
                target = next(entry for entry in json.load(answer) if entry["type"] == "page")
            socket = create_connection(target["webSocketDebuggerUrl"], timeout=60, suppress_origin=True)
            try:
                yield Page(socket)
            finally:
                socket.close()
        finally:
            process.terminate()
            process.wait(30)


def _port(path: Path, process: subprocess.Popen[bytes]) -> str:
    for _ in range(600):
        assert process.poll() is None, "chromium ended"
        if path.exists() and (lines := path.read_text().splitlines()):
            return lines[0]
        time.sleep(0.1)
    raise AssertionError("chromium doesn't answer")
