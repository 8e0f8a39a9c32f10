"""Which stage lost a judgment that no hit within k covers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from ragkit.records import Chunk, Hit, Trace

Stage = Literal["parse", "chunk", "candidates", "threshold", "rerank", "rank"]
STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
"""In the order in which a chunk passes them."""


@dataclass(frozen=True, slots=True)
class Loss:
    """Judgment `judgment` (0-based group) was lost at `stage`.

    `nearest_wrong` is the best hit that covers no judgment of the question, what was shown in its
    place; `None` when there is no such hit.
    """

    judgment: int
    stage: Stage
    nearest_wrong: Hit | None


def find_losses(
    trace: Trace,
    covered: Callable[[Chunk], Collection[int]],
    k: int,
    located: Sequence[bool],
    coverable: Sequence[bool],
) -> tuple[Loss, ...]:
    """Every judgment that no one of the first k hits covers, with the stage that lost its last covering chunk.

    parse: found in no block (`located`); chunk: no chunk of the corpus covers it (`coverable`);
    candidates: no covering chunk among the candidates; threshold: none left at or above it; rerank:
    within k before reranking, outside after; rank: too far down all along.
    """

    def within(hits: Sequence[Hit]) -> set[int]:
        return {judgment for hit in hits for judgment in covered(hit.chunk)}

    shown = within(trace.hits[:k])
    lost = [judgment for judgment in range(len(located)) if judgment not in shown]
    if not lost:
        return ()
    candidates, kept, before = within(trace.candidates), within(trace.kept), within(trace.kept[:k])
    wrong = next((hit for hit in trace.hits if not covered(hit.chunk)), None)

    def stage(judgment: int) -> Stage:
        if not located[judgment]:
            return "parse"
        if not coverable[judgment]:
            return "chunk"
        if judgment not in candidates:
            return "candidates"
        if judgment not in kept:
            return "threshold"
        return "rerank" if judgment in before else "rank"

    return tuple(Loss(judgment, stage(judgment), wrong) for judgment in lost)
