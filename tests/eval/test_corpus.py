"""The committed corpus: its size, its licences, and that its PDFs are what their sources make."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path, PurePosixPath

from ragkit.ingest import read_corpus, walk

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "eval/corpus"


def test_there_are_twenty_documents_each_with_a_licence_entry() -> None:
    slugs = [slug for slug, _ in walk(CORPUS)]
    assert len(slugs) == 20
    entries = json.loads((ROOT / "eval/documents.json").read_text(encoding="utf-8"))
    assert sorted(entries) == slugs
    assert {entry["licence"] for entry in entries.values()} == {"CC0-1.0"}


def test_formats_languages_and_folders_are_as_varied_as_promised() -> None:
    slugs = [slug for slug, _ in walk(CORPUS)]
    formats = Counter(PurePosixPath(slug).suffix for slug in slugs)
    assert formats[".pdf"] >= 6
    assert formats[".md"] >= 6
    assert formats[".html"] >= 4
    assert formats[".txt"] >= 2
    assert min(slug.count("/") for slug in slugs) >= 2
    assert any(" " in slug for slug in slugs)
    assert any(not slug.isascii() for slug in slugs)
    entries = json.loads((ROOT / "eval/documents.json").read_text(encoding="utf-8"))
    assert {entry["language"] for entry in entries.values()} == {"en", "de", "fr", "es", "zh", "ja"}


def test_it_has_45000_words_or_more() -> None:
    documents = read_corpus(CORPUS)
    words = 0.0
    for document in documents:
        ideographs = sum("\u3040" <= c <= "\u9fff" for c in document.text)
        words += len(document.text.split()) if ideographs * 4 < len(document.text) else ideographs / 1.7
    assert words >= 45_000


def test_the_pdfs_are_what_their_sources_make_to_the_byte() -> None:
    done = subprocess.run(
        [sys.executable, "eval/sources/build.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
