"""Retrieved candidates out of any system's dump, recognised by the names that systems use.

A dump is a list of entries, or an object that has the list under one of `_LISTS`. An entry's fields may
be its own or lie in one of the objects in `_INSIDE` (Elasticsearch's `_source`, Qdrant's `payload`,
Milvus' `entity`, LangChain's `metadata`, LlamaIndex's `node`...), at any depth; `_NAMES` says what each
field may be called, the most telling name first. docs/golden.qmd shows each shape.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ragkit.dataset.strict import Fault, show

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
    rows = [_row(entry, f"[{number}]", metric, reading.faults) for number, entry in enumerate(entries)]
    scored = [row.score is not None for row in rows]
    if any(scored) and not all(scored):
        missing = ", ".join(f"[{number}]" for number, has in enumerate(scored) if not has)
        reading.faults.append(Fault("score", f"some candidates have a score, {missing} none", "give all or none"))
    if not reading.faults:
        reading.candidates = _ranked(rows, reading.notes)
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


@dataclass(frozen=True, slots=True)
class _Row:
    doc_id: str | None
    breadcrumb: tuple[str, ...]
    text: str | None
    score: float | None
    rank: int | None
    page: int | None
    raw: Any


def _row(entry: Any, where: str, metric: str | None, faults: list[Fault]) -> _Row:
    raw = entry
    if isinstance(entry, str):
        entry = {"text": entry}
    elif isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
        entry = {"document": entry[0], "score": entry[1]}  # LangChain's (document, score)
    if not isinstance(entry, dict):
        faults.append(Fault("candidate", f"{where} must be an object, found {show(raw)}", _REMEDY))
        return _Row(None, (), None, None, None, None, raw)
    layers = list(_layers(entry))
    return _Row(
        _identifier(layers, where, faults),
        _breadcrumb(layers, where, faults),
        _text(layers, where, faults),
        _score(layers, where, metric, faults),
        _whole(layers, "rank", where, faults),
        _page(layers),
        raw,
    )


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


def _identifier(layers: Sequence[dict[str, Any]], where: str, faults: list[Fault]) -> str | None:
    value = _get(layers, "docId")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)  # vector stores number their entries
    if value is None or isinstance(value, list):  # LangChain's serialised objects have a list as id
        return None
    if not isinstance(value, str) or not value.strip():
        faults.append(Fault("docId", f"{where} docId must be a non-empty string, found {show(value)}", _REMEDY))
        return None
    return unicodedata.normalize("NFC", value)


def _text(layers: Sequence[dict[str, Any]], where: str, faults: list[Fault]) -> str | None:
    value = _get(layers, "text")
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n".join(value)  # Elasticsearch's `fields` are lists
    if value is not None and not isinstance(value, str):
        faults.append(Fault("text", f"{where} text must be a string, found {show(value)}", _REMEDY))
        return None
    return value


def _breadcrumb(layers: Sequence[dict[str, Any]], where: str, faults: list[Fault]) -> tuple[str, ...]:
    value = _get(layers, "breadcrumb")
    if value is None:
        return ()
    if isinstance(value, str):
        return path_levels(value)
    if isinstance(value, list) and all(isinstance(level, str) for level in value):
        return tuple(level.strip() for level in value if level.strip())
    faults.append(Fault("breadcrumb", f"{where} breadcrumb must be a string or a list, found {show(value)}", _REMEDY))
    return ()


def _score(layers: Sequence[dict[str, Any]], where: str, metric: str | None, faults: list[Fault]) -> float | None:
    value, name = _get(layers, "score"), "score"
    if value is None:
        value, name = _get(layers, "distance"), "distance"
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        faults.append(Fault("score", f"{where} {name} must be a finite number, found {show(value)}"))
        return None
    if name == "distance" and metric is None:
        remedy = 'put "metric": "L2" (smaller is better) or "COSINE" (larger is better) beside the results'
        faults.append(Fault("metric", f"{where} has a distance, and nothing says whether smaller is better", remedy))
    return 0.0 - value if metric in SMALLER_IS_BETTER else float(value)


def _whole(layers: Sequence[dict[str, Any]], name: str, where: str, faults: list[Fault]) -> int | None:
    value = _get(layers, name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        faults.append(Fault(name, f"{where} {name} must be a whole number, found {show(value)}"))
        return None
    return value


def _page(layers: Sequence[dict[str, Any]]) -> int | None:
    """A page number if there is a plain one; labels such as `iv` are no numbers."""
    value = _get(layers, "page")
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def _ranked(rows: Sequence[_Row], notes: list[str]) -> list[Candidate]:
    order = list(range(len(rows)))
    by_rank = sorted(order, key=lambda i: math.inf if (rank := rows[i].rank) is None else rank)
    order = by_rank if any(row.rank is not None for row in rows) else order
    by_score = sorted(order, key=lambda i: -(rows[i].score or 0.0))
    if by_score != order:
        what = "ranks contradict" if order is by_rank else "the order of the list contradicts"
        notes.append(f"{what} the scores; the scores decide")
    return [
        Candidate(row.doc_id, row.breadcrumb, row.text, row.score, rank, row.page, row.raw)
        for rank, row in enumerate((rows[i] for i in by_score), start=1)
    ]
