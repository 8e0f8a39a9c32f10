"""Small evaluations, as metrics.json has them, made from the values of each question."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ragkit.comparison.evaluation import SCHEMA
from ragkit.measures import CONTRACT

CONFIGURATION = {
    "name": "v1.4",
    "dataset": {"split": "all"},
    "model": {"name": "hashing", "source": "builtin"},
    "chunking": {"strategy": "recursive", "chunk_size": 500},
    "retrieval": {"strategy": "dense", "top_k": 10},
    "answers": {"context_k": 5},
    "evaluation": {"unit": "passage", "seed": 1},
}


def evaluation(
    recall: Sequence[float],
    ndcg: Sequence[float] | None = None,
    *,
    name: str = "v1.4",
    bounds: dict[int, dict[str, list[float]]] | None = None,
    documents: Sequence[str] | None = None,
    types: Sequence[str | None] | None = None,
    budget: Sequence[float] | None = None,
) -> dict[str, Any]:
    """metrics.json with one question per value of Recall@5; nDCG@10 is 0.5 throughout unless given.

    Every third question is in dev. Each question is on its own document unless `documents` says.
    """
    questions = []
    for i, value in enumerate(recall):
        measures = {"Recall@5": value, "nDCG@10": ndcg[i] if ndcg else 0.5}
        if budget:
            measures["Recall@1000tok"] = budget[i]
        questions.append(
            {
                "id": f"q{i}",
                "question": f"Question {i}?",
                "type": types[i] if types else "exact",
                "split": "dev" if i % 3 == 0 else "test",
                "answerable": True,
                "documents": [documents[i] if documents else f"{i}.md"],
                "measures": measures,
                "bounds": (bounds or {}).get(i, {}),
                "first_ranks": [1 if value else None],
                "losses": [] if value else [{"judgment": 0, "stage": "candidates", "nearest_wrong": None}],
                "hits": [{"at": f"{i}.md#2-3" if value else f"{name}.md#{i}", "score": 0.5, "covers": [0] if value else []}],
            }
        )  # fmt: skip
    return {
        "schema": SCHEMA,
        "configuration": {**copy.deepcopy(CONFIGURATION), "name": name},
        "config_id": f"id-{name}",
        "dataset": {"corpus": "c" * 64, "questions": "q" * 64, "splits": "s" * 64, "chunks": 10, "index_bytes": 15360},
        "model": {"name": "hashing", "source": "builtin"},
        "contract": dict(CONTRACT),
        "questions": questions,
    }
