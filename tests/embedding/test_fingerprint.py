"""The known answers tell the pinned model from anything else; and the pinned model gives them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ragkit.config import ModelConfig
from ragkit.embedding import load_encoder
from ragkit.embedding.convert import GRAPH_SHA256
from ragkit.embedding.fingerprint import LOWEST_COSINE, Probe, check, probes
from ragkit.embedding.registry import model_folder, registered
from ragkit.errors import ModelError
from ragkit.files import sha256_file
from ragkit.records import Role

KNOWN = {(probe.text, probe.role): np.array(probe.vector, np.float32) for probe in probes()}
PAIR = [Probe("query", "a", (1.0, 0.0)), Probe("passage", "b", (0.6, 0.8))]


def answer(text: str, role: Role) -> NDArray[np.float32]:
    return KNOWN[text, role]


def test_a_dozen_probes_of_both_roles() -> None:
    assert len(probes()) == 12
    assert {probe.role for probe in probes()} == {"query", "passage"}
    assert all(np.linalg.norm(probe.vector) == pytest.approx(1, abs=1e-4) for probe in probes())


def test_the_known_vectors_pass() -> None:
    assert check(answer) == pytest.approx(1)


def test_what_another_processor_makes_of_them_passes() -> None:
    random = np.random.default_rng(1)
    cosine = check(lambda text, role: answer(text, role) + random.normal(0, 0.001, 384).astype(np.float32))
    assert LOWEST_COSINE < cosine < 1


def test_the_worst_is_named() -> None:
    """(0.96, 0.28) has cosine 0.96 to the first and 0.8 to the second."""
    with pytest.raises(ModelError, match=r"2 of 2 vectors are off.* cosine 0\.8000 .*passage: 'b'"):
        check(lambda text, role: np.array([0.96, 0.28], np.float32), PAIR)


@pytest.mark.parametrize("vector", [[np.nan, 1], [0, 0], [1, 0, 0], [np.inf, 0]])
def test_what_is_no_vector_is_as_wrong_as_can_be(vector: list[float]) -> None:
    with pytest.raises(ModelError, match=r"cosine -1\.0000"):
        check(lambda text, role: np.array(vector, np.float32), PAIR)


@pytest.mark.model
def test_the_prepared_model_gives_them(prepared_cache: Path) -> None:
    encoder = load_encoder(ModelConfig(), prepared_cache)
    assert check(lambda text, role: encoder.encode([text], role)[0]) >= LOWEST_COSINE
    assert sha256_file(model_folder(registered("pypi"), prepared_cache) / "model.onnx") == GRAPH_SHA256


@pytest.mark.model
def test_swapped_roles_are_told(prepared_cache: Path) -> None:
    encoder = load_encoder(ModelConfig(), prepared_cache)
    swapped: dict[Role, Role] = {"query": "passage", "passage": "query"}
    with pytest.raises(ModelError, match="12 of 12 vectors are off"):
        check(lambda text, role: encoder.encode([text], swapped[role])[0])


QUERIES = ("how much protein should a female eat", "南瓜的家常做法")
PASSAGES = (
    "As a general guideline, the CDC's average requirement of protein for women ages 19 to 70 is 46 grams per day. "
    "But, as you can see from this chart, you'll need to increase that if you're expecting or training for a marathon. "
    "Check out the chart below to see how much protein you should be eating each day.",
    "1.清炒南瓜丝 原料:嫩南瓜半个 调料:葱、盐、白糖、鸡精 做法: 1、南瓜用刀薄薄的削去表面一层皮,用勺子刮去瓤 "
    "2、擦成细丝(没有擦菜板就用刀慢慢切成细丝) 3、锅烧热放油,入葱花煸出香味 4、入南瓜丝快速翻炒一分钟左右,放盐、"
    "一点白糖和鸡精调味出锅 2.香葱炒南瓜 原料:南瓜1只 调料:香葱、蒜末、橄榄油、盐 做法: 1、将南瓜去皮,切成片 "
    "2、油锅8成热后,将蒜末放入爆香 3、爆香后,将南瓜片放入,翻炒 4、在翻炒的同时,可以不时地往锅里加水,但不要太多 "
    "5、放入盐,炒匀 6、南瓜差不多软和绵了之后,就可以关火 7、撒入香葱,即可出锅",
)
"""The examples of the model's card (intfloat/multilingual-e5-small, MIT)."""


@pytest.mark.model
def test_the_model_card_s_examples(prepared_cache: Path) -> None:
    """Float32 gives the published order with known cosines; the q8 graph stays within 0.997 of it."""
    vectors = {}
    for precision in ("float32", "q8"):
        encoder = load_encoder(ModelConfig(precision=precision), prepared_cache)
        vectors[precision] = encoder.encode(QUERIES, "query"), encoder.encode(PASSAGES, "passage")
    queries, passages = vectors["float32"]
    assert queries @ passages.T == pytest.approx(np.array([[0.932, 0.764], [0.749, 0.914]]), abs=6e-4)
    for reference, quick in zip(vectors["float32"], vectors["q8"], strict=True):
        assert (reference * quick).sum(axis=1).min() >= 0.997
