"""Fixtures shared by all tests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from ragkit.embedding import cache_root
from ragkit.embedding.registry import model_folder, registered
from ragkit.records import Block, BlockKind, Document


def build_document(
    slug: str,
    texts: Sequence[str],
    pages: Sequence[int] | None = None,
    *,
    page_count: int | None = None,
    kinds: Sequence[BlockKind] | None = None,
    breadcrumb: tuple[str, ...] = (),
) -> Document:
    """A parsed document with one block per text; `pages` gives each block's page (None: unpaged).

    `page_count` makes the document longer than its last block's page. Blocks are joined by a blank
    line, as ingestion does, so `document.text[b.start:b.end] == b.text`.
    """
    blocks = []
    start = 0
    for order, text in enumerate(texts):
        kind = kinds[order] if kinds else "paragraph"
        page = pages[order] if pages else None
        blocks.append(Block(order, kind, page, breadcrumb, text, start, start + len(text)))
        start += len(text) + 2
    text = "\n\n".join(texts)
    total = None if pages is None else page_count or max(pages, default=0)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Document(slug, "text" if pages is None else "pdf", slug, text, tuple(blocks), total, sha256)


@pytest.fixture
def make_document() -> Callable[..., Document]:
    """`make_document(slug, [texts], pages=[page of each block])`, see `build_document`."""
    return build_document


QUESTIONS = """\
{"id": "q1", "question": "Which colour has the spent cartridge?", "type": "exact", "relevant": [{"document": "guide/care.md", "block": 2, "quote": "turns from orange to green"}]}
{"id": "q2", "question": "How long does the battery last?", "type": "paraphrase", "relevant": [{"document": "guide/care.md", "quote": "lasts six years", "group": "life"}, {"document": "notes.txt", "quote": "battery life: six years", "group": "life"}]}
{"id": "q3", "question": "range of the deep model", "type": "table", "relevant": [{"document": "sheet.html", "quote": "Deep | 40 m", "grade": 3}, {"document": "sheet.html", "grade": 1}]}
{"id": "q4", "question": "Where is the firm listed on the stock exchange?", "type": "unanswerable", "answerable": false, "relevant": []}
"""


WORKSPACE = {
    "eval/corpus/guide/care.md": (
        "# Care\n\n## Cartridge\n\nThe cartridge turns from orange to green when it is spent.\n\n"
        "## Battery\n\nThe battery lasts six years at the default interval.\n"
    ),
    "eval/corpus/notes.txt": "Minutes of the meeting.\n\nWe confirmed the battery life: six years for both models.\n",
    "eval/corpus/sheet.html": (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>Data sheet</title></head><body>"
        "<h1>Data sheet</h1><table><tr><th>Model</th><th>Range</th></tr><tr><td>Standard</td><td>10 m</td></tr>"
        "<tr><td>Deep</td><td>40 m</td></tr></table></body></html>"
    ),
    "eval/questions.jsonl": QUESTIONS,
    "eval/splits.json": '{"dev": ["q1"], "test": ["q2", "q3", "q4"]}',
    "eval/configs/v1.4.toml": (
        'name = "v1.4"\n[model]\nname = "hashing"\nsource = "builtin"\n'
        '[chunking]\nstrategy = "recursive"\nchunk_size = 60\nchunk_overlap = 10\n'
    ),
}


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write each text under its path below `folder`."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small evaluation folder as working directory: three documents, four questions, the hashing encoder."""
    write_files(tmp_path, WORKSPACE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAGKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture(scope="session")
def prepared_cache() -> Path:
    """The cache that has the prepared model; `make test` prepares it."""
    root = cache_root()
    if not model_folder(registered("pypi"), root).exists():
        pytest.fail("the model is not prepared: run `ragkit prepare` (make test does)")
    return root
