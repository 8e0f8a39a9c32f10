"""Evidence: which share of the judged text was retrieved, and which share of the retrieved text is judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ragkit.measures.coverage import Coverage, Interval, intervals_of, merged
from ragkit.records import Chunk, Target


def evidence(coverage: Coverage, chunks: Sequence[Chunk], targets: Iterable[Target]) -> tuple[float, float] | None:
    """Evidence recall and precision of the given (first k) chunks; each in [0, 1].

    With U the union of the chunks' spans and J the union of the judged quotes and blocks, in
    non-whitespace characters: recall = |U and J| / |J|, precision = |U and J| / sum of the chunks'
    lengths, repeats counted. Without chunks both are 0. Page and document judgments are left out;
    `None` when no other is there.

    Two chunks that both hold the whole of a judged block and nothing else have recall 1, precision 0.5.
    """
    judged: dict[str, list[Interval]] = defaultdict(list)
    for target in targets:
        if target.kind in {"quote", "block"}:
            judged[target.slug] += intervals_of(target.spans)
    if not judged:
        return None
    retrieved: dict[str, list[Interval]] = defaultdict(list)
    for chunk in chunks:
        retrieved[chunk.slug] += intervals_of(chunk.spans)
    wanted = found = 0
    for slug, spans in judged.items():
        union = merged(spans)
        wanted += coverage.length(slug, union)
        found += coverage.common(slug, union, merged(retrieved.get(slug, ())))
    read = sum(coverage.length(slug, spans) for slug, spans in retrieved.items())
    return (found / wanted if wanted else 0.0, found / read if read else 0.0)
