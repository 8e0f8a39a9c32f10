"""`splits.json`: which question is for choosing (dev) and which for the one confirmatory test."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragkit.dataset.model import SplitsEntry
from ragkit.dataset.similar import similar_pairs
from ragkit.errors import DataError, Problem
from ragkit.files import canonical_json, read_text
from ragkit.records import Question
from ragkit.strict import Fault, explain, parse, show
from ragkit.text import fold

METHOD = "stratified by type; one third dev; near-identical questions and questions on one location together"
SPLITS = ("dev", "test")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def read_splits(path: Path, questions: Iterable[Question]) -> dict[str, str]:
    """`question id -> "dev" | "test"`, in the order of `questions`; each question is in exactly one.

    Raises `DataError` with every problem; `FileError` when the file can't be read.
    """
    lines = {question.id: question.line for question in questions}
    splits, problems = scan_splits(path, lines)
    if problems:
        raise DataError(problems)
    return {identifier: splits[identifier] for identifier in lines}


def scan_splits(path: Path, lines: Mapping[str, int]) -> tuple[dict[str, str], list[Problem]]:
    """As `read_splits`, but returns the problems; `lines` has each question's id and line."""
    text = read_text(path)
    value, faults = parse(text)
    splits: dict[str, str] = {}
    if not faults or value is not None:
        try:
            entry = SplitsEntry.model_validate(value)
        except ValidationError as error:
            faults += explain(SplitsEntry, error)
        else:
            return _assign(path, text, entry, lines, splits, faults)
    return splits, [Problem(str(path), fault.line, fault.rule, fault.found, fault.remedy) for fault in faults]


def _assign(
    path: Path,
    text: str,
    entry: SplitsEntry,
    lines: Mapping[str, int],
    splits: dict[str, str],
    faults: list[Fault],
) -> tuple[dict[str, str], list[Problem]]:
    problems = [Problem(str(path), fault.line, fault.rule, fault.found, fault.remedy) for fault in faults]
    places = _places(text)
    for name in SPLITS:
        for identifier in getattr(entry, name):
            line = next(places.get(identifier, iter(())), 0)
            if identifier not in lines:
                wrong = ("unknown-id", f"no question has id {show(identifier)}", "remove it, or mend the id")
                problems.append(Problem(str(path), line, *wrong))
            elif identifier in splits:
                found = f"{show(identifier)} is already in {splits[identifier]} and again in {name}"
                wrong = ("duplicate-id", found, "a question is in one split, once")
                problems.append(Problem(str(path), line, *wrong))
            splits.setdefault(identifier, name)
    for identifier, line in lines.items():
        if identifier not in splits:
            found = f"{show(identifier)} (line {line} of the questions) is in neither split"
            problems.append(Problem(str(path), 0, "missing-id", found, "add it to dev or to test"))
    return splits, problems


def _places(text: str) -> dict[str, Iterator[int]]:
    """The lines on which each string stands, in order; not of those that are written in escapes."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(text.split("\n"), start=1):
        for written in _STRING.findall(line):
            found[written].append(number)
    return {written: iter(numbers) for written, numbers in found.items()}


def make_splits(questions: Sequence[Question], seed: int) -> dict[str, list[str]]:
    """`{"dev": ids, "test": ids}`: a third of each type to dev; ids in the order of `questions`.

    Near-identical questions, and questions judged at exactly the same locations, stay on one side. Which
    clusters go to dev depends on `seed` and the ids alone, not on the order of the file.
    """
    quota = _quotas(Counter(question.type or "" for question in questions))
    dev: set[str] = set()
    for cluster in sorted(_clusters(questions), key=lambda cluster: _draw(cluster, seed)):
        types = Counter(question.type or "" for question in cluster)
        if all(quota[name] >= count for name, count in types.items()):
            quota.subtract(types)
            dev.update(question.id for question in cluster)
    return {
        "dev": [question.id for question in questions if question.id in dev],
        "test": [question.id for question in questions if question.id not in dev],
    }


def _quotas(types: Counter[str]) -> Counter[str]:
    """How many of each type go to dev: a third, rounded so that the whole is a third too."""
    quota = Counter({name: count // 3 for name, count in types.items()})
    left = round(types.total() / 3) - quota.total()
    for name in sorted(types, key=lambda name: (-(types[name] % 3), name))[:left]:
        quota[name] += 1
    return quota


def _draw(cluster: Sequence[Question], seed: int) -> str:
    names = sorted(question.id for question in cluster)
    return hashlib.sha256(f"{seed}|{names[0]}".encode()).hexdigest()


def _clusters(questions: Sequence[Question]) -> list[list[Question]]:
    """Questions that must not be torn apart, by joining all pairs that are tied (union-find)."""
    leader = list(range(len(questions)))

    def find(index: int) -> int:
        while leader[index] != index:
            leader[index] = leader[leader[index]]
            index = leader[index]
        return index

    places: dict[frozenset[Any], list[int]] = defaultdict(list)
    for index, question in enumerate(questions):
        if question.relevant:
            places[_locations(question)].append(index)
    tied = similar_pairs([question.question for question in questions])
    for i, j in [*tied, *(pair for same in places.values() for pair in pairwise(same))]:
        leader[find(j)] = find(i)
    clusters: dict[int, list[Question]] = defaultdict(list)
    for index, question in enumerate(questions):
        clusters[find(index)].append(question)
    return list(clusters.values())


def _locations(question: Question) -> frozenset[Any]:
    return frozenset((j.document, j.page, j.block, fold(j.quote or "")) for j in question.relevant)


def render_splits(questions: Sequence[Question], seed: int) -> str:
    """The text of a `splits.json` made by `make_splits`."""
    head = {"$schema": "splits.schema.json", "method": METHOD, "seed": seed}
    return canonical_json(head | make_splits(questions, seed))
