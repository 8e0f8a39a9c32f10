"""Trap 24 and the ways a cache file comes to harm: whatever happens, a vector is the fresh one, bit for bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragkit import segments as segments_module
from ragkit.embedding import CachedEncoder, TextError, cached
from ragkit.embedding import cache as module
from ragkit.embedding.hashing import HashingEncoder
from ragkit.records import Progress, Role
from tests.growth import grows_with_its_input

PREFIXES: dict[Role, str] = {"query": "query: ", "passage": "passage: "}
TEXTS = [f"passage number {number}" for number in range(20)]


class Counting(HashingEncoder):
    """Remembers what it was asked to embed."""

    def __init__(self, prefixes: dict[Role, str] = PREFIXES, dimension: int = 32, max_tokens: int = 512) -> None:
        super().__init__(prefixes, dimension, max_tokens)
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], role: Role, progress: Progress | None = None) -> NDArray[np.float32]:
        self.asked += texts
        return super().encode(texts, role, progress)


def _segments(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.seg"))


def test_a_second_run_embeds_nothing_and_has_the_same_bytes(tmp_path: Path) -> None:
    fresh = Counting().encode(TEXTS, "passage")
    assert cached(Counting(), tmp_path).encode(TEXTS, "passage").tobytes() == fresh.tobytes()
    encoder = Counting()
    again = CachedEncoder(encoder, tmp_path)
    vectors = again.encode(TEXTS[::-1], "passage")
    assert vectors.tobytes() == fresh[::-1].tobytes()
    assert vectors.dtype == np.float32
    assert encoder.asked == []
    assert (again.hits, again.misses, again.notice) == (20, 0, None)


def test_only_new_texts_are_embedded_each_once_in_their_order(tmp_path: Path) -> None:
    cached(Counting(), tmp_path).encode(["b", "d"], "passage")
    encoder = Counting()
    done: list[int] = []
    vectors = cached(encoder, tmp_path).encode(["a", "b", "c", "a", "d"], "passage", done.append)
    assert encoder.asked == ["a", "c"]
    assert sum(done) == 5
    assert vectors.tobytes() == Counting().encode(["a", "b", "c", "a", "d"], "passage").tobytes()


def test_two_runs_side_by_side_embed_a_text_once(tmp_path: Path) -> None:
    """Each has read the cache before the other embeds; the second waits for the first, and then knows its vectors."""
    encoders = Counting(), Counting()
    runs = [CachedEncoder(encoder, tmp_path) for encoder in encoders]
    for run in runs:
        run.encode([], "passage")
    with ThreadPoolExecutor() as threads:
        one, two = threads.map(lambda run: run.encode(TEXTS, "passage").tobytes(), runs)
    assert one == two
    assert sorted([*encoders[0].asked, *encoders[1].asked]) == sorted(TEXTS)


def test_a_text_is_another_one_as_a_query_and_queries_tokens_are_not_kept(tmp_path: Path) -> None:
    encoder = Counting()
    wrapped = CachedEncoder(encoder, tmp_path)
    query, passage = (wrapped.encode(["a"], role).tobytes() for role in ("query", "passage"))
    assert query != passage
    again = CachedEncoder(encoder, tmp_path)
    assert [again.encode(["a"], role).tobytes() for role in ("query", "passage")] == [query, passage]
    assert encoder.asked == ["a", "a"]
    segments = _segments(tmp_path)
    again.encode_tokens(["a"], "query")
    assert _segments(tmp_path) == segments


def test_without_a_folder_there_is_no_cache() -> None:
    encoder = Counting()
    assert cached(encoder, None) is encoder


def test_the_wrapper_is_the_encoder_in_everything_else(tmp_path: Path) -> None:
    encoder = Counting()
    wrapped = cached(encoder, tmp_path)
    assert (wrapped.dimension, wrapped.identity) == (32, encoder.identity)
    assert wrapped.description == encoder.description
    assert wrapped.count_tokens("a b", "query") == encoder.count_tokens("a b", "query")
    assert wrapped.token_spans("a b") == [(0, 1), (2, 3)]


def test_no_texts_give_no_vectors(tmp_path: Path) -> None:
    assert cached(Counting(), tmp_path).encode([], "passage").shape == (0, 32)


def test_another_prefix_or_model_never_sees_the_vectors(tmp_path: Path) -> None:
    cached(Counting(), tmp_path).encode(TEXTS, "passage")
    for other in (Counting({"query": "query: ", "passage": ""}), Counting(max_tokens=100)):
        wrapped = cached(other, tmp_path)
        assert wrapped.encode(TEXTS, "passage").tobytes() == HashingEncoder(other._prefixes, 32).encode(
            TEXTS, "passage"
        ).tobytes()  # fmt: skip
        assert other.asked == TEXTS


def test_other_libraries_or_another_processor_never_see_the_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(Counting(), tmp_path).encode(TEXTS, "passage")
    monkeypatch.setattr(module, "runtime", lambda: {"onnxruntime": "0.0"})
    other = Counting()
    cached(other, tmp_path).encode(TEXTS, "passage")
    assert other.asked == TEXTS


def test_any_flipped_byte_is_noticed_and_the_vectors_are_made_again(tmp_path: Path) -> None:
    cached(Counting(), tmp_path).encode(TEXTS[:2], "passage")
    fresh = Counting().encode(TEXTS[:2], "passage")
    (segment,) = _segments(tmp_path)
    whole = segment.read_bytes()
    for position in range(0, len(whole), 11):
        data = bytearray(whole)
        data[position] ^= 1
        segment.write_bytes(data)
        encoder = Counting()
        assert cached(encoder, tmp_path).encode(TEXTS[:2], "passage").tobytes() == fresh.tobytes()
        assert encoder.asked == TEXTS[:2]
        assert segment.read_bytes() == whole


@pytest.mark.parametrize("length", [0, 3, 4, 36, 40, 196, 300])
def test_a_truncated_segment_is_made_again(tmp_path: Path, length: int) -> None:
    cached(Counting(), tmp_path).encode(TEXTS[:2], "passage")
    (segment,) = _segments(tmp_path)
    segment.write_bytes(segment.read_bytes()[:length])
    encoder = Counting()
    cached(encoder, tmp_path).encode(TEXTS[:2], "passage")
    assert encoder.asked == TEXTS[:2]
    again = Counting()
    cached(again, tmp_path).encode(TEXTS[:2], "passage")
    assert again.asked == []


def test_a_cache_that_cannot_be_written_works_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    wrapped = CachedEncoder(Counting(), tmp_path / "file")
    assert wrapped.encode(TEXTS, "passage").tobytes() == Counting().encode(TEXTS, "passage").tobytes()
    assert wrapped.notice is not None
    assert "not kept" in wrapped.notice


def test_many_segments_are_merged_into_one(tmp_path: Path) -> None:
    for number in range(segments_module.MERGE_BEYOND + 1):
        cached(Counting(), tmp_path).encode([f"text {number}"], "passage")
    assert len(_segments(tmp_path)) == segments_module.MERGE_BEYOND + 1
    encoder = Counting()
    texts = [f"text {number}" for number in range(segments_module.MERGE_BEYOND + 1)]
    vectors = cached(encoder, tmp_path).encode(texts, "passage")
    assert len(_segments(tmp_path)) == 1
    assert encoder.asked == []
    assert vectors.tobytes() == Counting().encode(texts, "passage").tobytes()


def test_what_a_killed_writer_left_goes_when_the_cache_is_read(tmp_path: Path) -> None:
    cached(Counting(), tmp_path).encode(TEXTS, "passage")
    (segment,) = _segments(tmp_path)
    left = segment.with_name(f".{segment.name}.tmp")
    left.write_bytes(b"half")
    encoder = Counting()
    cached(encoder, tmp_path).encode(TEXTS, "passage")
    assert encoder.asked == []
    assert not left.exists()


def test_the_least_recently_used_segments_go_first(tmp_path: Path) -> None:
    record = 36 + 4 * 32
    for number in range(3):
        CachedEncoder(Counting(max_tokens=500 + number), tmp_path).encode(TEXTS, "passage")
    for age, segment in enumerate(_segments(tmp_path)):
        os.utime(segment, (time.time() - 1000 + age, time.time() - 1000 + age))
    old, middle, recent = _segments(tmp_path)
    CachedEncoder(Counting(), tmp_path, limit=record * 20 * 2 + 200).encode(TEXTS, "passage")
    assert not old.exists()
    assert not middle.exists()
    assert recent.exists()
    assert sum(path.stat().st_size for path in _segments(tmp_path)) <= record * 20 * 2 + 200


def test_what_a_killed_process_left_is_swept_when_it_is_old(tmp_path: Path) -> None:
    cached(Counting(), tmp_path).encode(["a"], "passage")
    (segment,) = _segments(tmp_path)
    young, old = segment.parent / ".x.vec.1.tmp", segment.parent / ".y.vec.2.tmp"
    for path in (young, old):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 7200,) * 2)
    cached(Counting(), tmp_path).encode(["b"], "passage")
    assert young.exists()
    assert not old.exists()


def test_the_error_names_the_text_in_the_callers_order(tmp_path: Path) -> None:
    cached(Counting(max_tokens=8), tmp_path).encode(["a", "b"], "passage")
    with pytest.raises(TextError, match="text 2: 10 tokens") as caught:
        cached(Counting(max_tokens=8), tmp_path).encode(["a", "b", "1 2 3 4 5 6"], "passage")
    assert caught.value.index == 2


_WRITER = """
    import sys
    from pathlib import Path
    from ragkit.embedding import cached
    from ragkit.embedding.hashing import HashingEncoder
    encoder = cached(HashingEncoder({"query": "query: ", "passage": "passage: "}, 32), Path(sys.argv[1]))
    print("ready", flush=True)
    for number in range(int(sys.argv[2])):
        encoder.encode([f"passage number {number}"], "passage")
"""


def _writer(folder: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(_WRITER), str(folder), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_two_processes_at_once_and_one_killed_leave_a_good_cache(tmp_path: Path) -> None:
    with _writer(tmp_path, 40) as first, _writer(tmp_path, 100_000) as second:
        assert second.stdout is not None
        second.stdout.readline()
        assert first.wait(60) == 0
        second.send_signal(signal.SIGKILL)
        second.wait(10)
    encoder = Counting()
    vectors = cached(encoder, tmp_path).encode(TEXTS, "passage")
    assert encoder.asked == []
    assert vectors.tobytes() == Counting().encode(TEXTS, "passage").tobytes()


def test_reading_grows_with_the_passages(tmp_path: Path) -> None:
    def encode(count: int) -> list[str]:
        texts = [f"passage number {number} with some words in it" for number in range(count)]
        encoder = Counting(dimension=384)
        cached(encoder, tmp_path / str(count)).encode(texts, "passage")
        return encoder.asked

    def read(count: int) -> None:
        assert encode(count) == []

    assert (len(encode(1_500)), len(encode(12_000))) == (1_500, 12_000)
    assert grows_with_its_input(read, 1_500, 12_000)
