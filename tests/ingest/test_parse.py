"""One file, and a whole folder of them: dispatch, mislabelled files, all problems together."""

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ragkit.errors import DataError, DocumentError
from ragkit.ingest import SUFFIXES, parse_document, read_corpus

PDF = b"%PDF-1.7\n1 0 obj\n"
PNG = b"\x89PNG\r\n\x1a\n"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100)


def archive() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("a.txt", "x")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "format_"),
    [
        ("a.md", "# T", "markdown"), ("a.MARKDOWN", "# T", "markdown"), ("a.html", "<h1>T</h1>", "html"),
        ("a.HTM", "<h1>T</h1>", "html"), ("a.txt", "T", "text"), ("a.text", "T", "text"),
    ],
)  # fmt: skip
def test_the_suffix_decides_the_parser(tmp_path: Path, name: str, content: str, format_: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    document = parse_document(path, f"sub/{name}")
    assert (document.slug, document.format, document.text) == (f"sub/{name}", format_, "T")


def test_suffixes_are_those_of_the_readme() -> None:
    assert sorted(SUFFIXES) == [".docx", ".htm", ".html", ".markdown", ".md", ".pdf", ".pptx", ".text", ".txt", ".xlsx"]


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.md", PDF, "PDF"),
        ("a.txt", b"\n\n" + PDF, "PDF"),
        ("a.html", PDF, "PDF"),
        ("a.md", archive(), "ZIP or Office"),
        ("a.pdf", archive(), "ZIP or Office"),
        ("a.pdf", b"<!DOCTYPE html><p>x", "HTML"),
        ("a.pdf", b"plain words", "text"),
        ("a.pdf", PNG, "PNG"),
        ("a.docx", PDF, "PDF"),
        ("a.xlsx", b"a,b,c", "text"),
        ("a.md", b"\xef\xbb\xbf <!-- c -->\n<HTML><p>x", "HTML"),
        ("a.txt", b"<!doctype html><p>x", "HTML"),
        ("a.txt", OLE, "Office"),
        ("a.txt", b"{\\rtf1 x}", "RTF"),
        ("a.txt", b"\x1f\x8b\x08", "gzip"),
        ("a.html", b"no tag at all", "no tag"),
    ],
)
def test_mislabelled_files_are_refused_with_what_they_are(tmp_path: Path, name: str, data: bytes, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DocumentError) as caught:
        parse_document(path, name)
    problem = caught.value.problems[0]
    assert (problem.path, problem.rule) == (str(path), "mislabelled")
    assert kind in problem.found
    assert problem.remedy


def test_markdown_about_html_and_pdf_is_no_html_and_no_pdf(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("A PDF starts with %PDF-1.7, a page with `<html>`.\n\n<html-like>")
    assert parse_document(path, "a.md").format == "markdown"


@pytest.mark.parametrize(
    ("slug", "rule"),
    [
        ("../a.md", "slug"),
        ("/a.md", "slug"),
        ("b\\a.md", "slug"),
        ("a.csv", "unsupported"),
        ("README", "unsupported"),
        ("a.md/..", "slug"),
    ],
)
def test_bad_slugs_and_suffixes_are_refused(tmp_path: Path, slug: str, rule: str) -> None:
    with pytest.raises(DocumentError, match=f": {rule}: "):
        parse_document(tmp_path / "a.md", slug)


def test_unreadable_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"gone\.md: unreadable: No such file"):
        parse_document(tmp_path / "gone.md", "gone.md")
    for suffix in SUFFIXES:
        path = tmp_path / f"a{suffix}"
        path.write_bytes(b" \n")
        with pytest.raises(DocumentError, match=": empty: "):
            parse_document(path, path.name)


def test_a_corpus_is_read_in_slug_order_with_progress(tmp_path: Path) -> None:
    for name in ("b.md", "a.txt", "Z.html"):
        (tmp_path / name).write_text("<p>words")
    ticks: list[int] = []
    documents = read_corpus(tmp_path, ticks.append)
    assert [document.slug for document in documents] == ["Z.html", "a.txt", "b.md"]
    assert ticks == [1, 1, 1]


def test_all_problems_of_a_corpus_come_together(tmp_path: Path) -> None:
    (tmp_path / "ok.md").write_text("fine")
    (tmp_path / "empty.md").write_text("")
    (tmp_path / "wrong.md").write_bytes(PDF)
    (tmp_path / "data.csv").write_text("a,b")
    (tmp_path / "loop.md").symlink_to("loop.md")
    (tmp_path / "bin.txt").write_bytes(b"a\x00b")
    with pytest.raises(DataError) as caught:
        read_corpus(tmp_path)
    assert [(Path(problem.path).name, problem.rule) for problem in caught.value.problems] == [
        ("bin.txt", "binary"), ("data.csv", "unsupported"), ("empty.md", "empty"), ("loop.md", "symlink"), ("wrong.md", "mislabelled"),
    ]  # fmt: skip
    assert all(problem.remedy for problem in caught.value.problems)


def test_an_empty_corpus_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="empty-corpus"):
        read_corpus(tmp_path)


def test_importing_the_package_imports_no_parser() -> None:
    code = "import sys, ragkit.ingest; print(sorted({'lxml', 'markdown_it', 'charset_normalizer', 'pypdfium2', 'docx'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
