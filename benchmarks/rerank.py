"""What maxsim reranking of 50 candidates adds to a dense search, with the chunks' token vectors stored.

The pass through the model that gives a question's vector gives its tokens' vectors too, as in a run. Nobody's peer:
the two ways differ by the stage alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from frame import Section, rows
from timing import alternate

from ragkit.config import DEFAULT_PATH, load
from ragkit.dataset import read_questions
from ragkit.embedding import cache_root
from ragkit.indexing import Clock, indexed
from ragkit.records import Hit, Progress
from ragkit.retrieval.maxsim import MaxSim

CANDIDATES = 50


@contextmanager
def silent(label: str, total: int | None) -> Iterator[Progress]:
    yield lambda _: None


def measure(quick: bool) -> Section:
    settings = load(DEFAULT_PATH)
    questions = read_questions(Path(settings.dataset.questions))
    asked = [question.question for question in questions[:: 60 if quick else 6]]
    with indexed(settings, cache=cache_root(), progress=silent, clock=Clock()) as index:
        reranker = MaxSim(index.store, index.encoder)

        def first(question: str) -> Sequence[Hit]:
            return index.retriever.trace(question, settings.retrieval.candidate_k).kept[:CANDIDATES]

        scored = [reranker.scores(question, first(question)) for question in asked]
        ways = {
            "ragkit dense": lambda: [first(question) for question in asked],
            f"ragkit dense, then maxsim over {CANDIDATES}": lambda: [
                reranker.scores(question, first(question)) for question in asked
            ],
        }
        found = rows(
            f"reranking for {len(asked)} questions",
            alternate(ways),
            ours=list(ways),
            peers=[],
            amount=len(asked),
            unit="questions",
            checked=f"{sum(map(len, scored)):,} scores, greatest {max(map(max, scored)):.3f}",
        )
    return Section("Reranking", found, ("onnxruntime", "apsw"))
