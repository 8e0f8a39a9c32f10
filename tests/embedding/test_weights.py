"""The weights file: what is read is what was written; damage is told, never read over."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.embedding.weights import Weights
from ragkit.errors import ModelError
from tests.embedding.tiny import ARCHITECTURE, pieces, tiny_bytes, write_tiny

GOOD = tiny_bytes()


def read(folder: Path, content: bytes) -> Weights:
    path = folder / "weights.bin"
    path.write_bytes(content)
    return Weights(path)


def entry(name: str) -> int:
    """Where the directory's entry of a tensor has its dtype byte."""
    return GOOD.index(struct.pack("<H", len(name)) + name.encode()) + 2 + len(name)


def patched(at: int, layout: str, *values: object) -> bytes:
    new = struct.pack("<" + layout, *values)
    return GOOD[:at] + new + GOOD[at + len(new) :]


def test_sizes_and_vocabulary(tmp_path: Path) -> None:
    weights = Weights(write_tiny(tmp_path / "w.bin"))
    assert weights.architecture == ARCHITECTURE
    vocabulary = weights.vocabulary
    assert [piece for piece, _ in vocabulary.pieces] == [piece for piece, _ in pieces()]
    assert [score for _, score in vocabulary.pieces] == pytest.approx([score for _, score in pieces()])
    assert (vocabulary.bos, vocabulary.eos, vocabulary.pad, vocabulary.unk) == (0, 2, 1, 3)


def test_a_block_by_hand(tmp_path: Path) -> None:
    """Scale 0.5; byte 0 is 0xF0: weight 0 is (0 - 8) / 2, weight 16 is (15 - 8) / 2; all others 0x88: zero."""
    (offset,) = struct.unpack_from("<Q", GOOD, entry("emb.word") + 5)
    block = np.float16(0.5).tobytes() + b"\xf0" + b"\x88" * 15
    weights = read(tmp_path, patched(offset, "18s", block))
    row = np.zeros(32)
    row[0], row[16] = -4.0, 3.5
    assert weights.tensor("emb.word", 0, 1)[0, :32].tolist() == row.tolist()
    codes, scales = weights.blocks("emb.word")
    assert codes[0, :32].tolist() == (2 * row).tolist()
    assert scales[0, 0] == 0.5
    assert (codes.shape, scales.shape) == ((450, 64), (450, 2))


def test_float_tensors_and_slices_of_rows(tmp_path: Path) -> None:
    weights = read(tmp_path, GOOD)
    (offset,) = struct.unpack_from("<Q", GOOD, entry("emb.pos") + 5)
    assert weights.tensor("emb.pos")[0, 1] == struct.unpack_from("<f", GOOD, offset + 4)[0]
    for name in ("emb.pos", "emb.word", "l1.fi.b"):
        whole = weights.tensor(name)
        assert whole.dtype == np.float32
        assert np.array_equal(weights.tensor(name, 3, 7), whole[3:7])


def test_only_a_matrix_in_blocks_has_blocks(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"emb\.pos is not stored in 4-bit blocks"):
        read(tmp_path, GOOD).blocks("emb.pos")


@given(end=st.integers(0, len(GOOD) - 1))
def test_a_file_cut_short_is_refused(tmp_path_factory: pytest.TempPathFactory, end: int) -> None:
    with pytest.raises(ModelError, match=r"weights\.bin"):
        read(tmp_path_factory.mktemp("cut"), GOOD[:end])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (patched(0, "4s", b"GGUF"), "starts with b'GGUF'"),
        (patched(4, "I", 2), "format version 2, ragkit reads 1"),
        (patched(8, "i", 0), "impossible sizes"),
        (patched(8, "i", -64), "impossible sizes"),
        (patched(24, "i", 1 << 30), "impossible sizes"),
        (patched(36, "f", float("nan")), "epsilon nan"),
        (patched(40, "i", 64), "blocks of 64"),
        (patched(8, "i", 65), "rows of 65"),
        (patched(16, "i", 3), "64 values don't divide into 3 heads"),
        (patched(44, "i", 451), "451 pieces for 450 word rows"),
        (patched(48, "i", 400), "special ids 400"),
        (patched(64, "Q", 1 << 63), "ends within its vocabulary"),
        (patched(72, "I", 1), "pieces of its vocabulary overlap"),
        (patched(72 + 4 * 292, "f", float("inf")), "pieces of its vocabulary overlap or have no scores"),
        (patched(72 + 4 * 292 + 4 * 291, "B", 0xFF), "a piece of its vocabulary is not UTF-8"),
        (patched(entry("emb.pos"), "B", 2), "tensor emb.pos: dtype 2"),
        (patched(entry("emb.pos"), "B", 1), "tensor emb.pos: dtype 1"),
        (patched(entry("l0.q.b"), "B", 1), "tensor l0.q.b: dtype 1"),
        (patched(entry("emb.pos") + 1, "I", 7), "tensor emb.pos: dtype 0, 7 values"),
        (patched(entry("emb.pos") + 5, "Q", len(GOOD) - 8), "tensor emb.pos"),
        (patched(entry("emb.pos") - 7, "7s", b"emb.xyz"), "'emb.xyz' is not expected"),
        (patched(entry("emb.pos") - 7, "7s", b"emb.po\xff"), "directory is not UTF-8"),
        (patched(entry("l0.k.w") - 6, "6s", b"l0.q.w"), "'l0.q.w' is not expected twice"),
        (patched(entry("emb.word") - 14, "i", 36), "tensors are missing: l1.oln.b"),
    ],
)
def test_damage_is_told(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        read(tmp_path, content)
    assert message in str(caught.value)
    assert "ragkit prepare --force" in str(caught.value)


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: None], ids=["folder", "empty", "missing"])
def test_no_file(tmp_path: Path, make: object) -> None:
    path = tmp_path / "weights.bin"
    make(path)  # type: ignore[operator]
    with pytest.raises(ModelError, match="can't be read"):
        Weights(path)
