"""The tokenizer: building `tokenizer.json` from a vocabulary, and using one. The one module on `tokenizers`.

sentencepiece's Unigram as XLM-R uses it: text is normalised by sentencepiece's `nmt_nfkc` rule, split at
white space, each word marked by U+2581 in front, cut into the likeliest pieces, and put between `<s>`
and `</s>`. No truncation and no padding, ever: a text that is too long is an error higher up.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

from ragkit.embedding.weights import Vocabulary
from ragkit.errors import ModelError

CHARSMAP_SHA256 = "1e2c7b43d3ee9755ceaa2ac335e253d8703604e0249ee1e81156c92b46423844"
"""Of the `nmt_nfkc` rule: another one would cut texts into other tokens without a word."""

MASK = "<mask>"


class Tokenizer:
    """A `tokenizer.json`, loaded. Safe to use from several threads.

    Raises `ModelError` when the file is missing or isn't a tokenizer.
    """

    def __init__(self, path: Path) -> None:
        from tokenizers import Tokenizer as Backend  # heavy (30 ms), and only needed with a model

        try:
            self._backend = Backend.from_file(str(path))
        except Exception as error:  # a bare Exception is what `tokenizers` raises, for every cause
            raise ModelError(f"{path}: the tokenizer can't be loaded: {error}. Run: ragkit prepare --force") from error
        self._backend.no_truncation()
        self._backend.no_padding()

    def encode(self, text: str) -> list[int]:
        """The token ids of `text` as it is (put the prefix before it), with `<s>` and `</s>`."""
        ids: list[int] = self._backend.encode(text).ids
        return ids

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each token stands in `text`: character offsets, end exclusive; no prefix, no specials.

        A token made of a bare word mark is empty; two tokens share a character that normalises to several.
        """
        spans: list[tuple[int, int]] = self._backend.encode(text, add_special_tokens=False).offsets
        return spans


def tokenizer_json(vocabulary: Vocabulary) -> bytes:
    """The content of `tokenizer.json`: the same vocabulary, the same bytes. Raises `ModelError`.

    Written here and not by `tokenizers`, whose layout depends on its version.
    """
    named = {name: vocabulary.pieces[getattr(vocabulary, name)][0] for name in ("bos", "eos", "pad", "unk")}
    specials = {getattr(vocabulary, name): piece for name, piece in named.items()}
    specials |= {i: piece for i, (piece, _) in enumerate(vocabulary.pieces) if piece == MASK}
    first = {"SpecialToken": {"id": named["bos"], "type_id": 0}}
    last = {"SpecialToken": {"id": named["eos"], "type_id": 0}}
    a, b = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    content: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": i,
                "content": piece,
                "single_word": False,
                "lstrip": piece == MASK,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for i, piece in sorted(specials.items())
        ],
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(_charsmap()).decode()},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "WhitespaceSplit"},
                {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
            ],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, a, last],
            "pair": [first, a, last, last, b, last],
            "special_tokens": {
                named[name]: {"id": named[name], "ids": [getattr(vocabulary, name)], "tokens": [named[name]]}
                for name in ("bos", "eos")
            },
        },
        "decoder": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        "model": {
            "type": "Unigram",
            "unk_id": vocabulary.unk,
            "vocab": vocabulary.pieces,
            "byte_fallback": False,
        },
    }
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _charsmap() -> bytes:
    """sentencepiece's own table for the rule `nmt_nfkc`."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    rule = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
    try:
        # Generated when it is imported, so mypy can't see the class.
        model = sentencepiece_model_pb2.ModelProto.FromString(rule.serialized_model_proto())  # type: ignore[attr-defined]
        charsmap: bytes = model.normalizer_spec.precompiled_charsmap
    except UnicodeDecodeError:  # before 0.2.3 it takes its own bytes for text
        charsmap = b""
    if hashlib.sha256(charsmap).hexdigest() != CHARSMAP_SHA256:
        raise ModelError(
            f"sentencepiece {sentencepiece.__version__} has other rules of normalising text than the release that the "
            "known answers were made with: install the one that constraints.txt names"
        )
    return charsmap
