"""Somebody else's retriever, measured on our corpus: its hits become ranges of our parsed documents.

A hit names its document by slug, by a path or URL that ends in it, or by a file name that only one
document has. Its text is then looked for in that document, letters and digits only, so that Markdown
marks, table rules and line breaks of another parser don't matter; whole, else paragraph by paragraph.
A hit without text is its page.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ragkit.config import ExternalRetrieval
from ragkit.errors import DataError, Problem, UsageError
from ragkit.interop.mapping import Mapping, load_mapping
from ragkit.interop.service import connect
from ragkit.interop.shapes import Candidate, Reading
from ragkit.measures import QuestionScore
from ragkit.records import Chunk, Document, Hit, Span, Trace
from ragkit.text import Folded, fold

SHORTEST = 20
"""Letters and digits that a paragraph needs to be looked for on its own."""
Ask = Callable[[str, int], Reading]


@contextmanager
def open_external(
    config: ExternalRetrieval, documents: Sequence[Document], *, whole: bool
) -> Iterator[ExternalRetriever]:
    """The retriever that a configuration names; `whole`: a hit may be a whole document.

    Raises `UsageError` when there is no such function, `ConfigError` and `FileError` for the mapping file.
    """
    mapping = load_mapping(Path(config.mapping)) if config.mapping else Mapping()
    if config.url is not None:
        with connect(config.url, mapping) as service:
            yield ExternalRetriever(service.ask, documents, whole=whole)
    else:
        function = _function(config.source)
        yield ExternalRetriever(lambda question, k: mapping.read(plain(function(question, k))), documents, whole=whole)


def _function(source: str) -> Callable[[str, int], Any]:
    module, _, name = source.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)  # as `python -m` does
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--retriever {source}: there is no module {error.name}: run where it can be imported"
        ) from error
    except AttributeError as error:
        raise UsageError(f"--retriever {source}: {error}") from error
    if not callable(found):
        raise UsageError(f"--retriever {source}: is no function of (question, k)")
    function: Callable[[str, int], Any] = found
    return function


def plain(value: Any) -> Any:
    """JSON values of what libraries return: pydantic models, dataclasses, tuples, numpy numbers."""
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value


class ExternalRetriever:
    """A `Retriever`; `chunks()` has every distinct passage it returned, `lost` how many had an unknown text.

    `search` and `trace` raise `DataError` for an answer that can't be read and for hits that are not of
    the corpus: a system with other documents can't be measured on this one.
    """

    def __init__(self, ask: Ask, documents: Sequence[Document], *, whole: bool) -> None:
        self._ask = ask
        self._whole = whole
        self._documents = {document.slug: document for document in documents}
        self._by_name: dict[str, list[str]] = {}
        for slug in self._documents:
            for name in {slug.rpartition("/")[2], slug.rpartition("/")[2].rpartition(".")[0]}:
                self._by_name.setdefault(name, []).append(slug)
        self._chunks: dict[tuple[str, tuple[Span, ...]], Chunk] = {}
        self._counts: Counter[str] = Counter()
        self._skeleton = cache(lambda slug: _Skeleton(self._documents[slug]))
        self.lost = 0

    def search(self, question: str, k: int) -> list[Hit]:
        """At most `k` passages, best first."""
        return list(self.trace(question, k).hits[:k])

    def trace(self, question: str, depth: int) -> Trace:
        """What the system returned, as candidates and as hits: nothing is known of its stages."""
        reading = self._ask(question, depth)
        problems = [Problem(question, 0, fault.rule, fault.found, fault.remedy) for fault in reading.faults]
        hits: list[Hit] = []
        for candidate in reading.candidates[:depth]:
            try:
                chunk = self._chunk(candidate)
            except ValueError as error:
                problems.append(Problem(question, 0, "hit", f"rank {candidate.rank}: {error}"))
                continue
            score = 1 / candidate.rank if candidate.score is None else candidate.score
            hits.append(Hit(chunk, score, len(hits) + 1))
        if problems:
            raise DataError(problems)
        return Trace(tuple(hits), tuple(hits), tuple(hits))

    def chunks(self) -> list[Chunk]:
        """Distinct passages returned so far, by slug and start."""
        return sorted(self._chunks.values(), key=lambda chunk: (chunk.slug, chunk.start, chunk.end))

    def _chunk(self, candidate: Candidate) -> Chunk:
        slug = self._slug(candidate)
        document = self._documents[slug]
        spans = _spans(document, self._ranges(slug, candidate))
        if not spans:  # its text is another one: it holds its rank and covers nothing
            first = document.blocks[0]
            spans = (Span(first.order, first.start, first.start + 1),)
        key = (slug, spans)
        if key not in self._chunks:
            start, end = spans[0].start, spans[-1].end
            self._chunks[key] = Chunk(slug, self._counts[slug], start, end, document.text[start:end], spans)
            self._counts[slug] += 1
        return self._chunks[key]

    def _slug(self, candidate: Candidate) -> str:
        name = candidate.doc_id
        if name is None:
            raise ValueError("names no document: map its `docId`")
        if name in self._documents:
            return name
        path = name.replace("\\", "/")
        ends = [slug for slug in self._documents if path.endswith(f"/{slug}")]
        found = ends or self._by_name.get(path.rpartition("/")[2], [])
        if not found:
            raise ValueError(f"{name} is not in the corpus: the system must search the same documents")
        if len(found) > 1 and not ends:
            raise ValueError(f"{name} may be any of {', '.join(sorted(found)[:3])}: give the path below the corpus")
        return max(found, key=len)

    def _ranges(self, slug: str, candidate: Candidate) -> list[tuple[int, int]]:
        blocks = self._documents[slug].blocks
        if candidate.text:
            found = self._skeleton(slug).find(candidate.text, candidate.page)
            self.lost += not found
            return found
        if candidate.page is None and not self._whole:
            raise ValueError('has neither text nor page: map one, or evaluate with evaluation.unit = "document"')
        found = [(block.start, block.end) for block in blocks if candidate.page in (None, block.page)]
        if not found:
            raise ValueError(f"{slug} has no text on a page {candidate.page}")
        return found


def of_unknown_index(score: QuestionScore) -> QuestionScore:
    """A score without what only the system's whole index could tell.

    There is no chance level, and nobody knows whether a chunk that covers a judgment was cut at all: what
    no returned passage covers was lost among the candidates.
    """
    losses = tuple(replace(each, stage="candidates") if each.stage == "chunk" else each for each in score.losses)
    return replace(score, chance={}, coverable=(True,) * len(score.coverable), losses=losses)


class _Skeleton:
    """A document's letters and digits, folded, and where each of them stands."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._folded = Folded(document.text)
        found = [(c, i) for i, each in enumerate(self._folded.text) for c in each.casefold() if c.isalnum()]
        self._letters, self._places = "".join(c for c, _ in found), array("I", (i for _, i in found))

    def find(self, text: str, page: int | None) -> list[tuple[int, int]]:
        """Where the text stands: one range, or one for each paragraph that was found; none if none was."""
        whole = self._find_one(text, page)
        if whole:
            return [whole]
        parts = (part for part in text.split("\n") if len(_letters(part)) >= SHORTEST)
        return sorted(found for part in parts if (found := self._find_one(part, page)))

    def _find_one(self, text: str, page: int | None) -> tuple[int, int] | None:
        """The first place, one on the page if there is any there."""
        wanted = _letters(text)
        found: list[tuple[int, int]] = []
        at = self._letters.find(wanted) if wanted else -1
        while at >= 0:
            found.append(self._folded.span(self._places[at], self._places[at + len(wanted) - 1] + 1))
            if page is None or self._page(found[-1][0]) == page:
                return found[-1]
            at = self._letters.find(wanted, at + 1)
        return found[0] if found else None

    def _page(self, place: int) -> int | None:
        blocks = self._document.blocks
        return blocks[max(0, bisect_right(blocks, place, key=lambda block: block.start) - 1)].page


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, fold(text).casefold()))


def _spans(document: Document, ranges: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """The parts of blocks that the ranges hold, each place once."""
    spans = []
    for block in document.blocks:
        parts = sorted((max(a, block.start), min(b, block.end)) for a, b in ranges if a < block.end and b > block.start)
        end = block.start
        for a, b in parts:
            if b > max(a, end):
                spans.append(Span(block.order, max(a, end), b))
                end = b
    return tuple(spans)
