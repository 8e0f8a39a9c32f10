"""Hashes that say whether two runs saw the same data."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ragkit.files import canonical_line, sha256_bytes, sha256_file
from ragkit.records import Document


def dataset_hashes(
    documents: Iterable[Document], questions_path: Path, splits_path: Path | None
) -> dict[str, str | None]:
    """SHA-256, in hexadecimal, of `corpus`, `questions` and `splits` (`None` without a splits file).

    The corpus is hashed as the sorted list of its slugs and their files' hashes. Raises `FileError`.
    """
    pairs = sorted((document.slug, document.sha256) for document in documents)
    return {
        "corpus": sha256_bytes("".join(canonical_line(pair) for pair in pairs).encode()),
        "questions": sha256_file(questions_path),
        "splits": sha256_file(splits_path) if splits_path is not None else None,
    }
