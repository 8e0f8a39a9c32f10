"""Milliseconds of maxsim reranking for a question, with stored token vectors, on the committed corpus.

    python benchmarks/rerank.py [QUESTIONS]      # default 60; the first run embeds the corpus

Wants the prepared model. The stage is timed as a search pays for it, after the first stage, whose pass
through the model gave the question's tokens too: the vectors of 50 candidates from the database, one matrix product;
then its parts alone. CPU time is that
of all threads, and what a busy machine leaves comparable.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import TypeVar

import timing

from ragkit.config import DEFAULT_PATH, load
from ragkit.dataset import read_questions
from ragkit.embedding import cache_root
from ragkit.experiment import Clock, indexed
from ragkit.records import Progress
from ragkit.retrieval.maxsim import MaxSim, max_sim

Value = TypeVar("Value")


@contextmanager
def silent(label: str, total: int | None) -> Iterator[Progress]:
    yield lambda _: None


def main(count: int) -> None:
    settings = load(DEFAULT_PATH)
    seconds: dict[str, list[tuple[float, float]]] = {}

    def timed(name: str, work: Callable[[], Value]) -> Value:
        wall, cpu = time.perf_counter(), time.process_time()
        value = work()
        seconds.setdefault(name, []).append((time.perf_counter() - wall, time.process_time() - cpu))
        return value

    with indexed(settings, cache=cache_root(), progress=silent, clock=Clock()) as index:
        reranker = MaxSim(index.store, index.cached)
        for question in read_questions(Path(settings.dataset.questions))[:count]:
            asked = question.question
            hits = index.retriever.trace(asked, settings.retrieval.candidate_k).kept[:50]
            timed("the stage", lambda: reranker.scores(asked, hits))  # noqa: B023  called at once
            [tokens] = timed("question's tokens", lambda: index.cached.encode_tokens([asked], "query"))  # noqa: B023
            stored = timed("stored vectors", lambda: index.store.tokens([hit.chunk for hit in hits]))  # noqa: B023
            timed("scores", lambda: max_sim(tokens, stored))  # noqa: B023
    body = []
    for name, pairs in seconds.items():
        wall, cpu = ([1000 * pair[which] for pair in pairs] for which in (0, 1))
        body.append(
            [name, *(f"{value:.1f}" for value in (median(wall), quantiles(wall, n=20)[-1], median(cpu), min(cpu)))]
        )
    timing.show("maxsim over 50 candidates, ms", body, ("part", "p50", "p95", "CPU p50", "CPU least"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
