"""The throwaway database: what goes in, what is refused, what comes out in which order."""

from __future__ import annotations

import itertools
import math
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest
from numpy.typing import NDArray

from ragkit.chunking.spans import chunks_of
from ragkit.errors import DataError, EncodingError, FileError, UsageError
from ragkit.records import Chunk, Document, Hit
from ragkit.store import Store

Make = Callable[..., Document]


def one_chunk_a_block(document: Document) -> list[Chunk]:
    return chunks_of(document, [(block.start, block.end) for block in document.blocks])


def unit(*rows: Sequence[float]) -> NDArray[np.float32]:
    """Rows of length 1."""
    array = np.asarray(rows, dtype=np.float32)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def places(hits: Sequence[Hit]) -> list[tuple[str, int]]:
    return [(hit.chunk.slug, hit.chunk.index) for hit in hits]


@pytest.fixture
def four(make_document: Make) -> tuple[Document, list[Chunk], NDArray[np.float32]]:
    """A document of four chunks in three dimensions, with cosines to (1, 0, 0) of 1, 0.6, 0 and -1."""
    document = make_document("a.md", ["east", "north-east", "north", "west"])
    return document, one_chunk_a_block(document), unit([1, 0, 0], [3, 4, 0], [0, 1, 0], [-1, 0, 0])


# --- nearest ------------------------------------------------------------------------------------------


def test_scores_are_cosines_best_first(four: tuple[Document, list[Chunk], NDArray[np.float32]]) -> None:
    with Store(None, 3) as store:
        store.add(*four)
        hits = store.nearest(unit([1, 0, 0])[0], 4)
    assert [hit.chunk.text for hit in hits] == ["east", "north-east", "north", "west"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.6, 0.0, -1.0], abs=1e-6)
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    assert all(type(hit.score) is float for hit in hits)


def test_a_score_is_not_one_minus_a_euclidean_distance(four: tuple[Document, list[Chunk], NDArray[np.float32]]) -> None:
    """At a right angle the Euclidean distance is 1.414, the cosine exactly 0; vec0's default is the former."""
    with Store(None, 3) as store:
        store.add(*four)
        assert store.nearest(unit([0, 0, 1])[0], 1)[0].score == 0.0


def test_a_hit_carries_the_chunk_that_went_in(make_document: Make) -> None:
    document = make_document("ä/日本.md", ["Title", "Some text, and more.", "End"])
    (whole,) = chunks_of(document, [(0, len(document.text))])
    chunk = Chunk(whole.slug, 0, whole.start, whole.end, whole.text, whole.spans, context="Title > ")
    with Store(None, 2) as store:
        store.add(document, [chunk], unit([1, 1]))
        assert store.nearest(unit([1, 0])[0], 1)[0].chunk == chunk
        assert store.chunks() == [chunk]


def test_more_than_there_is_gives_all(four: tuple[Document, list[Chunk], NDArray[np.float32]]) -> None:
    with Store(None, 3) as store:
        store.add(*four)
        for k in (5, 100, 5000, 1_000_000):
            assert len(store.nearest(unit([1, 0, 0])[0], k)) == 4


def test_an_empty_store_has_no_neighbours(make_document: Make) -> None:
    with Store(None, 3) as store:
        assert store.nearest(unit([1, 0, 0])[0], 10) == []
        assert store.nearest(unit([1, 0, 0])[0], 5000) == []
        store.add(make_document("a.md", ["unchunked"]), [], np.empty((0, 3), np.float32))
        assert store.chunk_count == 0
        assert store.chunks() == []


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(k: int) -> None:
    with Store(None, 3) as store, pytest.raises(UsageError, match=f"at least 1, found {k}"):
        store.nearest(unit([1, 0, 0])[0], k)


@pytest.mark.parametrize("shuffle", range(4))
@pytest.mark.parametrize("k", [1, 5, 19, 20, 21, 59, 60])
def test_equal_scores_stand_in_canonical_order_whatever_went_in_first(
    make_document: Make, shuffle: int, k: int
) -> None:
    """Every vector is the same: only slug (by code point) and start may decide, also at the cut."""
    slugs = ["B.md", "a.md", "a/b.md", "é.md", "日本.md", "z.md"]
    documents = [make_document(slug, [f"block {n}" for n in range(10)]) for slug in slugs]
    random.Random(shuffle).shuffle(documents)  # noqa: S311  an order, not a secret
    with Store(None, 3) as store:
        for document in documents:
            store.add(document, one_chunk_a_block(document), unit(*[[1, 2, 3]] * 10))
        hits = store.nearest(unit([1, 0, 0])[0], k)
        assert [chunk.slug for chunk in store.chunks()] == [slug for slug in sorted(slugs) for _ in range(10)]
    assert places(hits) == list(itertools.product(sorted(slugs), range(10)))[:k]
    assert [hit.rank for hit in hits] == list(range(1, k + 1))


def test_start_orders_by_number_not_by_text(make_document: Make) -> None:
    document = make_document("a.md", ["x" * 8, "y", "z"])
    with Store(None, 2) as store:
        store.add(document, one_chunk_a_block(document)[::-1], unit(*[[1, 0]] * 3))
        assert [hit.chunk.start for hit in store.nearest(unit([1, 0])[0], 3)] == [0, 10, 13]


def test_a_tie_group_at_the_cut_is_closed_before_the_cut(make_document: Make) -> None:
    """One better chunk, 50 equal ones, one worse; the equal ones went in backwards."""
    best, worst = make_document("m.md", ["best"]), make_document("n.md", ["worst"])
    equal = [make_document(f"{n:02}.md", ["equal"]) for n in range(50)]
    with Store(None, 2) as store:
        for document, row in [(worst, [0, 1]), *((document, [1, 1]) for document in equal[::-1]), (best, [1, 0])]:
            store.add(document, one_chunk_a_block(document), unit(row))
        hits = store.nearest(unit([1, 0])[0], 4)
    assert places(hits) == [("m.md", 0), ("00.md", 0), ("01.md", 0), ("02.md", 0)]


def test_a_tie_group_of_twenty_blocks(make_document: Make) -> None:
    """5,000 equal chunks: more than vec0's own search, which ends at 4096, could return."""
    document = make_document("a.md", ["w"] * 5000)
    with Store(None, 2) as store:
        store.add(document, one_chunk_a_block(document), unit(*[[1, 1]] * 5000))
        assert [hit.chunk.index for hit in store.nearest(unit([1, 0])[0], 3)] == [0, 1, 2]
        assert [hit.chunk.index for hit in store.nearest(unit([1, 0])[0], 4999)] == list(range(4999))


# --- what is refused ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.array([[1, 0, 0], [math.nan, 0, 0]], np.float32), r"a\.md, chunk 1 \(characters 5 to 8\).*not finite"),
        (np.array([[math.inf, 0, 0], [1, 0, 0]], np.float32), r"chunk 0 .*not finite"),
        (np.array([[1, 0, 0], [1, -math.inf, 0]], np.float32), r"chunk 1 .*not finite"),
        (np.array([[1, 0, 0], [0, 0, 0]], np.float32), r"chunk 1 .*length 1, found 0"),
        (np.array([[1, 0, 0], [3, 4, 0]], np.float32), r"chunk 1 .*length 1, found 5"),
        (np.array([[1, 0, 0], [0, 1, 0]], np.float64), r"must be float32, found float64"),
        (np.array([[1, 0, 0], [0, 1, 0]], np.int64), r"must be float32, found int64"),
        (np.array([[1, 0], [0, 1]], np.float32), r"shape \(2, 3\), found \(2, 2\)"),
        (np.array([[1, 0, 0]], np.float32), r"shape \(2, 3\), found \(1, 3\)"),
        (np.array([1, 0, 0, 0, 1, 0], np.float32), r"shape \(2, 3\), found \(6,\)"),
    ],
)
def test_a_bad_vector_is_refused_and_nothing_goes_in(
    make_document: Make, vectors: NDArray[np.float32], message: str
) -> None:
    document = make_document("a.md", ["one", "two"])
    with Store(None, 3) as store:
        with pytest.raises(EncodingError, match=message):
            store.add(document, one_chunk_a_block(document), vectors)
        assert store.chunk_count == 0
        assert store.document_ids() == {}
        store.add(document, one_chunk_a_block(document), unit([1, 0, 0], [0, 1, 0]))  # the store still works


@pytest.mark.parametrize(
    "vector",
    [
        np.array([1, 0, 0], np.float64),
        np.array([1, 0], np.float32),
        np.array([[1, 0, 0]], np.float32),
        np.array([math.nan, 0, 0], np.float32),
        np.array([0, 0, 0], np.float32),
    ],
)
def test_a_bad_question_vector_is_refused(vector: NDArray[np.float32]) -> None:
    with Store(None, 3) as store, pytest.raises(EncodingError):
        store.nearest(vector, 1)


def test_a_second_document_of_one_slug_is_refused(four: tuple[Document, list[Chunk], NDArray[np.float32]]) -> None:
    with Store(None, 3) as store:
        store.add(*four)
        with pytest.raises(DataError, match=r"a\.md: duplicate-document"):
            store.add(*four)
        assert store.chunk_count == 4
        assert len(store.chunks()) == 4


def test_what_is_added_together_goes_in_or_nothing_of_it(
    four: tuple[Document, list[Chunk], NDArray[np.float32]], make_document: Make
) -> None:
    other = make_document("b.md", ["up"])
    with Store(None, 3) as store:

        def add_twice() -> None:
            with store.together():
                store.add(*four)
                assert len(store.nearest(unit([1, 0, 0])[0], 9)) == 4
                store.add(*four)

        with pytest.raises(DataError):
            add_twice()
        assert (store.chunk_count, store.index_bytes["vectors"], store.document_ids()) == (0, 0, {})
        with store.together():
            store.add(*four)
            with pytest.raises(DataError):
                store.add(*four)  # undoes itself alone
            store.add(other, one_chunk_a_block(other), unit([0, 0, 1]))
        assert (store.chunk_count, list(store.document_ids())) == (5, ["a.md", "b.md"])
        assert places(store.nearest(unit([0, 0, 1])[0], 1)) == [("b.md", 0)]


def test_a_failed_add_is_rolled_back(make_document: Make) -> None:
    """Two chunks with one span each at the same place: the second insert fails, after the first went in."""
    document = make_document("a.md", ["one", "two"])
    first, second = one_chunk_a_block(document)
    broken = Chunk("a.md", 1, 0, 3, "one", first.spans * 2)
    with Store(None, 3) as store:
        with pytest.raises(FileError, match="UNIQUE"):
            store.add(document, [first, broken], unit([1, 0, 0], [0, 1, 0]))
        assert store.document_ids() == {}
        store.add(document, [first, second], unit([1, 0, 0], [0, 1, 0]))
        assert len(store.nearest(unit([1, 0, 0])[0], 5)) == 2


def test_a_chunk_of_a_block_that_the_document_lacks_is_refused(make_document: Make) -> None:
    document = make_document("a.md", ["one", "two"])
    shorter = make_document("a.md", ["one"])
    with Store(None, 3) as store, pytest.raises(FileError, match="FOREIGN KEY"):
        store.add(shorter, one_chunk_a_block(document), unit([1, 0, 0], [0, 1, 0]))


# --- runtime ids --------------------------------------------------------------------------------------


def test_runtime_ids_lead_back_to_slug_and_order(make_document: Make) -> None:
    with Store(None, 2) as store:
        documents = [make_document(slug, [f"{n}" for n in range(12)]) for slug in ("b.md", "a/ü.md")]
        ids = {document.slug: store.add(document, [], np.empty((0, 2), np.float32)) for document in documents}
        assert store.document_ids() == ids
        assert list(store.document_ids()) == ["a/ü.md", "b.md"]
        for slug, document_id in ids.items():
            blocks = store.block_ids(document_id)
            assert list(blocks.items()) == [(n, f"blk_{document_id}_{n}") for n in range(12)]
            assert [store.locate_block(block_id) for block_id in blocks.values()] == [(slug, n) for n in range(12)]


def test_runtime_ids_are_new_each_time(make_document: Make) -> None:
    ids = set()
    for _ in range(2):
        with Store(None, 2) as store:
            ids.add(store.add(make_document("a.md", ["x"]), [], np.empty((0, 2), np.float32)))
    assert len(ids) == 2


def test_unknown_ids(make_document: Make) -> None:
    with Store(None, 2) as store:
        document_id = store.add(make_document("a.md", ["x"]), [], np.empty((0, 2), np.float32))
        assert store.block_ids("nobody") == {}
        for block_id in (f"blk_{document_id}_1", f"blk_{document_id}", "blk_nobody_0", ""):
            with pytest.raises(KeyError):
                store.locate_block(block_id)


# --- files --------------------------------------------------------------------------------------------


def test_a_file_serves_like_memory(tmp_path: Path, four: tuple[Document, list[Chunk], NDArray[np.float32]]) -> None:
    with Store(None, 3) as memory, Store(tmp_path / "run.db", 3) as on_disk:
        memory.add(*four)
        on_disk.add(*four)
        question = unit([1, 2, 3])[0]
        assert on_disk.nearest(question, 4) == memory.nearest(question, 4)
    assert [path.name for path in tmp_path.iterdir()] == ["run.db"]


def test_an_existing_file_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    path.write_text("something of value")
    with pytest.raises(FileError, match=r"run\.db: exists already.*remove it"):
        Store(path, 3)
    assert path.read_text() == "something of value"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"run\.db: cannot be opened: check that the folder exists"):
        Store(tmp_path / "missing" / "run.db", 3)


def test_a_database_that_another_process_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, four: tuple[Document, list[Chunk], NDArray[np.float32]]
) -> None:
    """The second one looked for the file before the first made it: the lock decides."""
    path = tmp_path / "run.db"
    with Store(path, 3) as store:
        store.add(*four)
        monkeypatch.setattr(Path, "exists", lambda _: False)
        with pytest.raises(FileError, match=r"run\.db: another process has it open"):
            Store(path, 3)
        assert len(store.chunks()) == 4


def test_a_database_damaged_while_in_use(
    tmp_path: Path, four: tuple[Document, list[Chunk], NDArray[np.float32]]
) -> None:
    path = tmp_path / "run.db"
    with Store(path, 3) as store:
        store.add(*four)
        store._connection.release_memory()
        store._connection.execute("pragma shrink_memory")
        path.write_bytes(b"\xff" * path.stat().st_size)
        with pytest.raises(FileError, match=r"run\.db: damaged: remove it and run again"):
            store.nearest(unit([1, 0, 0])[0], 2)


def test_a_full_disk_is_named_as_such(tmp_path: Path, make_document: Make) -> None:
    """SQLite's own page limit gives the same error as a full disk."""
    document = make_document("a.md", ["word " * 50_000] * 10)
    with Store(tmp_path / "run.db", 3) as store:
        store._connection.execute("pragma max_page_count = 30")
        with pytest.raises(FileError, match=r"run\.db: the disk is full: free some space"):
            store.add(document, one_chunk_a_block(document), unit(*[[1, 0, 0]] * 10))


@pytest.mark.skipif(not shutil.which("unshare") or sys.platform != "linux", reason="needs Linux namespaces")
def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """A file system of 1 MB, in a namespace of its own."""
    script = (
        "import sys; from pathlib import Path; from ragkit.errors import FileError; from ragkit.store import Store\n"
        "import numpy as np; from ragkit.records import Block, Document\n"
        "try:\n"
        "    store = Store(Path(sys.argv[1]) / 'run.db', 3)\n"
        "    for n in range(200):\n"
        "        blocks = tuple(Block(i, 'paragraph', None, (), 'x', 2 * i, 2 * i + 1) for i in range(999))\n"
        "        store.add(Document(f'{n}', 'text', '', '', blocks, None, ''), [], np.empty((0, 3), np.float32))\n"
        "except FileError as error:\n"
        "    print(error)\n"
    )
    mounted = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-rm", "sh", "-c", mounted, "sh", str(tmp_path), sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no namespaces here: {done.stderr.strip()}")
    assert done.stdout.strip() == f"{tmp_path}/run.db: the disk is full: free some space and run again"


def test_a_closed_store_says_so_and_closes_twice() -> None:
    store = Store(None, 3)
    store.close()
    store.close()
    with pytest.raises(FileError, match="database in memory"):
        store.document_ids()


def test_no_module_called_sqlite3_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    monkeypatch.delitem(sys.modules, "sqlite_vec", raising=False)
    with Store(None, 3) as store:
        assert store.chunks() == []
    assert apsw.__name__ in sys.modules
