"""The tokenizer: ids as the vocabulary numbers them, sentencepiece's normalisation, nothing cut off."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ragkit.embedding import tokenizer as module
from ragkit.embedding.tokenizer import Tokenizer, from_tokenizer_json, tokenizer_json, tokenizer_model
from ragkit.embedding.weights import Vocabulary, Weights
from ragkit.errors import ModelError
from tests.embedding.tiny import write_tiny


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    return Weights(write_tiny(tmp_path_factory.mktemp("tokenizer") / "w.bin")).vocabulary


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary) -> Tokenizer:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    path.write_bytes(tokenizer_model(vocabulary))
    return Tokenizer(path)


def words(tokenizer: Tokenizer, vocabulary: Vocabulary, text: str) -> list[str]:
    return [vocabulary.pieces[i][0] for i in tokenizer.encode(text)]


def test_pieces_between_the_specials(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    found = words(tokenizer, vocabulary, "query: the token")
    assert found == ["<s>", "\u2581query", ":", "\u2581the", "\u2581token", "</s>"]
    assert words(tokenizer, vocabulary, "") == ["<s>", "</s>"]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ｍｏｄｅｌ", "model"),
        ("ﬁ", "fi"),
        ("the\u00a0\u3000 of\n", "the of"),
        ("rivie\u0300re", "rivière"),
        ("ﾃﾞす", "デす"),
    ],
)
def test_normalised_by_sentencepiece_rules(tokenizer: Tokenizer, text: str, same: str) -> None:
    assert tokenizer.encode(text) == tokenizer.encode(same)


def test_what_no_piece_covers_is_unknown(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    assert words(tokenizer, vocabulary, "ж") == ["<s>", "\u2581", "<unk>", "</s>"]


def test_long_texts_are_not_cut(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.encode("water " * 5000)) > 5000


def test_spans_are_characters_of_the_text_as_it_was_given(tokenizer: Tokenizer) -> None:
    text = "the 南瓜, rivie\u0300re"
    found = [text[start:end] for start, end in tokenizer.spans(text)]
    assert found[0] == "the"
    assert "南" in found
    assert found[-1] == "rivie\u0300re"
    assert [text[start:end] for start, end in tokenizer.spans("")] == []


def test_the_same_vocabulary_gives_the_same_bytes(vocabulary: Vocabulary) -> None:
    assert tokenizer_json(vocabulary) == tokenizer_json(vocabulary)
    assert tokenizer_model(vocabulary) == tokenizer_model(vocabulary)


def test_other_rules_of_normalising_are_refused(vocabulary: Vocabulary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHARSMAP_SHA256", "0" * 64)
    with pytest.raises(ModelError, match=r"sentencepiece .* constraints\.txt"):
        tokenizer_json(vocabulary)
    with pytest.raises(ModelError, match="sentencepiece"):
        tokenizer_model(vocabulary)


def test_the_form_that_others_read_cuts_texts_alike(vocabulary: Vocabulary, tokenizer: Tokenizer) -> None:
    """What the float32 reference is given by `tokenizers` is what the q8 graph is given by sentencepiece."""
    from tokenizers import Tokenizer as Other

    other = Other.from_str(tokenizer_json(vocabulary).decode())
    for text in (
        "query: the token",
        "",
        " ",
        "the\u00a0\u3000 of\n",
        "rivie\u0300re 南瓜, ж ﬁ",
        "\x00 10² \u200b",
        "\u2581 x",
    ):
        assert tokenizer.encode(text) == other.encode(text).ids


def test_a_text_that_spells_a_special_token_is_a_text(tokenizer: Tokenizer, vocabulary: Vocabulary) -> None:
    inner = tokenizer.encode("the </s> of <mask>")[1:-1]
    assert not {vocabulary.bos, vocabulary.eos, vocabulary.pad} & set(inner)


def test_a_tokenizer_json_becomes_the_same_model(vocabulary: Vocabulary, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    entries = json.loads(tokenizer_json(vocabulary))
    path.write_text(json.dumps(entries))
    assert from_tokenizer_json(path) == tokenizer_model(vocabulary)
    spaces = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    entries["normalizer"] = {"type": "Sequence", "normalizers": [entries["normalizer"], spaces]}
    path.write_text(json.dumps(entries))
    assert from_tokenizer_json(path) == tokenizer_model(vocabulary)


@pytest.mark.parametrize("content", ["", "{}", '{"model": {"vocab": [["a", 1]]}}', '{"model": {"vocab": {"a": 1}}}'])
def test_another_kind_of_tokenizer_json_is_a_model_error(tmp_path: Path, content: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(content)
    with pytest.raises(ModelError, match=r"tokenizer\.json: not a Unigram tokenizer"):
        from_tokenizer_json(path)


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"version": "1.0", "model": {"type": "Uni'])
def test_a_damaged_file_is_a_model_error(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "tokenizer.model"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError, match=r"tokenizer\.model: the tokenizer can't be loaded"):
        Tokenizer(path)


def test_importing_loads_no_heavy_library() -> None:
    heavy = "onnx", "onnxruntime", "tokenizers", "sentencepiece", "torch", "transformers"
    code = f"import sys, ragkit.embedding.convert; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
