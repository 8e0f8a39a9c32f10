"""Writing the float32 reference: a folder that `SentenceTransformer(path)` loads.

The weights are the source's, dequantised and not otherwise changed. `model.safetensors` is written here, a
slice of rows at a time: the format is a length, a JSON header and the raw tensors, and the word table as
float32 would take 400 MB of memory twice.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.weights import Architecture, Weights
from ragkit.errors import FileError

PROMPTS = {"query": "query: ", "document": "passage: "}
_ROWS = 16384
_LAYER_NAMES = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


def write_reference(weights: Weights, tokenizer: bytes, folder: Path) -> None:
    """Fill `folder` (made if needed). The same weights, the same bytes. Raises `FileError`."""
    architecture = weights.architecture
    vocabulary = weights.vocabulary
    specials = {
        f"{name}_token": vocabulary.pieces[getattr(vocabulary, name)][0] for name in ("bos", "eos", "pad", "unk")
    }
    files: dict[str, Any] = {
        "config.json": _config(architecture, vocabulary.pad, vocabulary.bos, vocabulary.eos),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": architecture.positions,
            "clean_up_tokenization_spaces": False,
            "cls_token": specials["bos_token"],
            "sep_token": specials["eos_token"],
            **specials,
        },
        "modules.json": [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
        "sentence_bert_config.json": {"max_seq_length": architecture.positions, "do_lower_case": False},
        "1_Pooling/config.json": {
            "word_embedding_dimension": architecture.hidden,
            "pooling_mode_cls_token": False,
            "pooling_mode_mean_tokens": True,
            "pooling_mode_max_tokens": False,
            "pooling_mode_mean_sqrt_len_tokens": False,
        },
        "config_sentence_transformers.json": {
            "prompts": PROMPTS,
            "default_prompt_name": None,
            "similarity_fn_name": "cosine",
        },
    }
    try:
        for name in ("1_Pooling", "2_Normalize"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes((json.dumps(content, indent=2, sort_keys=True) + "\n").encode())
        (folder / "tokenizer.json").write_bytes(tokenizer)
        _write_safetensors(weights, folder / "model.safetensors")
    except OSError as error:
        raise FileError(f"{folder}: the reference model can't be written: {error.strerror or error}") from error


def _config(architecture: Architecture, pad: int, bos: int, eos: int) -> dict[str, Any]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": architecture.hidden,
        "num_hidden_layers": architecture.layers,
        "num_attention_heads": architecture.heads,
        "intermediate_size": architecture.ffn,
        "vocab_size": architecture.words,
        "max_position_embeddings": architecture.positions,
        "type_vocab_size": architecture.types,
        "layer_norm_eps": architecture.epsilon,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "pad_token_id": pad,
        "bos_token_id": bos,
        "eos_token_id": eos,
        "torch_dtype": "float32",
    }


def _bert_name(name: str) -> str:
    """The name of one of our tensors in a `BertModel`."""
    part, _, rest = name.partition(".")
    if part == "emb":
        return {
            "word": "embeddings.word_embeddings.weight",
            "pos": "embeddings.position_embeddings.weight",
            "type": "embeddings.token_type_embeddings.weight",
            "ln.w": "embeddings.LayerNorm.weight",
            "ln.b": "embeddings.LayerNorm.bias",
        }[rest]
    module, kind = rest.split(".")
    return f"encoder.layer.{part[1:]}.{_LAYER_NAMES[module]}.{'weight' if kind == 'w' else 'bias'}"


def _write_safetensors(weights: Weights, path: Path) -> None:
    shapes = weights.architecture.shapes()
    hidden = weights.architecture.hidden
    # A BertModel has a pooler, which mean pooling never reads; without one in the file it is made up at random.
    pooler = {"pooler.dense.weight": (hidden, hidden), "pooler.dense.bias": (hidden,)}
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in ({_bert_name(name): shape for name, shape in shapes.items()} | pooler).items():
        start, end = end, end + 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, end]}
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-len(encoded) % 8)  # tensors start aligned
    with path.open("wb") as stream:
        stream.write(struct.pack("<Q", len(encoded)) + encoded)
        for name, shape in shapes.items():
            for part in _slices(weights, name, shape[0]):
                stream.write(part.astype("<f4", copy=False).tobytes())
        stream.write(bytes(4 * hidden * (hidden + 1)))


def _slices(weights: Weights, name: str, rows: int) -> Iterator[NDArray[np.float32]]:
    for start in range(0, rows, _ROWS):
        yield weights.tensor(name, start, min(start + _ROWS, rows))
