"""A public collection becomes an evaluation folder: documents as text files, judgments of whole documents.

Ids of a collection may be anything; slugs and question ids may not, so both get names of their own, and
`ids.json` has the way back. Nothing is held but ids, queries and judgments.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

from ragkit.dataset import render_splits
from ragkit.dataset.similar import normalised
from ragkit.dataset.splits import SPLITS
from ragkit.errors import DataError, Problem
from ragkit.files import canonical_json, canonical_line, replacing_directory
from ragkit.interop.beir import Collection, Text
from ragkit.records import Judgment, Progress, Question

MAX_GRADE: Final = 3
SEED: Final = 20240501
_CONTROLS: Final = re.compile(r"[^\S \n\t]|[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b\ufeff]")
_CONFIG = """\
# Made by `ragkit import`: whole documents are ranked and judged, as the collection has it.
name = {name}

[dataset]
corpus = {corpus}
questions = {questions}
splits = {splits}

[chunking]
strategy = "recursive"

[retrieval]
strategy = "dense"
top_k = 10
candidate_k = {candidate_k}   # so many chunks come from ten documents at least
threshold = -1.0     # keeps everything

[evaluation]
unit = "document"
"""


@dataclass(slots=True)
class Imported:
    """What was made: counts, and what was left out or joined, for people."""

    documents: int = 0
    questions: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Query:
    ids: list[str]
    text: str
    split: str
    grades: dict[str, int]


def import_collection(collection: Collection, out: Path, progress: Progress) -> Imported:
    """Write the evaluation folder `out`, whole or not at all.

    Raises `DataError` with every problem: lines that can't be read, ids that stand twice, judgments of
    unknown queries or documents or with a grade above 3, nothing judged at all; `FileError`.
    """
    done, problems = Imported(), list[Problem]()
    queries = _queries(collection, done, problems)
    with replacing_directory(out) as folder:
        (folder / "corpus").mkdir()
        slugs, longest = _write_documents(collection, folder / "corpus", done, problems, progress)
        problems += _unknown_documents(collection, queries, slugs)
        if not queries and not problems:
            problems.append(Problem(str(collection.queries), 0, "no-questions", "no query has a relevant document"))
        if problems:
            raise DataError(problems)
        names = _Names(_question_name)
        questions = [_question(names.of(query.ids[0]), query, slugs) for query in queries]
        splits = {question.id: query.split for question, query in zip(questions, queries, strict=True)}
        files = {
            "questions.jsonl": "".join(map(_line, questions)),
            "splits.json": _splits(questions, splits),
            "ids.json": canonical_json(
                {
                    "documents": {slug: identifier for identifier, slug in slugs.items()},
                    "questions": {question.id: query.ids for question, query in zip(questions, queries, strict=True)},
                }
            ),
            "config.toml": _config(out, longest),
        }
        for name, content in files.items():
            (folder / name).write_text(content, encoding="utf-8", newline="\n")
    done.questions = len(questions)
    return done


def _queries(collection: Collection, done: Imported, problems: list[Problem]) -> list[_Query]:
    """The judged queries in file order; one that is asked twice is one question with the judgments of both."""
    judged: dict[str, tuple[str, dict[str, int]]] = {}
    for name, qrels in collection.qrels.items():
        split = "test" if name == "test" else "dev"
        for query, grades in qrels.items():
            known = judged.get(query)
            judged[query] = (
                split if known is None or split == "test" else known[0],
                {**(known or ("", {}))[1], **grades},
            )
    seen: set[str] = set()
    asked: dict[str, _Query] = {}
    unjudged = joined = 0
    for each in collection.read(collection.queries, problems):
        if each.id in seen:
            problems.append(_twice(collection.queries, each))
            continue
        seen.add(each.id)
        split, grades = judged.get(each.id, ("", {}))
        relevant = {document: grade for document, grade in grades.items() if grade > 0}
        if not relevant:
            unjudged += 1
        elif (key := normalised(each.text)) in asked:
            joined += 1
            same = asked[key]
            same.ids.append(each.id)
            same.grades = {d: max(same.grades.get(d, 0), relevant.get(d, 0)) for d in {**same.grades, **relevant}}
        else:
            asked[key] = _Query([each.id], _clean(each.text), split, relevant)
            if not key:
                problems.append(Problem(str(collection.queries), each.line, "empty", f"query {each.id} asks nothing"))
    problems += [
        Problem(str(collection.queries), 0, "unknown-query", f"{query} is judged but not there")
        for query in sorted(set(judged) - seen)
    ]
    if unjudged:
        done.notes.append(f"{unjudged} queries without a relevant document were left out")
    if joined:
        done.notes.append(f"{joined} queries repeat another one; each was joined with it, judgments of both together")
    return list(asked.values())


def _write_documents(
    collection: Collection, folder: Path, done: Imported, problems: list[Problem], progress: Progress
) -> tuple[dict[str, str], int]:
    """Document id -> slug, and the length of the longest text."""
    slugs: dict[str, str] = {}
    names, longest, silent = _Names(_document_name, ".txt"), 0, 0
    for each in collection.read(collection.documents, problems):
        if each.id in slugs:
            problems.append(_twice(collection.documents, each))
            continue
        text = "\n\n".join(part for part in (_clean(each.title), _clean(each.text)) if part)
        if not re.search(r"\w", text):
            silent += 1
            continue
        slugs[each.id] = slug = names.of(each.id)
        (folder / slug).write_text(text + "\n", encoding="utf-8", newline="\n")
        longest = max(longest, len(text))
        done.documents += 1
        progress(1)
    if silent:
        done.notes.append(f"{silent} documents without a word were left out")
    return slugs, longest


def _twice(path: Path, each: Text) -> Problem:
    return Problem(str(path), each.line, "duplicate-id", f"{each.id} stands here again", "keep one of them")


def _clean(text: str) -> str:
    """Text as a text file can hold it: no control characters, no byte-order marks, line feeds only."""
    return _CONTROLS.sub(" ", text.replace("\r\n", "\n")).strip()


def _unknown_documents(collection: Collection, queries: Iterable[_Query], slugs: dict[str, str]) -> list[Problem]:
    path, problems = str(collection.documents), []
    for query in queries:
        for document, grade in query.grades.items():
            if document not in slugs:
                found = f"{document}, relevant for query {query.ids[0]}, is not there or has no text"
                problems.append(Problem(path, 0, "unknown-document", found, "remove the judgment, or add the document"))
            if grade > MAX_GRADE:
                found = f"query {query.ids[0]} gives {document} the grade {grade}"
                problems.append(Problem(path, 0, "grade", found, f"grades go from 1 to {MAX_GRADE}: map them to these"))
    return problems


def _question(name: str, query: _Query, slugs: dict[str, str]) -> Question:
    judgments = tuple(Judgment(slugs[document], grade=grade) for document, grade in query.grades.items())
    return Question(name, query.text, judgments, None, None, True, 0)


def _line(question: Question) -> str:
    relevant = [{"document": j.document} | ({"grade": j.grade} if j.grade > 1 else {}) for j in question.relevant]
    return canonical_line({"id": question.id, "question": question.question, "relevant": relevant})


def _splits(questions: Sequence[Question], splits: dict[str, str]) -> str:
    """The collection's own split where it has two sides, else ours."""
    if set(splits.values()) == set(SPLITS):
        return canonical_json({name: [q.id for q in questions if splits[q.id] == name] for name in SPLITS})
    return render_splits(questions, SEED)


def _config(out: Path, longest: int) -> str:
    def text(value: str) -> str:
        return json.dumps(value, ensure_ascii=False)

    return _CONFIG.format(
        name=text(_question_name(out.resolve().name).replace(":", "-")),
        corpus=text(f"{out.as_posix()}/corpus"),
        questions=text(f"{out.as_posix()}/questions.jsonl"),
        splits=text(f"{out.as_posix()}/splits.json"),
        candidate_k=min(4000, max(100, 10 * -(-longest // 300))),  # chunks of 500 characters are rarely below 300
    )


class _Names:
    """Gives every id a name of its own, different from all others also when case is lost."""

    def __init__(self, make: Callable[[str], str], suffix: str = "") -> None:
        self._make, self._suffix = make, suffix
        self._taken: set[str] = set()

    def of(self, identifier: str) -> str:
        stem = name = self._make(identifier)
        count = 1
        while name.casefold() in self._taken:
            count += 1
            name = f"{stem}-{count}"
        self._taken.add(name.casefold())
        return name + self._suffix


def _document_name(identifier: str) -> str:
    """A file name without suffix: letters, digits and . _ - stay, everything else is percent-encoded; at most 150 bytes."""
    parts = (c if c.isalnum() or c in "._-" else quote(c, safe="") for c in unicodedata.normalize("NFC", identifier))
    name = "".join(parts)
    name = f"%2E{name[1:]}" if name.startswith(".") else name
    if len(name.encode()) > 150:
        name = f"{name.encode()[:100].decode(errors='ignore')}-{hashlib.sha256(identifier.encode()).hexdigest()[:16]}"
    return name


def _question_name(identifier: str) -> str:
    """A question id: letters, digits and . _ : - stay, everything else becomes a hyphen."""
    name = re.sub(r"[^\w.:-]", "-", unicodedata.normalize("NFC", identifier), flags=re.ASCII)[:90]
    return name if name[:1].isalnum() else f"q{name}"
