"""Retrieved candidates out of any system's dump, recognised by the names that systems use.

A dump is a list of entries, or an object that has the list under one of `_LISTS`. An entry's fields may
be its own or lie in one of the objects in `_INSIDE` (Elasticsearch's `_source`, Qdrant's `payload`,
Milvus' `entity`, LangChain's `metadata`, LlamaIndex's `node`...), at any depth; `_NAMES` says what each
field may be called, the most telling name first. docs/golden.qmd shows each shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ragkit.strict import Fault, show
from ragkit.text import nfc

_LISTS: Final = (
    ("hits", "hits"),  # Elasticsearch, OpenSearch
    ("result", "points"),  # Qdrant's query
    ("result",),  # Qdrant's search
    ("source_nodes",),  # LlamaIndex's response
    ("results",),
    ("hits",),
    ("matches",),
    ("documents",),
    ("points",),
    ("data",),  # Milvus' REST interface
)
_INSIDE: Final = ("_source", "payload", "entity", "fields", "metadata", "node", "document", "kwargs")
_NAMES: Final = {
    "docId": (
        *("docId", "doc_id", "documentId", "document_id", "slug", "document"),
        *("source", "file_name", "filename", "file_path", "url", "id", "_id"),
    ),
    "text": ("text", "content", "page_content", "chunk", "chunk_text", "passage", "body"),
    "breadcrumb": ("breadcrumb", "breadcrumbs", "headings", "heading_path", "header_path", "section_path", "section"),
    "score": ("score", "_score", "similarity", "relevance_score"),
    "distance": ("distance", "_distance"),
    "rank": ("rank",),
    "page": ("page", "page_number", "pageNumber", "page_label"),
}
METRIC_KEYS: Final = ("metric", "metric_type")
SMALLER_IS_BETTER: Final = ("l2", "euclid", "euclidean", "manhattan", "hamming", "jaccard", "distance")
LARGER_IS_BETTER: Final = ("cosine", "ip", "dot", "similarity")
_REMEDY: Final = "say where it is in a mapping file (--map)"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One retrieved passage of any system.

    `doc_id` and `text` are `None` where the dump has none. `breadcrumb` has the headings above it,
    outermost first, maybe none. A larger `score` is better (a declared distance has its sign turned);
    `None` when no candidate has one. `rank` is 1-based. `raw` is the entry as it was.
    """

    doc_id: str | None
    breadcrumb: tuple[str, ...]
    text: str | None
    score: float | None
    rank: int
    page: int | None = None
    raw: Any = None


@dataclass(slots=True)
class Reading:
    """`notes` tell what was decided about a dump that contradicts itself; with `faults` it is unusable."""

    candidates: list[Candidate] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def path_levels(breadcrumb: str) -> tuple[str, ...]:
    """The levels of a breadcrumb written as one string, with `>` or else `/` between them.

    >>> path_levels("Setup > Input/output > Limits"), path_levels("/Setup/Limits/")
    (('Setup', 'Input/output', 'Limits'), ('Setup', 'Limits'))
    """
    levels = breadcrumb.split(">" if ">" in breadcrumb else "/")
    return tuple(level.strip() for level in levels if level.strip())


def find_entries(dump: Any) -> list[Any] | None:
    """The list of entries in a dump; `None` when no known shape has it."""
    if isinstance(dump, list):
        # Milvus answers a list of queries with a list of lists.
        nested = len(dump) == 1 and isinstance(dump[0], list) and all(isinstance(entry, dict) for entry in dump[0])
        return dump[0] if nested else dump
    for path in _LISTS:
        value = dump
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list):
            return find_entries(value)
    return None


def read_candidates(dump: Any, metric: str | None = None) -> Reading:
    """The candidates in a dump, best first; what is wrong with it is in `faults`, all of it.

    `metric` (a name of `SMALLER_IS_BETTER` or `LARGER_IS_BETTER`) says what a score means where the
    dump doesn't. Order is by score, then as listed; without scores by rank, then as listed.
    """
    reading = Reading()
    entries = find_entries(dump)
    if entries is None:
        known = "a list, or an object with results, hits, matches, documents..."
        reading.faults.append(Fault("shape", f"no candidates found in {show(dump)}; expected {known}", _REMEDY))
        return reading
    metric = _metric(dump, reading) or metric
    found = [_candidate(entry, f"[{number}]", metric, reading.faults) for number, entry in enumerate(entries)]
    scored = [candidate.score is not None for candidate in found]
    if any(scored) and not all(scored):
        missing = ", ".join(f"[{number}]" for number, has in enumerate(scored) if not has)
        reading.faults.append(Fault("score", f"some candidates have a score, {missing} none", "give all or none"))
    if not reading.faults:
        reading.candidates = _ranked(found, reading.notes)
    return reading


def _metric(dump: Any, reading: Reading) -> str | None:
    declared = next((dump[key] for key in METRIC_KEYS if key in dump), None) if isinstance(dump, dict) else None
    if declared is None:
        return None
    name = declared.casefold() if isinstance(declared, str) else ""
    if name not in (*SMALLER_IS_BETTER, *LARGER_IS_BETTER):
        known = ", ".join((*SMALLER_IS_BETTER, *LARGER_IS_BETTER))
        reading.faults.append(Fault("metric", f"{show(declared)} is not a known metric", f"known: {known}"))
    return name


def _candidate(entry: Any, where: str, metric: str | None, faults: list[Fault]) -> Candidate:
    """The candidate in an entry; rank 0 where it has none."""
    raw = entry
    if isinstance(entry, str):
        entry = {"text": entry}
    elif isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
        entry = {"document": entry[0], "score": entry[1]}  # LangChain's (document, score)
    if not isinstance(entry, dict):
        faults.append(Fault("candidate", f"{where} must be an object, found {show(raw)}", _REMEDY))
        return Candidate(None, (), None, None, 0, raw=raw)
    layers = list(_layers(entry))

    def take(name: str, read: Callable[[Any], Any]) -> Any:
        value = _get(layers, name)
        try:
            return None if value is None else read(value)
        except ValueError as error:
            faults.append(Fault(name, f"{where} {name} must be {error}, found {show(value)}", _REMEDY))

    score, distance = take("score", _number), None
    if score is None and (distance := take("distance", _number)) is not None and metric is None:
        remedy = 'put "metric": "L2" (smaller is better) or "COSINE" (larger is better) beside the results'
        faults.append(Fault("metric", f"{where} has a distance, and nothing says whether smaller is better", remedy))
    score = distance if score is None else score
    if score is not None and metric in SMALLER_IS_BETTER:
        score = 0.0 - score
    breadcrumb = take("breadcrumb", _breadcrumb) or ()
    rank, page = take("rank", _rank) or 0, take("page", _page)
    return Candidate(take("docId", _identifier), breadcrumb, take("text", _text), score, rank, page, raw)


def _layers(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The entry and the objects inside it that may have its fields, outermost first."""
    waiting = [entry]
    while waiting:
        layer = waiting.pop(0)
        yield layer
        waiting += [layer[name] for name in _INSIDE if isinstance(layer.get(name), dict)]


def _get(layers: Sequence[dict[str, Any]], name: str) -> Any:
    """The value under the most telling name; null is as good as absent, and so is an object of that name."""
    for alias in _NAMES[name]:
        for layer in layers:
            value = layer.get(alias)
            if value is not None and not isinstance(value, dict):
                return value
    return None


# Each reads one field's value; a `ValueError` says what it must be.


def _identifier(value: Any) -> str | None:
    if isinstance(value, list):  # the class of LangChain's serialised objects
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # vector stores number their entries
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a non-empty string")
    return nfc(value)


def _text(value: Any) -> str:
    parts = value if isinstance(value, list) else [value]  # Elasticsearch's `fields` are lists
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("a string")
    return "\n".join(parts)


def _breadcrumb(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return path_levels(value)
    if not isinstance(value, list) or not all(isinstance(level, str) for level in value):
        raise ValueError("a string or a list of strings")
    return tuple(level.strip() for level in value if level.strip())


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("a finite number")
    return float(value)


def _rank(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError("a whole number")
    return value + 1  # systems that count from 0 are right too


def _page(value: Any) -> int | None:
    """A page number if there is a plain one; labels such as `iv` are no numbers."""
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    return number if isinstance(number, int) and not isinstance(number, bool) and number >= 1 else None


def _ranked(found: Sequence[Candidate], notes: list[str]) -> list[Candidate]:
    by_rank = sorted(found, key=lambda candidate: candidate.rank or math.inf)
    by_score = sorted(by_rank, key=lambda candidate: -(candidate.score or 0.0))
    if by_score != by_rank:
        what = "ranks contradict" if any(candidate.rank for candidate in found) else "the order of the list contradicts"
        notes.append(f"{what} the scores; the scores decide")
    return [replace(candidate, rank=rank) for rank, candidate in enumerate(by_score, start=1)]
