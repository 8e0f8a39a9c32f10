"""The walk: the same slugs everywhere, and everything that has no place in a corpus."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.errors import DataError
from ragkit.ingest import SUFFIXES, walk
from ragkit.ingest.corpus import scan, slug_fault


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")


def rules(root: Path) -> dict[str, str]:
    """Rule by path relative to the root, of everything wrong."""
    with pytest.raises(DataError) as caught:
        walk(root)
    return {os.path.relpath(problem.path, root): problem.rule for problem in caught.value.problems}


def test_recursive_and_sorted_by_code_point(tmp_path: Path) -> None:
    put(tmp_path, "b.md", "Z.txt", "a/x/deep.html", "a.md", "é.md", "a-b.md")
    assert [slug for slug, _ in walk(tmp_path)] == ["Z.txt", "a-b.md", "a.md", "a/x/deep.html", "b.md", "é.md"]
    assert all(path.read_text() == "text" for _, path in walk(tmp_path))


def test_the_order_of_the_listing_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, *(f"{folder}/{name}.md" for folder in "abc" for name in "xyz"))
    expected = walk(tmp_path)
    listing = os.scandir

    class Reversed:
        def __init__(self, path: Path) -> None:
            with listing(path) as entries:
                self.entries = list(entries)[::-1]

        def __enter__(self) -> list[os.DirEntry[str]]:
            return self.entries

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr("ragkit.ingest.corpus.os.scandir", Reversed)
    assert walk(tmp_path) == expected


def test_slugs_are_nfc_and_suffixes_in_any_case(tmp_path: Path) -> None:
    put(tmp_path, "re\u0301sume\u0301.MD", "PAGE.HTML")
    assert [slug for slug, _ in walk(tmp_path)] == ["PAGE.HTML", "résumé.MD"]


def test_hidden_files_and_office_lock_files_are_skipped(tmp_path: Path) -> None:
    put(tmp_path, "a.md", ".DS_Store", ".git/config.md", "x/.hidden.md", "~$report.docx")
    assert [slug for slug, _ in walk(tmp_path)] == ["a.md"]


def test_all_problems_at_once(tmp_path: Path) -> None:
    put(tmp_path, "ok.md", "data.csv", "Makefile", "x/a\\b.md", "bell\a.md", "A.md", "a.md")
    assert rules(tmp_path) == {
        "data.csv": "unsupported",
        "Makefile": "unsupported",
        "x/a\\b.md": "slug",
        "bell\a.md": "slug",
        "a.md": "collision",
    }


@pytest.mark.parametrize(
    "pair", [("README.md", "readme.md"), ("e\u0301.md", "é.md"), ("straße.md", "STRASSE.md"), ("X/a.md", "x/A.md")]
)
def test_names_that_collide_after_nfc_or_casefold_are_refused(tmp_path: Path, pair: tuple[str, str]) -> None:
    put(tmp_path, *pair, "other.md")
    if len(list(tmp_path.rglob("*.md"))) < 3:
        pytest.skip("this file system can't hold both")
    files, problems = scan(tmp_path, SUFFIXES)
    assert [slug for slug, _ in files] == ["other.md"]
    assert [problem.rule for problem in problems] == ["collision"]


def test_links_are_refused_each_for_its_reason(tmp_path: Path) -> None:
    outside, root = tmp_path / "secret.md", tmp_path / "corpus"
    outside.write_text("secret")
    put(root, "a.md", "sub/b.md")
    (root / "out.md").symlink_to(outside)
    (root / "again.md").symlink_to(root / "a.md")
    (root / "sub/up").symlink_to("..")
    (root / "self.md").symlink_to("self.md")
    (root / "gone.md").symlink_to("nowhere.md")
    with pytest.raises(DataError) as caught:
        walk(root)
    told = {Path(problem.path).name: problem.found for problem in caught.value.problems}
    assert {problem.rule for problem in caught.value.problems} == {"symlink"}
    assert "outside the corpus" in told["out.md"]
    assert told["again.md"] == "a symbolic link to a.md, whose text would count twice"
    assert "loop" in told["up"]
    assert "circle" in told["self.md"]
    assert "nowhere" in told["gone.md"]


def test_the_corpus_itself_may_be_reached_by_a_link(tmp_path: Path) -> None:
    put(tmp_path / "real", "a.md")
    (tmp_path / "link").symlink_to("real")
    assert [slug for slug, _ in walk(tmp_path / "link")] == ["a.md"]


def test_a_pipe_is_refused_without_being_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert rules(tmp_path) == {"pipe.md": "not-a-file"}


@pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such names themselves")
def test_a_name_that_is_no_unicode_is_refused_and_can_be_printed(tmp_path: Path) -> None:
    Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.md")).write_text("x")
    with pytest.raises(DataError) as caught:
        walk(tmp_path)
    assert caught.value.problems[0].rule == "slug"
    str(caught.value).encode()


def test_a_folder_that_cannot_be_listed_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.md", "locked/b.md")
    listing = os.scandir

    def denied(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr("ragkit.ingest.corpus.os.scandir", denied)
    assert rules(tmp_path) == {"locked": "unreadable"}


def test_empty_and_missing_corpora_are_errors(tmp_path: Path) -> None:
    assert rules(tmp_path) == {".": "empty-corpus"}
    assert rules(tmp_path / "nothing") == {".": "no-corpus"}
    put(tmp_path, "a.md")
    assert rules(tmp_path / "a.md") == {".": "no-corpus"}


@pytest.mark.parametrize(
    "slug",
    [
        "",
        "/etc/a.md",
        "C:/a.md",
        "c:a.md",
        "../a.md",
        "a/../b.md",
        "a/./b.md",
        "a//b.md",
        "a/",
        "a\\b.md",
        "a\nb.md",
        "a\x00.md",
        "a\u2028.md",
    ],
)
def test_slugs_that_lead_elsewhere_or_cannot_be_written_are_refused(slug: str) -> None:
    assert slug_fault(slug)


@pytest.mark.parametrize("slug", ["a.md", "a/b c/d.md", "..a.md", "a..md", "日本語/文.md", "ab:c.md"])
def test_ordinary_slugs_pass(slug: str) -> None:
    assert slug_fault(slug) is None


@given(st.text(max_size=20))
def test_any_slug_is_judged_without_an_exception(slug: str) -> None:
    slug_fault(slug)
