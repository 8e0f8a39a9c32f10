"""The encoder as its papers write it, in float64 and numpy, to compare with."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ragkit.embedding.weights import Weights

Array = NDArray[np.float64]
_erf = np.vectorize(math.erf)


def encode(weights: Weights, ids: list[int]) -> Array:
    """The vector (hidden,) of one text: mean over its tokens, length 1."""
    a = weights.architecture

    def tensor(name: str) -> Array:
        return weights.tensor(name).astype(np.float64)

    def norm(name: str, x: Array) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + a.epsilon)
        return centred / deviation * tensor(f"{name}.w") + tensor(f"{name}.b")

    def dense(name: str, x: Array) -> Array:
        return x @ tensor(f"{name}.w").T + tensor(f"{name}.b")

    def heads(x: Array) -> Array:
        return x.reshape(len(ids), a.heads, -1).transpose(1, 0, 2)

    x = norm("emb.ln", tensor("emb.word")[ids] + tensor("emb.pos")[: len(ids)] + tensor("emb.type")[0])
    for layer in (f"l{i}" for i in range(a.layers)):
        query, key, value = (heads(dense(f"{layer}.{part}", x)) for part in "qkv")
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(a.hidden // a.heads)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        attended = (shares @ value).transpose(1, 0, 2).reshape(len(ids), a.hidden)
        x = norm(f"{layer}.aln", dense(f"{layer}.ao", attended) + x)
        inner = dense(f"{layer}.fi", x)
        inner = inner * 0.5 * (1 + _erf(inner / math.sqrt(2)))
        x = norm(f"{layer}.oln", dense(f"{layer}.fo", inner) + x)
    mean: Array = x.mean(axis=0)
    return mean / np.linalg.norm(mean)
