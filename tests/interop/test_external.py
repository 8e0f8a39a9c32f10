"""Somebody else's retriever on the full question set, as a function and as a service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragkit.cli import run
from ragkit.errors import DataError
from ragkit.interop.shapes import read_candidates
from ragkit.records import Document
from ragkit.retrieval.external import ExternalRetriever, plain

# A retriever over the raw files, as somebody would write it with another splitter and other ids.
APP = """
from pathlib import Path

PASSAGES = [
    {"source": str(path.resolve()), "text": part.strip()}
    for path in sorted(Path("eval/corpus").rglob("*.*"))
    for part in path.read_text(encoding="utf-8").split("\\n\\n")
    if path.suffix in (".md", ".txt") and part.strip()
]

def retrieve(question, k):
    words = set(question.lower().replace("?", "").split())
    scored = [{**p, "score": float(len(words & set(p["text"].lower().split())))} for p in PASSAGES]
    return {"results": sorted(scored, key=lambda p: -p["score"])[:k]}

class Document:
    def __init__(self, page_content, metadata):
        self.page_content, self.metadata = page_content, metadata
    def model_dump(self):
        return {"id": None, "page_content": self.page_content, "metadata": self.metadata, "type": "Document"}

def langchain(question, k):
    return [(Document(p["text"], {"source": p["source"]}), p["score"]) for p in retrieve(question, k)["results"]]

def broken(question, k):
    return {"results": [{"source": "elsewhere.pdf", "text": "x"}]}

def nothing(question, k):
    return []

number = 3
"""


def metrics(folder: str) -> Any:
    return json.loads(Path(folder, "metrics.json").read_text(encoding="utf-8"))


@pytest.fixture
def app(workspace: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module in the working directory, another one in each test."""
    name = f"app_{abs(hash(request.node.nodeid))}"
    (workspace / f"{name}.py").write_text(APP, encoding="utf-8")
    monkeypatch.syspath_prepend(str(workspace))
    return name


def test_a_function_is_measured_like_a_retriever_of_ragkit(app: str) -> None:
    assert run(["eval", "--retriever", f"{app}:retrieve", "--out", "a"]) == 0
    found = metrics("a")
    assert found["configuration"]["retrieval"] == {
        "strategy": "external", "source": f"{app}:retrieve", "label": "", "top_k": 10, "candidate_k": 100,
    }  # fmt: skip
    recalls = {question["id"]: question["measures"].get("Recall@10") for question in found["questions"]}
    assert recalls == {"q1": 1.0, "q2": 1.0, "q3": 0.0, "q4": None}  # the sheet isn't in its index
    assert "chance" not in found["measures"]["Recall@5"]
    assert found["losses"]["stages"]["candidates"] == 2
    assert found["losses"]["stages"]["chunk"] == 0
    assert run(["eval", "--out", "own"]) == 0
    assert metrics("own")["config_id"] != found["config_id"]
    assert run(["eval", "--retriever", f"{app}:retrieve", "--out", "b"]) == 0
    assert Path("a/metrics.json").read_bytes() == Path("b/metrics.json").read_bytes()
    assert "its own chunks" in Path("a/summary.md").read_text()


def test_objects_of_libraries_are_read_as_what_they_dump(app: str) -> None:
    assert run(["eval", "--retriever", f"{app}:langchain", "--out", "a"]) == 0
    assert run(["eval", "--retriever", f"{app}:retrieve", "--out", "b"]) == 0
    assert metrics("a")["measures"] == metrics("b")["measures"]


def test_a_service_is_measured_too_and_leaves_no_address(workspace: Path, search: Any) -> None:
    (workspace / "map.toml").write_text(search.mapping)
    arguments = ["--retriever", "http", "--url", search.url, "--map", "map.toml"]
    assert run(["eval", *arguments, "--out", "a"]) == 0
    found = metrics("a")
    assert [q["measures"].get("Recall@1") for q in found["questions"]] == [1.0, 0.0, 0.0, None]
    assert [q["measures"].get("Recall@5") for q in found["questions"]] == [1.0, 0.0, 1.0, None]
    assert search.asked[0]["limit"] == 100
    text = "".join(path.read_text() for path in (workspace / "a").iterdir())
    assert "127.0.0.1" not in text
    assert "secret" not in text
    assert run(["eval", *arguments, "--out", "d", "--set", "evaluation.unit=document"]) == 0


def test_the_worked_service_of_the_documentation_runs(workspace: Path, search: Any) -> None:
    text = (Path(__file__).parents[2] / "docs/adapters.qmd").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```toml\n")[1:]]
    (workspace / "map.toml").write_text(blocks[0], encoding="utf-8")
    config = (workspace / "eval/configs/v1.4.toml").read_text() + blocks[1].replace(
        "http://localhost:8000/search", search.url
    )
    (workspace / "app.toml").write_text(config, encoding="utf-8")
    assert run(["eval", "--config", "app.toml", "--out", "a"]) == 0
    assert run(["eval", "--retriever", "http", "--url", search.url, "--map", "map.toml", "--out", "b"]) == 0
    assert metrics("a")["measures"] == metrics("b")["measures"]
    assert metrics("a")["questions"][0]["measures"]["Recall@1"] == 1.0


def test_a_configuration_file_may_name_it(workspace: Path, app: str) -> None:
    path = workspace / "eval/configs/app.toml"
    text = (workspace / "eval/configs/v1.4.toml").read_text()
    path.write_text(f'{text}[retrieval]\nstrategy = "external"\nsource = "{app}:retrieve"\nlabel = "2"\n')
    assert run(["eval", "--config", str(path), "--out", "a"]) == 0
    assert metrics("a")["configuration"]["retrieval"]["label"] == "2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--retriever", "no_such_module:f"], "there is no module no_such_module"),
        (["--retriever", "APP:absent"], "has no attribute 'absent'"),
        (["--retriever", "APP:number"], "is no function"),
        (["--retriever", "APP"], "retrieval.source"),
        (["--retriever", "APP:broken"], "elsewhere.pdf is not in the corpus"),
        (["--retriever", "APP:nothing"], "no-chunks"),
        (["--retriever", "APP:retrieve", "--url", "http://x"], "`url` goes with"),
        (["--retriever", "http"], "`url` goes with"),
        (["--retriever", "http", "--url", "http://x"], "[request]"),
        (["--url", "http://x"], "go with --retriever"),
        (["--map", "x.toml"], "go with --retriever"),
        (["--retriever", "APP:retrieve", "--map", "x.toml"], "x.toml"),
    ],
)
def test_what_cannot_be_asked_is_told(
    app: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert run(["eval", *(each.replace("APP", app) for each in arguments), "--out", "a"]) == 2
    assert message in capsys.readouterr().err
    assert not Path("a").exists()


def retriever(documents: list[Document], *entries: Any, whole: bool = False) -> ExternalRetriever:
    return ExternalRetriever(lambda _, __: read_candidates(list(entries)), documents, whole=whole)


def test_a_text_is_found_whatever_marks_its_parser_left(make_document: Callable[..., Document]) -> None:
    document = make_document("g/care.md", ["Care", "The battery lasts six years.", "Model | Range", "Deep 40 m"])
    marked = "# Care\n\nThe **battery** lasts\nsix years.\n\n| Model | Range |\n|---|---|"
    (hit,) = retriever([document], {"docId": "care.md", "text": marked}).search("q", 10)
    assert hit.chunk.text == document.text[: document.blocks[2].end]
    assert [span.block for span in hit.chunk.spans] == [0, 1, 2]


def test_paragraphs_are_looked_for_where_the_whole_is_not_there(make_document: Callable[..., Document]) -> None:
    document = make_document("a", ["The battery lasts six years.", "Unrelated.", "Replace the cartridge when green."])
    text = "Title: my own heading\nThe battery lasts six years.\nReplace the cartridge when green."
    (hit,) = retriever([document], {"docId": "a", "text": text}).search("q", 10)
    assert [span.block for span in hit.chunk.spans] == [0, 2]


def test_the_page_decides_between_places_and_stands_for_a_hit_without_text(
    make_document: Callable[..., Document],
) -> None:
    document = make_document("a.pdf", ["Same words here.", "Same words here.", "End"], [1, 2, 2])
    hits = retriever([document], {"docId": "a.pdf", "text": "Same words", "page": 2}, {"docId": "a", "page": 2}).search(
        "q", 9
    )
    assert [[span.block for span in hit.chunk.spans] for hit in hits] == [[1], [1, 2]]


def test_an_unknown_text_holds_its_rank_and_covers_nothing(make_document: Callable[..., Document]) -> None:
    document = make_document("a", ["The battery lasts six years."])
    source = retriever([document], {"docId": "a", "text": "A paraphrase."}, {"docId": "a", "text": "battery lasts"})
    hits = source.search("q", 10)
    assert source.lost == 1
    assert [(hit.rank, hit.chunk.end - hit.chunk.start) for hit in hits] == [(1, 1), (2, 13)]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"text": "x"}, "names no document"),
        ({"docId": "z", "text": "x"}, "is not in the corpus"),
        ({"docId": "same.md", "text": "x"}, "may be any of"),
        ({"docId": "x/same.md"}, "neither text nor page"),
        ({"docId": "x/same.md", "page": 3}, "no text on a page 3"),
        ({"docId": "x/same.md", "score": "1"}, "finite number"),
    ],
)
def test_hits_without_a_place_are_refused(make_document: Callable[..., Document], entry: Any, message: str) -> None:
    documents = [make_document("x/same.md", ["x"]), make_document("y/same.md", ["x"])]
    with pytest.raises(DataError, match=message):
        retriever(documents, entry).search("q", 10)


def test_a_whole_document_is_a_hit_where_documents_are_ranked(make_document: Callable[..., Document]) -> None:
    documents = [make_document("x/same.md", ["one", "two"])]
    (hit,) = retriever(documents, {"docId": "https://host/docs/x/same.md"}, whole=True).search("q", 10)
    assert [span.block for span in hit.chunk.spans] == [0, 1]


def test_numbers_of_numpy_become_plain_ones() -> None:
    class Number:
        def item(self) -> float:
            return 0.5

    assert plain([{"score": Number(), "t": (1, "a")}]) == [{"score": 0.5, "t": [1, "a"]}]
