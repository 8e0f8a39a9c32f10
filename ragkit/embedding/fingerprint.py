"""The known answers: a dozen texts in six languages whose vectors are committed.

They tell a prepared model that isn't the one the committed numbers were made with: another tokenizer, a
missing prefix, integers that saturate, a damaged kernel. Float operations differ between processors in their
last bits and rounding to integers magnifies that, so vectors are compared by cosine: between processors
0.9996 was the lowest seen; a missing prefix gives 0.998 at best.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import ModelError
from ragkit.records import Role

LOWEST_COSINE = 0.999


@dataclass(frozen=True, slots=True)
class Probe:
    """`vector` is what the q8 graph gives for `text` in `role`, rounded to 6 decimals."""

    role: Role
    text: str
    vector: tuple[float, ...]


@cache
def probes() -> tuple[Probe, ...]:
    """The committed ones."""
    content = resources.files("ragkit.embedding").joinpath("data/fingerprint.json").read_text(encoding="utf-8")
    return tuple(Probe(entry["role"], entry["text"], tuple(entry["vector"])) for entry in json.loads(content))


def check(encode: Callable[[str, Role], NDArray[np.float32]], known: Sequence[Probe] | None = None) -> float:
    """The lowest cosine between the vectors `encode` gives and the known ones (the committed, by default).

    `encode(text, role)` adds the role's prefix and gives a vector (dimension,). Raises `ModelError` when a
    vector is below `LOWEST_COSINE`, naming the worst.
    """
    compared = [(_cosine(encode(probe.text, probe.role), probe), probe) for probe in known or probes()]
    cosine, worst = min(compared, key=lambda pair: pair[0])
    if cosine < LOWEST_COSINE:
        below = sum(cosine < LOWEST_COSINE for cosine, _ in compared)
        raise ModelError(
            f"The model does not give the known answers: {below} of {len(compared)} vectors are off, the worst has "
            f"cosine {cosine:.4f} to the known one, at least {LOWEST_COSINE} is expected ({worst.role}: {worst.text!r}). "
            "Install the versions that constraints.txt pins, then run: ragkit prepare --force"
        )
    return cosine


def _cosine(vector: NDArray[np.float32], probe: Probe) -> float:
    """-1 for a vector that is of another size, zero or not finite: as wrong as can be."""
    found, known = vector.astype(np.float64).ravel(), np.array(probe.vector)
    if found.shape != known.shape or not np.isfinite(found).all() or not found.any():
        return -1.0
    return float(found @ known / (np.linalg.norm(found) * np.linalg.norm(known)))
