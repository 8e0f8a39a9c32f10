"""The tokenizer: building its files, and using one. The one module on `sentencepiece`.

Unigram as XLM-R uses it: text is normalised by sentencepiece's `nmt_nfkc` rule, each word is marked by
U+2581 in front, cut into the likeliest pieces, and put between `<s>` and `</s>`. No truncation and no
padding, ever: a text that is too long is an error higher up. A text that spells a special token is a text.

Runs read `tokenizer.model`, sentencepiece's own form: the library loads it in half the time and a sixth of
the memory that `tokenizers` takes for a `tokenizer.json`, and lets other threads run meanwhile.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ragkit.embedding.weights import Vocabulary
from ragkit.errors import ModelError

CHARSMAP_SHA256 = "1e2c7b43d3ee9755ceaa2ac335e253d8703604e0249ee1e81156c92b46423844"
"""Of the `nmt_nfkc` rule: another one would cut texts into other tokens without a word."""

MASK = "<mask>"


class Tokens(NamedTuple):
    """The pieces of a text, without the special tokens; `spans` are characters of the text, end exclusive."""

    ids: list[int]
    spans: list[tuple[int, int]]


class Tokenizer:
    """A `tokenizer.model`, loaded. Safe to use from several threads.

    Raises `ModelError` when the file is missing or isn't a tokenizer.
    """

    def __init__(self, path: Path) -> None:
        from sentencepiece import SentencePieceProcessor  # 20 ms, and only needed with a model

        try:
            self._backend = SentencePieceProcessor(model_file=str(path))
        except Exception as error:  # whatever is wrong with the file, each cause has a class of its own
            raise ModelError(f"{path}: the tokenizer can't be loaded: {error}. Run: ragkit prepare --force") from error
        self._first, self._last = self._backend.bos_id(), self._backend.eos_id()

    def encode(self, text: str) -> list[int]:
        """The token ids of `text` as it is (put the prefix before it), with `<s>` and `</s>`."""
        return [self._first, *self._backend.encode(text), self._last]

    def tokens(self, text: str) -> Tokens:
        """The pieces of `text` and where each stands; `ids` as `encode` gives them, but for the first and last.

        White space belongs to no piece, so one made of a bare word mark is empty; two pieces share a
        character that normalises to several.
        """
        found = self._backend.encode(text, return_type="offset_mapping")
        spans = [(end - len(text[start:end].lstrip()), end) for start, end in found["offsets"]]
        return Tokens(found["ids"], spans)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each piece stands in `text`."""
        return self.tokens(text).spans


def tokenizer_model(vocabulary: Vocabulary, charsmap: bytes | None = None) -> bytes:
    """The content of `tokenizer.model`: the same vocabulary, the same bytes. Raises `ModelError`.

    `charsmap` is the compiled rule of normalisation, sentencepiece's own `nmt_nfkc` by default.
    """
    from sentencepiece import sentencepiece_model_pb2 as format_

    # Generated when it is imported, so mypy can't see the class.
    model: Any = format_.ModelProto()  # type: ignore[attr-defined]
    kinds: Any = model.SentencePiece
    special = {vocabulary.bos: kinds.CONTROL, vocabulary.eos: kinds.CONTROL, vocabulary.pad: kinds.CONTROL}
    special[vocabulary.unk] = kinds.UNKNOWN
    for number, (piece, score) in enumerate(vocabulary.pieces):
        kind = special.get(number, kinds.CONTROL if piece == MASK else kinds.NORMAL)
        model.pieces.add(piece=piece, score=score, type=kind)
    model.trainer_spec.model_type = model.trainer_spec.UNIGRAM
    for name in ("bos", "eos", "pad", "unk"):
        setattr(model.trainer_spec, f"{name}_id", getattr(vocabulary, name))
        setattr(model.trainer_spec, f"{name}_piece", vocabulary.pieces[getattr(vocabulary, name)][0])
    rule = model.normalizer_spec
    rule.precompiled_charsmap = _charsmap() if charsmap is None else charsmap
    rule.add_dummy_prefix = rule.remove_extra_whitespaces = rule.escape_whitespaces = True
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def from_tokenizer_json(path: Path) -> bytes:
    """The content of `tokenizer.model` for the vocabulary of a `tokenizer.json`.

    Raises `ModelError` for a file that isn't a Unigram tokenizer with one compiled rule of normalisation.
    """
    try:
        entries = json.loads(path.read_bytes())
        pieces = tuple((str(piece), float(score)) for piece, score in entries["model"]["vocab"])
        numbers = {piece: number for number, (piece, _) in reversed(list(enumerate(pieces)))}
        named = {"bos": numbers["<s>"], "eos": numbers["</s>"], "pad": numbers["<pad>"]}
        vocabulary = Vocabulary(pieces, unk=int(entries["model"]["unk_id"]), **named)
        [charsmap] = _charsmaps(entries["normalizer"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: not a Unigram tokenizer of the kind that multilingual-e5 has: {error!r}") from error
    return tokenizer_model(vocabulary, base64.b64decode(charsmap))


def _charsmaps(normalizer: Mapping[str, Any]) -> list[str]:
    """The compiled rules in a normaliser of `tokenizers`, which may be a sequence.

    What else stands there in such files collapses spaces, which sentencepiece does by itself.
    """
    if normalizer["type"] == "Sequence":
        return [found for each in normalizer["normalizers"] for found in _charsmaps(each)]
    return [normalizer["precompiled_charsmap"]] if normalizer["type"] == "Precompiled" else []


def tokenizer_json(vocabulary: Vocabulary) -> bytes:
    """The content of the float32 reference's `tokenizer.json`: the same vocabulary, the same bytes.

    Written here and not by `tokenizers`, whose layout depends on its version. Raises `ModelError`.
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
