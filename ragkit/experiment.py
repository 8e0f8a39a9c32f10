"""One configuration from end to end, in seven steps: database, ingest, resolve, retrieve, answer, measure, write.

`indexing` does the first two; labels are resolved to the database's runtime ids before anything is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit import environment
from ragkit.answers import (
    Answer,
    AnswerEntry,
    answer_questions,
    read_answers,
    recorded_answers,
    score_answers,
)
from ragkit.config import Configuration, ExternalRetrieval
from ragkit.dataset import dataset_hashes, read_questions, read_splits, resolve
from ragkit.embedding import Encoder, Questions, TextError
from ragkit.errors import DataError, EncodingError, Problem, UsageError
from ragkit.files import canonical_json, replacing_directory, sha256_file, write_atomic
from ragkit.indexing import Clock, Indexed, ProgressBar, indexed
from ragkit.measures import QuestionScore, Scorer, leave_out_unreached
from ragkit.measures.latency import nearest_rank
from ragkit.records import Chunk, Document, Progress, Question, Target, Trace
from ragkit.report.metrics import Evaluation, metrics, stable_files
from ragkit.report.summary import summary
from ragkit.retrieval import Retriever, index_bytes
from ragkit.retrieval.external import ExternalRetriever, of_unknown_index
from ragkit.store import Store

TIMED = 100
"""Up to so many questions, evenly spaced, are embedded anew in every run: the latency is theirs. The others' vectors are
cached."""

FILES = ("metrics.json", "rankings.jsonl", "run.trec", "qrels.trec", "timing.json", "summary.md")
"""What a run writes."""


@dataclass(frozen=True, slots=True)
class Result:
    """The contents of `metrics.json` and `timing.json`."""

    metrics: dict[str, Any]
    timing: dict[str, Any]


def run(
    settings: Configuration,
    *,
    cache: Path,
    out: Path,
    progress: ProgressBar,
    notice: Callable[[str], None],
    use_cache: bool = True,
    allow_drift: bool = False,
    answers: Path | None = None,
    loading: Future[Encoder] | None = None,
) -> Result:
    """Evaluate a configuration and write the results to the folder `out`, whole or not at all.

    `answers` is a file of recorded answers, scored instead of those that the configuration would give.
    `loading` is what `begin_loading` gave for the same configuration, for who wants the model to load earlier.
    `cache` has the prepared model and, unless `use_cache` is off, what earlier runs parsed and embedded; no network
    is used. Raises `DataError` for a corpus, questions or labels that are wrong (labels that can't be located: unless
    `allow_drift`), `ModelMissing` and `ModelError` for the model, `EncodingError` naming the chunk.
    """
    _check_out(out)
    clock = Clock()
    with clock.phase("resolve"):
        questions, splits, recorded = _questions(settings, answers)  # first: what is wrong there is told at once
    with indexed(settings, cache=cache, progress=progress, clock=clock, use_cache=use_cache, loading=loading) as index:
        documents = index.documents
        with clock.phase("resolve"):
            targets = _resolve(settings, questions, documents, index.store, allow_drift, notice)
        with clock.phase("retrieve"), progress("questions", len(questions)) as advance:
            traces, latencies = _retrieve(index, questions, settings.retrieval.candidate_k, advance)
        chunks = index.chunks()
        _tell_lost(index.retriever, notice)
        with clock.phase("answer"), progress("sentences", None) as advance:
            if recorded is None:
                given = _answer(settings, index, questions, traces, advance)
            else:
                given = recorded_answers(recorded, questions, documents, index.store)
                _tell_unanswered(questions, recorded, notice)
        with clock.phase("measure"):
            evaluation = Evaluation(
                settings,
                _dataset(settings, index, chunks),
                index.encoder.description,
                questions,
                splits,
                _measure(settings, documents, chunks, index.encoder, questions, targets, traces, notice),
                score_answers(given, questions, targets, index.store),
                None if answers is None else sha256_file(answers),
            )
            found = metrics(evaluation)
        for each in index.notices():
            notice(each)
        timing = _timing(clock, latencies)
        _write(out, evaluation, found, timing)
    return Result(found, timing)


def _check_out(out: Path) -> None:
    """The folder is replaced as a whole, so nobody else's files may be in it."""
    if not out.exists():
        return
    if not out.is_dir():
        raise UsageError(f"{out}: is a file; results need a folder")
    strangers = sorted(entry.name for entry in out.iterdir() if entry.name not in FILES)
    if strangers:
        shown = ", ".join(strangers[:3])
        raise UsageError(f"{out}: holds {shown}, which no run writes; name a folder that may be replaced")


def _questions(
    settings: Configuration, answers: Path | None
) -> tuple[list[Question], dict[str, str], Mapping[str, AnswerEntry] | None]:
    questions = read_questions(Path(settings.dataset.questions))
    splits = read_splits(Path(settings.dataset.splits), questions)
    wanted = settings.dataset.split
    chosen = [question for question in questions if wanted in ("all", splits[question.id])]
    if not any(question.answerable for question in chosen):
        path = settings.dataset.questions
        found = f"no answerable question in split {wanted!r}"
        raise DataError([Problem(path, 0, "no-questions", found, "add questions, or choose another dataset.split")])
    return chosen, splits, None if answers is None else read_answers(answers, questions)


def _resolve(
    settings: Configuration,
    questions: Sequence[Question],
    documents: Sequence[Document],
    store: Store,
    allow_drift: bool,
    notice: Callable[[str], None],
) -> Mapping[str, Sequence[Target]]:
    """Labels to places in the parsed corpus, each of which must have its runtime id in the database."""
    resolution = resolve(questions, documents, settings.dataset.questions)
    fatal = resolution.fatal if allow_drift else resolution.problems
    if fatal:
        raise DataError(fatal)
    for problem in resolution.problems:
        notice(f"drift allowed: {problem}")
    located = {
        identifier: [target for target in targets if target.spans or target.kind == "document"]
        for identifier, targets in resolution.targets.items()
    }
    document_ids = store.document_ids()
    block_ids = {slug: store.block_ids(identifier) for slug, identifier in document_ids.items()}
    missing = [
        Problem(settings.dataset.corpus, 0, "not-ingested", f"{target.slug} block {span.block}", "report this as a bug")
        for targets in located.values()
        for target in targets
        for span in target.spans
        if span.block not in block_ids.get(target.slug, {})
    ]
    if missing:
        raise DataError(missing)
    return located


def _retrieve(
    index: Indexed, questions: Sequence[Question], depth: int, progress: Progress
) -> tuple[list[Trace], list[float]]:
    """Every question's trace, and how long each of `TIMED` took in seconds, its embedding included."""
    encoder, retriever = index.encoder, index.retriever
    timed = set(range(0, len(questions), -(-len(questions) // TIMED)))
    others = [question for at, question in enumerate(questions) if at not in timed]
    with _naming(others):
        encoder.look_up([question.question for question in others], progress)
    traces: list[Trace] = []
    latencies: list[float] = []
    # Not timed: the first calls pay for what later ones reuse.
    _ahead(encoder, [questions[0]] * encoder.threads)
    retriever.trace(questions[0].question, depth)
    _ahead(encoder, [questions[at] for at in sorted(timed)])
    for at, question in enumerate(questions):
        encoder.spent = 0.0
        started = time.perf_counter()
        traces.append(retriever.trace(question.question, depth))
        if at in timed:
            latencies.append(time.perf_counter() - started + encoder.spent)
            progress(1)
    return traces, latencies


def _ahead(encoder: Questions, questions: Sequence[Question]) -> None:
    with _naming(questions):
        encoder.ahead([question.question for question in questions])


@contextmanager
def _naming(questions: Sequence[Question]) -> Iterator[None]:
    """A question that can't be embedded is named."""
    try:
        yield
    except TextError as error:
        raise EncodingError(f"question {questions[error.index].id}: {error.message}") from error


def _answer(
    settings: Configuration, index: Indexed, questions: Sequence[Question], traces: Sequence[Trace], progress: Progress
) -> list[Answer]:
    asked = [question.question for question in questions]
    return answer_questions(
        asked,
        index.encoder.vectors(asked),
        [trace.hits[: settings.retrieval.top_k] for trace in traces],
        settings.answers,
        index.passages,
        index.store,
        index.encoder,
        progress,
        own_chunks=not isinstance(settings.retrieval, ExternalRetrieval),
    )


def _tell_unanswered(
    questions: Sequence[Question], recorded: Mapping[str, AnswerEntry], notice: Callable[[str], None]
) -> None:
    missing = [question.id for question in questions if question.id not in recorded]
    if missing:
        shown = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        notice(f"no answer is recorded for {len(missing)} questions ({shown}): they count as declined")


def _tell_lost(retriever: Retriever, notice: Callable[[str], None]) -> None:
    if isinstance(retriever, ExternalRetriever) and retriever.lost:
        notice(f"{retriever.lost} hits have a text that their document doesn't have: they count as wrong")


def _measure(
    settings: Configuration,
    documents: Sequence[Document],
    chunks: Sequence[Chunk],
    encoder: Encoder,
    questions: Sequence[Question],
    targets: Mapping[str, Sequence[Target]],
    traces: Sequence[Trace],
    notice: Callable[[str], None],
) -> list[QuestionScore]:
    scorer = Scorer(
        documents,
        chunks,
        encoder.token_spans,
        depth=settings.retrieval.top_k,
        candidate_k=settings.retrieval.candidate_k,
        seed=settings.evaluation.seed,
        unit=settings.evaluation.unit,
    )
    scores = [
        scorer.score(question, targets.get(question.id, ()), trace)
        for question, trace in zip(questions, traces, strict=True)
    ]
    scores, unreached = leave_out_unreached(scores)
    if unreached:
        k = settings.retrieval.candidate_k
        notice(f"{', '.join(unreached)} left out: {k} candidates hold too few tokens; raise retrieval.candidate_k")
    return [of_unknown_index(s) for s in scores] if isinstance(settings.retrieval, ExternalRetrieval) else scores


def _dataset(settings: Configuration, index: Indexed, chunks: Sequence[Chunk]) -> dict[str, Any]:
    return {
        **dataset_hashes(index.documents, Path(settings.dataset.questions), Path(settings.dataset.splits)),
        "documents": len(index.documents),
        "blocks": sum(len(document.blocks) for document in index.documents),
        "chunks": len(chunks),
        "chunk_characters": sum(len(chunk.text) for chunk in chunks),
        "index_bytes": index_bytes(settings.retrieval, index.store),
    }


def _timing(clock: Clock, latencies: Sequence[float]) -> dict[str, Any]:
    machine = environment.describe()
    milliseconds = [1000 * seconds for seconds in latencies]
    return {
        "phases": clock.seconds,
        "latency_ms": {
            "p50": nearest_rank(milliseconds, 50),
            "p95": nearest_rank(milliseconds, 95),
            "values": milliseconds,
        },
        "peak_memory_mb": environment.peak_memory_mb(),
        "environment": machine,
        "fingerprint": environment.fingerprint(machine),
    }


def _write(out: Path, evaluation: Evaluation, found: dict[str, Any], timing: dict[str, Any]) -> None:
    with replacing_directory(out) as folder:
        for name, content in stable_files(evaluation, found).items():
            write_atomic(folder / name, content)
        write_atomic(folder / "timing.json", canonical_json(timing))
        write_atomic(folder / "summary.md", summary(found, timing))
