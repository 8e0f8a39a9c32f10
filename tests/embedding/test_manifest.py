from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragkit.embedding import manifest
from ragkit.errors import ModelError

ABOUT = {"name": "toy", "revision": "1"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("model.onnx", "tokenizer.model", "reference/model.safetensors", "reference/1_Pooling/config.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    manifest.write(tmp_path, ABOUT)
    return tmp_path


def test_an_unharmed_folder_gives_the_hashes_of_the_files_that_the_precision_uses(folder: Path) -> None:
    assert set(manifest.verify(folder, ABOUT, "ragkit prepare", "q8")) == {"model.onnx", "tokenizer.model"}
    assert set(manifest.verify(folder, ABOUT, "ragkit prepare", "float32")) == {
        "reference/model.safetensors",
        "reference/1_Pooling/config.json",
    }
    assert len(manifest.verify(folder, ABOUT, "ragkit prepare")) == 4


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def _grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"x")


@pytest.mark.parametrize(
    ("damage", "rule"), [(_flip, "has sha256"), (_grow, "has 11 bytes, the manifest says 10"), (Path.unlink, "missing")]
)
def test_damage_names_the_file_and_the_remedy(folder: Path, damage: Callable[[Path], None], rule: str) -> None:
    damage(folder / "model.onnx")
    with pytest.raises(ModelError, match=rule) as caught:
        manifest.verify(folder, ABOUT, "ragkit prepare", "q8")
    assert str(folder / "model.onnx") in str(caught.value)
    assert str(caught.value).endswith("Run: ragkit prepare --force")
    assert caught.value.exit_code == 3


def test_damage_to_what_a_run_does_not_use_does_not_stop_it(folder: Path) -> None:
    _flip(folder / "reference/model.safetensors")
    manifest.verify(folder, ABOUT, "ragkit prepare", "q8")
    with pytest.raises(ModelError, match=r"model\.safetensors"):
        manifest.verify(folder, ABOUT, "ragkit prepare", "float32")


def test_a_file_checked_by_size_only_is_still_missed_or_found_short(folder: Path) -> None:
    name = "reference/model.safetensors"
    _flip(folder / name)
    manifest.verify(folder, ABOUT, "ragkit prepare", by_size={name})
    _grow(folder / name)
    with pytest.raises(ModelError, match="has 28 bytes, the manifest says 27"):
        manifest.verify(folder, ABOUT, "ragkit prepare", by_size={name})


def test_a_file_that_does_not_belong_there_is_refused(folder: Path) -> None:
    """A library that loads a folder may prefer the file that was slipped in."""
    (folder / "reference/pytorch_model.bin").write_bytes(b"other weights")
    with pytest.raises(ModelError, match=r"pytorch_model\.bin is not in the manifest"):
        manifest.verify(folder, ABOUT, "ragkit prepare", "float32")


def test_a_flipped_byte_anywhere_in_the_manifest_is_found(folder: Path) -> None:
    path = folder / manifest.NAME
    whole = path.read_bytes()
    for position in range(len(whole)):
        data = bytearray(whole)
        data[position] ^= 4
        path.write_bytes(data)
        with pytest.raises(ModelError, match=r"manifest\.json"):
            manifest.verify(folder, ABOUT, "ragkit prepare", "q8")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '{"files": {}}'])
def test_a_broken_manifest_is_damage(folder: Path, content: str) -> None:
    (folder / manifest.NAME).write_text(content)
    with pytest.raises(ModelError, match=r"manifest\.json .*ragkit prepare --force"):
        manifest.verify(folder, ABOUT, "ragkit prepare", "q8")


def test_a_missing_manifest_is_damage(folder: Path) -> None:
    (folder / manifest.NAME).unlink()
    with pytest.raises(ModelError, match=r"manifest\.json is missing"):
        manifest.verify(folder, ABOUT, "ragkit prepare", "q8")


def test_a_manifest_of_another_model_is_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="another model"):
        manifest.verify(folder, {**ABOUT, "revision": "2"}, "ragkit prepare", "q8")
