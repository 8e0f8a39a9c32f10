"""Recording a live service: retried when it is busy, refused when it redirects, nothing half-written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragkit.cli import run
from ragkit.interop.service import public_url

CASES = [
    {"caseId": name, "query": f"{name} {{k}}?", "expectedDocIds": ["sheet.html"], "expectedBreadcrumbs": [], "expectedKeywords": ["40 m"]}
    for name in ("one", "two")
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, search: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases.json").write_text(json.dumps(CASES))
    (tmp_path / "map.toml").write_text(search.mapping)
    return tmp_path


def record(url: str) -> int:
    return run(["record", "--http", url, "--map", "map.toml", "--cases", "cases.json", "--out", "f.json"])


def test_a_service_is_asked_case_by_case_and_scored(folder: Path, search: Any) -> None:
    assert record(search.url.replace("//", "//me:password@") + "?key=secret#top") == 0
    assert search.asked == [{"question": "one {k}?", "limit": 10}, {"question": "two {k}?", "limit": 10}]
    text = (folder / "f.json").read_text()
    recorded = json.loads(text)
    assert [hit["docId"] for hit in recorded["cases"]["one"]] == ["guide/care.md", "sheet.html"]
    assert recorded["provenance"]["url"] == search.url
    assert "secret" not in text
    assert "password" not in text
    assert run(["golden", "--cases", "cases.json", "--fixtures", "f.json", "--out", "report"]) == 0
    assert json.loads((folder / "report.json").read_text())["levels"]["strong"] == 2


def test_secrets_come_from_the_environment(folder: Path, search: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert record(search.url) == 0
    assert search.headers[0]["Authorization"] == "Bearer secret"
    monkeypatch.delenv("SEARCH_AUTHORIZATION")
    assert record(search.url) == 2


@pytest.mark.parametrize(
    "trouble", [503, 429, 1.5, (503, {"Retry-After": "0"}, ""), (429, {"Retry-After": "soon"}, "")]
)
def test_a_busy_or_slow_service_is_asked_again(folder: Path, search: Any, trouble: Any) -> None:
    search.script = [trouble, 200]
    assert record(search.url) == 0
    assert len(search.asked) == 3


@pytest.mark.parametrize(
    ("script", "message", "requests"),
    [
        ([200, 503, 503, 503], "no answer in 3 attempts; the last one: HTTP status 503", 4),
        ([200, 404], "HTTP status 404", 2),
        ([200, 401], "HTTP status 401", 2),
        ([200, (302, {"Location": "/other?token=secret"}, "")], "redirects to http://127.0.0.1", 2),
        ([200, (200, {}, "<html>")], "not-json", 2),
        ([200, (200, {}, '{"answer": {"rows": [{"doc": "a", "sim": NaN}]}}')], "NaN", 2),
        ([200, (200, {}, '{"answer": {"rows": [{"doc": "a", "sim": "0.9"}]}}')], "score must be a finite number", 2),
        ([200, (200, {}, '{"answer": {"rows": [{"words": "a"}]}}')], "has no document", 2),
        ([200, (200, {}, '{"error": "no"}')], "`hits` must give a list", 2),
    ],
)
def test_what_fails_midway_leaves_the_old_fixture(
    folder: Path, search: Any, script: list[Any], message: str, requests: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "f.json").write_text("old")
    search.script = script
    assert record(search.url) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "secret" not in error
    assert len(search.asked) == requests
    assert (folder / "f.json").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["cases.json", "f.json", "map.toml"]


def test_a_service_that_is_not_there_is_told(folder: Path, search: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert record("http://127.0.0.1:1/search") == 2
    assert "no answer in 3 attempts" in capsys.readouterr().err
    assert not (folder / "f.json").exists()


def test_params_make_it_a_get(folder: Path, search: Any) -> None:
    text = (folder / "map.toml").read_text().replace("json =", "params =")
    (folder / "map.toml").write_text(text)
    assert record(search.url) == 0
    assert search.asked[0]["path"] == "/search?question=one+%7Bk%7D%3F&limit=10"


def test_a_public_url_has_no_secrets() -> None:
    assert public_url("https://me:pass@host:8000/a/b?key=1#x") == "https://host:8000/a/b"
