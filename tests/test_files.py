"""Files are written whole or not at all, and compared JSON has one form."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit import files
from ragkit.errors import FileError


def fail(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def left_over(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "a.json"
    files.write_atomic(path, "old")
    monkeypatch.setattr(files.os if step == "fsync" else Path, step, fail)
    with pytest.raises(FileError, match=r"a\.json: cannot be written: No space left"):
        files.write_atomic(path, "new")
    assert (path.read_text(), left_over(tmp_path)) == ("old", ["a.json"])


def test_an_interrupted_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "a.json"
    files.write_atomic(path, "old")
    monkeypatch.setattr(files.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        files.write_atomic(path, "new")
    assert (path.read_text(), left_over(tmp_path)) == ("old", ["a.json"])


def test_text_is_written_as_utf_8_with_its_own_newlines_into_a_folder_that_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "a.txt"
    files.write_atomic(path, "水\n²\r\n")
    assert path.read_bytes() == "水\n²\r\n".encode()
    files.write_atomic(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_file_where_a_folder_should_be_is_a_file_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        files.write_atomic(tmp_path / "a" / "b.json", "x")
    with pytest.raises(FileError, match="cannot be written"):
        files.write_atomic(tmp_path, "x")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [{"a": -float("inf")}]])
def test_what_json_does_not_have_is_refused(value: Any) -> None:
    for write in (files.canonical_json, files.canonical_line):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write(value)


def test_one_value_has_one_text() -> None:
    value = {"b": (1.23456789, -0.0, -0.0000001), "a": {"é": True, "A": None, "n": 3}}
    assert files.canonical_json(value) == (
        '{\n  "a": {\n    "A": null,\n    "n": 3,\n    "é": true\n  },\n  "b": [\n    1.234568,\n    0.0,\n    0.0\n  ]\n}\n'
    )
    assert files.canonical_line(value) == '{"a": {"A": null, "n": 3, "é": true}, "b": [1.234568, 0.0, 0.0]}\n'


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_the_canonical_form_is_what_json_writes_of_rounded_values(value: Any) -> None:
    def rounded(value: Any) -> Any:
        if isinstance(value, float):
            return round(value, files.DECIMALS) + 0.0
        if isinstance(value, dict):
            return {key: rounded(item) for key, item in value.items()}
        return [rounded(item) for item in value] if isinstance(value, list) else value

    wanted = json.dumps(rounded(value), sort_keys=True, indent=2, ensure_ascii=False)
    assert files.canonical_json(value) == wanted + "\n"


@given(values)
def test_reading_and_writing_again_changes_nothing(value: Any) -> None:
    text = files.canonical_json(value)
    assert files.canonical_json(files.json.loads(text)) == text
    assert files.canonical_line(value).count("\n") == 1


def test_reading_drops_a_bom_and_keeps_newlines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffa\r\nb".encode())
    assert files.read_text(path) == "a\r\nb"
    assert files.sha256_file(path) == files.sha256_bytes(path.read_bytes())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff", "not UTF-8 at byte 0"),
        (b'{"a": 1,\n "b" 2}', r"a\.json:2:6: not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, "not JSON"),
    ],
)
def test_unreadable_json_says_where(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(FileError, match=says):
        files.read_json(path)


def test_missing_files_are_file_errors(tmp_path: Path) -> None:
    for read in (files.read_text, files.read_json, files.sha256_file):
        with pytest.raises(FileError, match="none: cannot be read: No such file"):
            read(tmp_path / "none")


def test_a_filled_folder_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "run"
    for content in ("one", "two"):
        with files.replacing_directory(target) as folder:
            (folder / content).write_text(content)
            assert folder.parent.parent == tmp_path  # same file system, so that one rename is enough
        assert left_over(target) == [content]
        assert left_over(tmp_path) == ["run"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_unfinished_folder_is_gone_and_the_old_one_stays(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "run"
    with files.replacing_directory(target) as folder:
        (folder / "one").write_text("1")

    def interrupted() -> None:
        with files.replacing_directory(target) as folder:
            (folder / "two").write_text("2")
            raise error

    with pytest.raises(error):
        interrupted()
    assert left_over(target) == ["one"]
    assert left_over(tmp_path) == ["run"]


def test_a_failed_swap_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "run"
    with files.replacing_directory(target) as folder:
        (folder / "one").write_text("1")
    rename = Path.rename

    def fail_into_place(self: Path, destination: Path) -> Path:
        if destination == target and self.parent.suffix == ".tmp":
            fail()
        return rename(self, destination)

    monkeypatch.setattr(Path, "rename", fail_into_place)
    with pytest.raises(FileError, match="run: cannot be written"), files.replacing_directory(target) as folder:
        (folder / "two").write_text("2")
    assert left_over(target) == ["one"]
    assert left_over(tmp_path) == ["run"]


def test_a_file_in_the_place_of_the_folder_is_replaced_or_refused_whole(tmp_path: Path) -> None:
    target = tmp_path / "run"
    target.write_text("a file")
    with pytest.raises(FileError, match="is a file"), files.replacing_directory(target):
        pass
    assert target.read_text() == "a file"
    assert left_over(tmp_path) == ["run"]


def test_files_that_belong_together_are_all_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    files.write_together([(path, "old") for path in paths])
    calls = iter([os.fsync, fail])
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: next(calls)(descriptor))
    with pytest.raises(FileError, match="b: cannot be written: No space left"):
        files.write_together([(path, "new") for path in paths])
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert left_over(tmp_path) == ["a", "b"]


def test_what_a_killed_write_left_is_replaced_by_the_next(tmp_path: Path) -> None:
    (tmp_path / ".a.json.tmp").write_text("hal")
    assert files.is_leftover("docs/.a.json.tmp")
    files.write_atomic(tmp_path / "a.json", "whole")
    assert left_over(tmp_path) == ["a.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on folders")
def test_an_old_folder_that_stands_aside_comes_back_and_dead_ones_go(tmp_path: Path) -> None:
    (tmp_path / ".run.0123abcd.old/run").mkdir(parents=True)
    (tmp_path / ".run.0123abcd.old/run/one").write_text("1")
    (tmp_path / ".run.4567abcd.tmp/run").mkdir(parents=True)
    (tmp_path / ".run.of.mine.old").mkdir()  # not a name of ours
    with files.replacing_directory(tmp_path / "other"):
        assert "run" not in left_over(tmp_path)
    files.tidy(tmp_path / "run")
    assert left_over(tmp_path) == [".run.of.mine.old", "other", "run"]
    assert left_over(tmp_path / "run") == ["one"]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on folders")
def test_the_living_keep_their_temporary_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
    (tmp_path / "toy-notmine1").mkdir()  # has no mark
    (tmp_path / "toy-deadone1").mkdir()
    (tmp_path / "toy-deadone1/.ragkit").touch()
    with files.scratch("toy-") as one, files.scratch("toy-") as two, files.replacing_directory(tmp_path / "run") as run:
        files.tidy(tmp_path / "run")
        assert one.exists()
        assert two.exists()
        assert run.exists()
        assert not (tmp_path / "toy-deadone1").exists()
    assert left_over(tmp_path) == ["run", "toy-notmine1"]


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on folders")
def test_a_temporary_folder_that_is_half_made_or_half_removed_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.tempfile, "tempdir", str(tmp_path))
    for step in ("touch", "rename"):
        with monkeypatch.context() as patch:
            patch.setattr(Path, step, fail)
            with pytest.raises(FileError), files.scratch("toy-"):
                pass
        assert len(left_over(tmp_path)) == 1  # what a process leaves that is killed there
        with files.scratch("toy-") as folder:
            assert left_over(tmp_path) == [folder.name]
        assert left_over(tmp_path) == []
    with monkeypatch.context() as patch:
        patch.setattr(files.shutil, "rmtree", lambda *_, **__: None)
        with files.scratch("toy-"):
            pass
    assert len(left_over(tmp_path)) == 1
    with files.scratch("toy-") as folder:
        assert left_over(tmp_path) == [folder.name]


def test_without_a_temporary_folder_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.tempfile, "mkdtemp", fail)
    with pytest.raises(FileError, match="set TMPDIR"), files.scratch("toy-"):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="no locks on folders")
def test_one_at_a_time_among_threads_and_nested(tmp_path: Path) -> None:
    inside = 0

    def enter(_: int) -> int:
        nonlocal inside
        with files.alone(tmp_path) as sure, files.alone(tmp_path):
            assert sure
            inside += 1
            time.sleep(0.002)
            seen, inside = inside, inside - 1
            return seen

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(enter, range(20))) == {1}
    with files.alone(tmp_path / "absent") as sure:
        assert not sure
