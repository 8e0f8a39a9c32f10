"""The passage measures once more, written from their definitions: sets of characters, sorted lists, every order tried.

Slow and obvious on purpose; nothing of ragkit.measures is used. A "character" is a pair (document, offset) of a
character that isn't white space. Judgments come as their author wrote them and are located here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from ragkit.records import Block, Chunk, Document, Hit, Judgment, Question, Trace

Characters = frozenset[tuple[str, int]]
TokenSpans = Callable[[str], Sequence[tuple[int, int]]]
BUDGETS = (1000, 2000, 4000)


class Reference:
    """Scores one question at a time."""

    def __init__(self, documents: Sequence[Document], chunks: Sequence[Chunk], tokens: TokenSpans, top_k: int) -> None:
        self.documents = {document.slug: document for document in documents}
        self.chunks = chunks
        self.tokens = tokens
        self.depth = max(top_k, 10)
        self._held: dict[tuple[str, int], Characters] = {}

    # ------------------------------------------------------------------ characters

    def between(self, slug: str, start: int, end: int) -> Characters:
        text = self.documents[slug].text
        return frozenset((slug, at) for at in range(start, end) if not text[at].isspace())

    def of_block(self, slug: str, block: Block) -> Characters:
        return self.between(slug, block.start, block.end)

    def of_chunk(self, chunk: Chunk) -> Characters:
        key = (chunk.slug, chunk.index)
        if key not in self._held:
            parts = (self.between(chunk.slug, span.start, span.end) for span in chunk.spans)
            self._held[key] = frozenset().union(*parts)
        return self._held[key]

    def of_quote(self, judgment: Judgment) -> Characters | None:
        """The quote's one place, in its block or, without one, wherever it is; `None` when it is nowhere."""
        document = self.documents[judgment.document]
        blocks = document.blocks if judgment.block is None else [document.blocks[judgment.block]]
        for block in blocks:
            at = block.text.find(judgment.quote or "")
            if at >= 0:
                start = block.start + at
                return self.between(document.slug, start, start + len(judgment.quote or ""))
        return None

    def of_judgment(self, judgment: Judgment) -> Characters | None:
        blocks = self.documents[judgment.document].blocks
        if judgment.quote is not None:
            return self.of_quote(judgment)
        if judgment.block is not None:
            return self.of_block(judgment.document, blocks[judgment.block])
        chosen = [block for block in blocks if judgment.page is not None and block.page == judgment.page]
        return frozenset().union(*(self.of_block(judgment.document, block) for block in chosen))

    # -------------------------------------------------------------------- coverage

    def covers(self, held: Characters, judgment: Judgment) -> bool:
        """Whether these characters, of whatever they come, cover the judgment."""
        if judgment.quote is None and judgment.block is None and judgment.page is None:
            return any(slug == judgment.document for slug, _ in held)
        wanted = self.of_judgment(judgment)
        if not wanted:
            return False
        if judgment.quote is not None:
            return wanted <= held
        return len(wanted & held) >= min(len(wanted) / 2, 200)

    def groups(self, question: Question) -> list[list[Judgment]]:
        found: dict[object, list[Judgment]] = {}
        for number, judgment in enumerate(question.relevant):
            found.setdefault(number if judgment.group is None else judgment.group, []).append(judgment)
        return list(found.values())

    def covered(self, chunk: Chunk, question: Question) -> set[int]:
        held = self.of_chunk(chunk)
        groups = self.groups(question)
        return {number for number, members in enumerate(groups) if any(self.covers(held, each) for each in members)}

    # -------------------------------------------------------------------- measures

    def first_ranks(self, question: Question, chunks: Sequence[Chunk]) -> list[int | None]:
        ranks: list[int | None] = []
        for group in range(len(self.groups(question))):
            found = [rank for rank, chunk in enumerate(chunks, start=1) if group in self.covered(chunk, question)]
            ranks.append(min(found) if found and min(found) <= self.depth else None)
        return ranks

    def grades(self, question: Question) -> list[int]:
        return [max(each.grade for each in members) for members in self.groups(question)]

    def of_ranks(self, ranks: Sequence[int | None], grades: Sequence[int]) -> dict[str, float]:
        """Recall, MRR and nDCG."""
        within = {k: [r is not None and r <= k for r in ranks] for k in (1, 5, 10)}
        values = {f"Recall@{k}": sum(found) / len(ranks) for k, found in within.items()}
        best = min((r for r in ranks if r is not None), default=math.inf)
        values["MRR"] = 1 / best if best <= 10 else 0.0
        unplaced = list(range(len(ranks)))
        gained = []
        for slot in range(1, 11):
            ready = [j for j in unplaced if (r := ranks[j]) is not None and r <= slot]
            ready.sort(key=lambda j: -grades[j])  # stable: label order among equals
            gained.append(grades[ready[0]] if ready else 0)
            unplaced = [j for j in unplaced if not ready or j != ready[0]]
        values["nDCG@10"] = dcg(gained) / dcg(sorted(grades, reverse=True)[:10])
        return values

    def evidence(self, question: Question, chunks: Sequence[Chunk]) -> dict[str, float]:
        judged = [self.of_judgment(j) for j in question.relevant if j.quote is not None or j.block is not None]
        places = [place for place in judged if place is not None]
        if not places:
            return {}
        wanted: Characters = frozenset().union(*places)
        retrieved = [self.of_chunk(chunk) for chunk in chunks[:5]]
        union: Characters = frozenset().union(*retrieved)
        read = sum(map(len, retrieved))
        found = len(wanted & union)
        return {"EvidenceRecall@5": found / len(wanted), "EvidencePrecision@5": found / read if read else 0.0}

    def kept(self, chunks: Sequence[Chunk], budget: int) -> Characters:
        """The characters of the first `budget` tokens; a chunk is cut behind its last token that is kept."""
        kept: set[tuple[str, int]] = set()
        left = budget
        for chunk in chunks:
            tokens = list(self.tokens(chunk.text))
            whole = self.of_chunk(chunk)
            if len(tokens) <= left:
                kept |= whole
            elif left > 0:
                limit = chunk.start + max(end for _, end in tokens[:left])
                kept |= {(slug, at) for slug, at in whole if at < limit}
            left -= min(left, len(tokens))
        return frozenset(kept)

    def of_budgets(self, question: Question, chunks: Sequence[Chunk]) -> dict[str, float]:
        values = {}
        for budget in BUDGETS:
            kept = self.kept(chunks, budget)
            found = [any(self.covers(kept, each) for each in members) for members in self.groups(question)]
            values[f"Recall@{budget}tok"] = sum(found) / len(found)
        return values

    def values(self, question: Question, chunks: Sequence[Chunk]) -> dict[str, float]:
        return {
            **self.of_ranks(self.first_ranks(question, chunks), self.grades(question)),
            **self.evidence(question, chunks),
            **self.of_budgets(question, chunks),
        }

    # ---------------------------------------------------------- chance, ties, losses

    def chance(self, question: Question) -> dict[str, float]:
        """Means over every order of all chunks."""
        orders = list(itertools.permutations(self.chunks))
        rows = []
        for order in orders:
            ranks = self.first_ranks(question, order)
            rows.append({f"Recall@{k}": recall(ranks, k) for k in (1, 5, 10)} | self.of_budgets(question, order))
        return {name: math.fsum(row[name] for row in rows) / len(rows) for name in rows[0]}

    def orders(self, hits: Sequence[Hit]) -> Iterator[tuple[Chunk, ...]]:
        """Every order that equal scores leave open."""
        tied = [[hit.chunk for hit in group] for _, group in itertools.groupby(hits, key=lambda hit: hit.score)]
        for parts in itertools.product(*(list(itertools.permutations(group)) for group in tied)):
            yield tuple(itertools.chain(*parts))

    def losses(self, question: Question, trace: Trace) -> dict[int, str]:
        """The stage that lost each judgment which no hit within the depth covers."""
        stages = {}
        for group, members in enumerate(self.groups(question)):

            def has(hits: Sequence[Hit], group: int = group) -> bool:
                return any(group in self.covered(hit.chunk, question) for hit in hits)

            whole = [m for m in members if m.quote is None and m.block is None and m.page is None]
            if has(trace.hits[: self.depth]):
                continue
            if not whole and all(self.of_judgment(each) is None for each in members):
                stages[group] = "parse"
            elif not any(group in self.covered(chunk, question) for chunk in self.chunks):
                stages[group] = "chunk"
            elif not has(trace.candidates):
                stages[group] = "candidates"
            elif not has(trace.kept):
                stages[group] = "threshold"
            elif has(trace.kept[: self.depth]):
                stages[group] = "rerank"
            else:
                stages[group] = "rank"
        return stages

    def nearest_wrong(self, question: Question, trace: Trace) -> Hit | None:
        return next((hit for hit in trace.hits if not self.covered(hit.chunk, question)), None)


def recall(ranks: Sequence[int | None], k: int) -> float:
    return sum(r is not None and r <= k for r in ranks) / len(ranks)


def dcg(gains: Sequence[int]) -> float:
    total = 0.0
    for slot, gain in enumerate(gains, start=1):
        total += gain / math.log2(slot + 1)
    return total
