"""The document cache: what comes out of it is what reading gives, and nothing that is kept decides a run."""

from __future__ import annotations

import os
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragkit import ingest
from ragkit.errors import DataError
from ragkit.ingest import DocumentCache, cache, document, read_corpus
from ragkit.ingest.worker import Workers
from ragkit.records import Document
from tests.ingest.pdf_writer import pdf, text

CORPUS = Path(__file__).parents[2] / "eval/corpus"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The slugs of the files that were read."""
    slugs: list[str] = []

    class Watched(Workers):
        def submit(self, path: Path, slug: str) -> Future[Document]:
            slugs.append(slug)
            return super().submit(path, slug)

    def parse(path: Path, slug: str) -> Document:
        slugs.append(slug)
        return document.parse(path, slug)

    monkeypatch.setattr(ingest, "Workers", Watched)
    monkeypatch.setattr(ingest, "document", SimpleNamespace(**{**vars(document), "parse": parse}))
    return slugs


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.pdf").write_bytes(pdf([text(f"Page of {name}", 72, 700)]))
    (folder / "c.md").write_text("# Small\n\ntext")
    return folder


def read(corpus: Path, kept: Path) -> list[Document]:
    return read_corpus(corpus, cache=DocumentCache(kept))


def test_the_committed_corpus_comes_out_as_it_went_in(tmp_path: Path, asked: list[str]) -> None:
    fresh = read(CORPUS, tmp_path)
    assert len(asked) == len(fresh)
    asked.clear()
    assert read(CORPUS, tmp_path) == fresh
    assert asked == []
    assert read_corpus(CORPUS) == fresh


def test_only_a_changed_or_renamed_file_is_read_again(corpus: Path, tmp_path: Path, asked: list[str]) -> None:
    read(corpus, tmp_path / "kept")
    asked.clear()
    (corpus / "a.pdf").write_bytes(pdf([text("Another page", 72, 700)]))
    (corpus / "b.pdf").rename(corpus / "bb.pdf")
    assert [document.text for document in read(corpus, tmp_path / "kept")] == [
        "Another page",
        "Page of b",
        "Small\n\ntext",
    ]
    assert asked == ["a.pdf", "bb.pdf"]


def test_other_parsers_read_everything_again(
    corpus: Path, tmp_path: Path, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read(corpus, tmp_path / "kept")
    asked.clear()
    monkeypatch.setattr(cache, "identity", lambda: "0" * 64)
    read(corpus, tmp_path / "kept")
    assert asked == ["a.pdf", "b.pdf", "c.md"]


def test_a_damaged_segment_is_thrown_away(corpus: Path, tmp_path: Path, asked: list[str]) -> None:
    fresh = read(corpus, tmp_path / "kept")
    (segment,) = (tmp_path / "kept").rglob("*.seg")
    content = bytearray(segment.read_bytes())
    content[-20] ^= 1
    segment.write_bytes(content)
    asked.clear()
    assert read(corpus, tmp_path / "kept") == fresh
    assert asked == ["a.pdf", "b.pdf", "c.md"]


def test_what_could_be_read_is_kept_though_another_file_is_refused(
    corpus: Path, tmp_path: Path, asked: list[str]
) -> None:
    bad = corpus / "bad.pdf"
    bad.write_bytes(b"%PDF-1.7\nno more")
    for _ in range(2):
        with pytest.raises(DataError, match=r"bad\.pdf"):
            read(corpus, tmp_path / "kept")
    assert asked == ["a.pdf", "b.pdf", "bad.pdf", "c.md", "bad.pdf"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told_and_costs_nothing_else(corpus: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o500)
    told = DocumentCache(kept)
    assert len(read_corpus(corpus, cache=told)) == 3
    assert "parsed documents are not kept" in str(told.notice)


def test_a_file_in_the_place_of_the_folder_is_told(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("")
    told = DocumentCache(tmp_path / "kept")
    assert len(read_corpus(corpus, cache=told)) == 3
    assert "parsed documents are not kept" in str(told.notice)


def test_documents_are_written_by_the_batch(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "BATCH", 1)
    read(corpus, tmp_path / "kept")
    assert len(list((tmp_path / "kept").rglob("*.seg"))) == 3
