"""What one document may take: documents made to take more are named, and the others are still read."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import pytest

from ragkit.errors import DataError, DocumentError
from ragkit.ingest import document, parse_document, read_corpus
from ragkit.ingest.worker import Workers
from tests.ingest.pdf_writer import pdf, raw_pdf, text

limited = pytest.mark.skipif(sys.platform != "linux", reason="other systems don't limit memory or processor time")
GOOD = pdf([text("A sound page", 72, 700)])


def forms(depth: int) -> bytes:
    """Two kilobytes of PDF that show one word ten to the power of `depth` times."""
    shown = [b"/X Do"] + [b"/X Do " * 10] * (depth - 1) + [b"BT /F1 10 Tf 50 50 Td (lol) Tj ET"]
    font = b"/Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
    forms = [
        b"<</Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</X %d 0 R>>%s>>/Length %d>>\nstream\n%s\nendstream"
        % (number, font, len(content), content)
        for number, content in enumerate(shown[1:], 6)
    ]
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</XObject<</X 5 0 R>>>>/Contents 4 0 R>>"
    content = b"<</Length %d>>\nstream\n%s\nendstream" % (len(shown[0]), shown[0])
    pages = b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
    return raw_pdf([b"<</Type/Catalog/Pages 2 0 R>>", pages, page, content, *forms, b"<<>>"])


def deflated(content: bytes) -> bytes:
    """A PDF of one page whose operators are compressed."""
    packed = zlib.compress(content, 9)
    page = (
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>"
    )
    stream = b"<</Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream" % (len(packed), packed)
    pages = b"<</Type/Pages/Count 1/Kids[3 0 R]>>"
    return raw_pdf([b"<</Type/Catalog/Pages 2 0 R>>", pages, page, stream, b"<<>>"])


def write(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@limited
def test_a_document_that_takes_too_long_ends_its_worker_and_the_next_gets_another(tmp_path: Path) -> None:
    slow, good = write(tmp_path, "slow.pdf", forms(12)), write(tmp_path, "good.pdf", GOOD)
    with Workers(1, seconds=1, memory=1 << 40) as workers:
        outcomes = [workers.submit(path, path.name) for path in (slow, good)]
        with pytest.raises(DocumentError, match=r"slow\.pdf: too-slow: not read after 1 s .* -> split it"):
            outcomes[0].result()
        assert outcomes[1].result().text == "A sound page"


@limited
def test_a_document_that_takes_too_much_memory_is_named(tmp_path: Path) -> None:
    bomb = deflated(b"BT /F1 1 Tf 72 700 Td " + b"(aaaaaaaaaa) Tj " * 100_000 + b"ET")
    assert len(bomb) < 20_000
    path = write(tmp_path, "bomb.pdf", bomb)
    with Workers(1, memory=250 << 20) as workers, pytest.raises(DocumentError) as caught:
        workers.submit(path, "bomb.pdf").result()
    (problem,) = caught.value.problems
    assert problem.path == str(path)
    assert problem.rule in ("unparsable", "too-large")
    assert "more than 250 MiB of memory" in problem.found


@limited
def test_memory_that_python_asks_for_is_limited_too(tmp_path: Path) -> None:
    path = write(tmp_path, "long.txt", "ü".encode() * 40_000_000)
    with Workers(1, memory=200 << 20) as workers, pytest.raises(DocumentError, match=r": too-large: .* 200 MiB"):
        workers.submit(path, "long.txt").result()


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    with (path := tmp_path / "large.md").open("wb") as stream:
        stream.truncate(document.MAX_BYTES + 1)
    with pytest.raises(DocumentError, match=r"large\.md: too-large: 104,857,601 bytes; up to 104,857,600 are read"):
        parse_document(path, "large.md")


def test_a_worker_gives_what_the_parser_gives(tmp_path: Path) -> None:
    table = b"# T\xc3\xafm\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n## Deeper\n\n- x\n"
    for name, data in (("a b.pdf", GOOD), ("\u00fc.md", table)):
        path = write(tmp_path, name, data)
        with Workers(1) as workers:
            assert workers.submit(path, name).result() == document.parse(path, name)


def test_problems_found_by_workers_and_here_come_together(tmp_path: Path) -> None:
    for name, data in (("a.pdf", GOOD[:-10]), ("b.pdf", GOOD), ("c.md", b"a\x00"), ("d.md", b"words")):
        write(tmp_path, name, data)
    ticks: list[int] = []
    with pytest.raises(DataError) as caught:
        read_corpus(tmp_path, ticks.append)
    assert [(Path(problem.path).name, problem.rule) for problem in caught.value.problems] == [
        ("a.pdf", "truncated"),
        ("c.md", "binary"),
    ]
    assert ticks == [1, 1, 1, 1]
