"""The pinned model itself, prepared: what the model card promises, and that nothing around a text moves its vector."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from ragkit.config import ModelConfig
from ragkit.embedding import Encoder, TextError, cached, load_encoder

pytestmark = pytest.mark.model

QUERIES = ["how much protein should a female eat", "南瓜的家常做法"]
PASSAGES = [
    "As a general guideline, the CDC's average requirement of protein for women ages 19 to 70 is 46 grams per day. "
    "But, as you can see from this chart, you'll need to increase that if you're expecting or training for a marathon. "
    "Check out the chart below to see how much protein you should be eating each day.",
    "1.清炒南瓜丝 原料:嫩南瓜半个 调料:葱、盐、白糖、鸡精 做法: 1、南瓜用刀薄薄的削去表面一层皮,用勺子刮去瓤 "
    "2、擦成细丝(没有擦菜板就用刀慢慢切成细丝) 3、锅烧热放油,入葱花煸出香味 4、入南瓜丝快速翻炒一分钟左右,"
    "放盐、一点白糖和鸡精调味出锅",
]


@pytest.fixture(scope="module")
def encoder(prepared_cache: Path) -> Encoder:
    return load_encoder(ModelConfig(), prepared_cache)


def test_each_question_is_nearest_to_its_own_passage(encoder: Encoder) -> None:
    similarity = encoder.encode(QUERIES, "query") @ encoder.encode(PASSAGES, "passage").T
    np.testing.assert_allclose(similarity[0], [0.932, 0.764], atol=0.01)
    assert similarity[1, 1] > similarity[1, 0] + 0.1


def test_loading_and_encoding_open_no_socket(prepared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    assert load_encoder(ModelConfig(), prepared_cache).encode(QUERIES, "query").shape == (2, 384)


def test_order_company_callers_and_cache_never_move_a_vector(encoder: Encoder, tmp_path: Path) -> None:
    texts = [*PASSAGES, *QUERIES, "", "a", "word " * 300]
    expected = encoder.encode(texts, "passage")
    assert encoder.encode(texts[::-1], "passage")[::-1].tobytes() == expected.tobytes()
    assert np.stack([encoder.encode([text], "passage")[0] for text in texts]).tobytes() == expected.tobytes()
    assert cached(encoder, tmp_path).encode(texts, "passage").tobytes() == expected.tobytes()
    assert cached(encoder, tmp_path).encode(texts, "passage").tobytes() == expected.tobytes()
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(encoder.encode(texts, "passage").tobytes())) for _ in "123"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {expected.tobytes()}


def test_a_thousand_chinese_characters_are_refused_not_cut(encoder: Encoder) -> None:
    with pytest.raises(TextError, match=r"text 1: \d+ tokens .* at most 512"):
        encoder.encode(["fits", "如何统计信息检索的显著性差异" * 72], "passage")
