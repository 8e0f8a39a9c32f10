"""A configuration made ready to be asked: model, throwaway database, documents in it, retriever.

The documents go through the path that an application would use, under runtime ids of the database's own.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ragkit.answers import Passages
from ragkit.chunking import chunk_document
from ragkit.config import Configuration, ExternalRetrieval
from ragkit.embedding import CachedEncoder, Encoder, Questions, TextError, begin_loading, cached
from ragkit.errors import EncodingError
from ragkit.files import scratch
from ragkit.ingest import DocumentCache, read_corpus
from ragkit.records import Chunk, Document, Progress
from ragkit.retrieval import Retriever, build_retriever
from ragkit.retrieval.external import ExternalRetriever, open_external
from ragkit.store import Store

ProgressBar = Callable[[str, int | None], AbstractContextManager[Progress]]
BATCH = 1024
"""Chunks that are embedded and stored at a time, so that memory doesn't grow with the corpus."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """A configuration ready to be asked. `kept` are the caches, of documents and of vectors, if there are any."""

    documents: Sequence[Document]
    passages: Passages
    encoder: Questions
    store: Store
    retriever: Retriever
    kept: tuple[DocumentCache | None, Encoder]

    def chunks(self) -> list[Chunk]:
        """All chunks, by slug and start; of an external retriever those that it has returned so far."""
        if isinstance(self.retriever, ExternalRetriever):
            return self.retriever.chunks()
        return self.store.chunks()

    def notices(self) -> list[str]:
        """Why nothing could be kept for the next run, if so."""
        caches = [cache for cache in self.kept if isinstance(cache, DocumentCache | CachedEncoder)]
        return [cache.notice for cache in caches if cache.notice]


@contextmanager
def indexed(
    settings: Configuration,
    *,
    cache: Path,
    progress: ProgressBar,
    clock: Clock,
    use_cache: bool = True,
    loading: Future[Encoder] | None = None,
) -> Iterator[Indexed]:
    """The first steps of a run: model, throwaway database, documents in it. Raises as `run`."""
    loading = loading or begin_loading(settings.model, cache)
    with clock.phase("parse"), progress("documents", None) as advance:
        parsed = DocumentCache(cache / "documents") if use_cache else None
        documents = read_corpus(Path(settings.dataset.corpus), advance, parsed)
    with clock.phase("model"):
        model = loading.result()
    kept = cached(model, cache / "vectors" if use_cache else None)
    encoder = Questions(model, kept)
    passages = Passages(documents)
    with (
        scratch("ragkit-") as folder,
        Store(folder / "run.db", encoder.dimension) as store,
    ):
        if not isinstance(settings.retrieval, ExternalRetrieval):
            with clock.phase("chunk"), _uncollected():
                chunks = [chunk_document(each, settings.chunking) for each in documents]
            with clock.phase("embed and index"), progress("chunks", sum(map(len, chunks))) as advance:
                _index(documents, chunks, passages, encoder, store, advance)
                del chunks  # they are in the database now
        else:
            _index(documents, [[]] * len(documents), passages, encoder, store, lambda _: None)
        with _retriever(settings, documents, store, encoder, progress, clock) as retriever:
            yield Indexed(documents, passages, encoder, store, retriever, (parsed, kept))


@contextmanager
def _retriever(
    settings: Configuration,
    documents: Sequence[Document],
    store: Store,
    passages: Encoder,
    progress: ProgressBar,
    clock: Clock,
) -> Iterator[Retriever]:
    if isinstance(settings.retrieval, ExternalRetrieval):
        whole = settings.evaluation.unit == "document"
        with open_external(settings.retrieval, documents, whole=whole) as external:
            yield external
    else:
        with clock.phase("embed and index"), progress("token vectors", None) as advance:
            own = build_retriever(settings.retrieval, store, passages, advance)
        yield own


def _index(
    documents: Sequence[Document],
    chunks: Sequence[Sequence[Chunk]],
    passages: Passages,
    encoder: Encoder,
    store: Store,
    progress: Progress,
) -> None:
    for batch in _batches(documents, chunks):
        flat = [chunk for _, own in batch for chunk in own]
        try:
            # With their sentences, which the same pass gives and answers need.
            parts = [passages.parts(chunk) for chunk in flat]
            vectors, codes = encoder.encode_parts([chunk.embedded_text for chunk in flat], parts, progress)
        except TextError as error:
            chunk = flat[error.index]
            where = f"{chunk.slug}, chunk {chunk.index} (block {chunk.spans[0].block})"
            raise EncodingError(f"{where}: {error.message}") from error
        at = 0
        with store.together():
            for document, own in batch:
                rows = slice(at, at + len(own))
                store.add(document, own, vectors[rows], codes[rows])
                at += len(own)


def _batches(
    documents: Sequence[Document], chunks: Sequence[Sequence[Chunk]]
) -> Iterator[list[tuple[Document, Sequence[Chunk]]]]:
    batch: list[tuple[Document, Sequence[Chunk]]] = []
    size = 0
    for document, own in zip(documents, chunks, strict=True):
        if batch and size + len(own) > BATCH:
            yield batch
            batch, size = [], 0
        batch.append((document, own))
        size += len(own)
    if batch:
        yield batch


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector, where many objects are made and all kept: beside many documents it takes longer to
    look for cycles among them than they take to make."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class Clock:
    """Seconds spent in each phase, in the order in which they began."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
