"""Trap 23: a cache key names one model, one revision, one graph, one converter, and is known before any of it is there."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from ragkit.embedding import cache_key, cache_root
from ragkit.embedding.registry import SOURCES, registered
from ragkit.errors import UsageError


@pytest.mark.parametrize("field", ["model", "revision", "graph_sha256", "converter", "weights"])
def test_the_key_changes_with_everything_that_decides_the_model(field: str) -> None:
    source = registered("pypi")
    assert dataclasses.replace(source, **{field: "other"}).key != source.key


def test_the_two_sources_never_share_a_key() -> None:
    assert cache_key("pypi") != cache_key("hub")
    assert cache_key() == cache_key("pypi")


def test_the_key_is_a_plain_name() -> None:
    assert cache_key("pypi").startswith("multilingual-e5-small-pypi-")
    assert cache_key("pypi").replace("-", "").isalnum()


def test_an_unknown_source_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="'pip' is not registered; known: pypi, hub"):
        cache_key("pip")


def test_every_pin_is_whole() -> None:
    for source in SOURCES.values():
        assert source.download_size > 50_000_000
        assert len(source.graph_sha256) == 64
        assert source.dimension == 384


def test_the_environment_names_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RAGKIT_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("RAGKIT_CACHE")
    assert cache_root().name == "ragkit" or "ragkit" in cache_root().parts


def test_keys_are_known_without_any_model_library() -> None:
    code = (
        "import sys; from ragkit.embedding import cache_key; cache_key('pypi'); "
        "print({'torch', 'onnx', 'onnxruntime', 'tokenizers', 'sentence_transformers', 'httpx', 'filelock', "
        "'transformers', 'sentencepiece', 'pandas', 'asyncio'} & set(sys.modules))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"
