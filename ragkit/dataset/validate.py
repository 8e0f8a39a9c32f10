"""Everything that is wrong, or doubtful, with a dataset, in one go."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragkit.dataset.questions import scan_questions
from ragkit.dataset.resolve import resolve
from ragkit.dataset.similar import similar_pairs
from ragkit.dataset.splits import SPLITS, scan_splits
from ragkit.errors import DataError, FileError, Problem
from ragkit.records import Document, Question
from ragkit.strict import show

UNTYPED = "(none)"


@dataclass(frozen=True, slots=True)
class Report:
    """What `ragkit validate` found; problems and warnings in file and line order.

    The counts are of questions without problems. `by_document` has every document, those that no question
    points to with 0; `by_split` counts per split and type.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    questions: int
    judgments: int
    unanswerable: int
    by_type: dict[str, int]
    by_document: dict[str, int]
    by_split: dict[str, dict[str, int]]

    def raise_problems(self) -> None:
        """Raises `DataError` if there are any."""
        if self.problems:
            raise DataError(self.problems)


def validate(questions_path: Path, splits_path: Path | None, documents: Sequence[Document] | None) -> Report:
    """Check questions, splits and every judgment against the parsed corpus; raises nothing for bad data.

    `splits_path` `None`: there is no split to check. `documents` `None`: the corpus can't be read, so
    that judgments aren't looked up. Raises `FileError` when the questions can't be read.
    """
    path = str(questions_path)
    reading = scan_questions(questions_path)
    problems = list(reading.problems)
    warnings = _lonely_groups(path, reading.questions)
    splits: dict[str, str] = {}
    if splits_path is not None:
        try:
            splits, faults = scan_splits(splits_path, reading.lines)
            problems += faults
        except FileError as error:
            problems.append(Problem(str(splits_path), 0, "unreadable", str(error)))
        warnings += _torn(path, reading.questions, splits)
    used: Counter[str] = Counter()
    if documents is not None:
        resolution = resolve(reading.questions, documents, path, elsewhere=True)
        problems += resolution.problems
        warnings += resolution.warnings
        used.update({document.slug: 0 for document in documents})
        used.update(slug for question in reading.questions for slug in {j.document for j in question.relevant})
        warnings += _unused(path, documents, used)
    by_split: dict[str, Counter[str]] = {name: Counter() for name in SPLITS if splits_path is not None}
    for question in reading.questions:
        if question.id in splits:
            by_split[splits[question.id]][question.type or UNTYPED] += 1
    return Report(
        problems=tuple(sorted(problems)),
        warnings=tuple(sorted(warnings)),
        questions=len(reading.questions),
        judgments=sum(len(question.relevant) for question in reading.questions),
        unanswerable=sum(not question.answerable for question in reading.questions),
        by_type=_sorted(Counter(question.type or UNTYPED for question in reading.questions)),
        by_document=_sorted(used),
        by_split={name: _sorted(counts) for name, counts in by_split.items()},
    )


def _sorted(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items()))


def _unused(path: str, documents: Sequence[Document], used: Counter[str]) -> list[Problem]:
    return [
        Problem(path, 0, "unused-document", f"no question points to {show(document.slug)}", "ask something it answers")
        for document in documents
        if not used[document.slug]
    ]


def _lonely_groups(path: str, questions: Sequence[Question]) -> list[Problem]:
    """A group with one member does nothing: most likely its name is misspelt."""
    warnings = []
    for question in questions:
        groups = Counter(judgment.group for judgment in question.relevant if judgment.group is not None)
        for name, count in groups.items():
            if count == 1:
                found = f"{question.id}: group {show(name)} has one judgment only"
                warnings.append(Problem(path, question.line, "lonely-group", found, "mend the name, or leave it out"))
    return warnings


def _torn(path: str, questions: Sequence[Question], splits: dict[str, str]) -> list[Problem]:
    """Near-identical questions of which one is in dev and the other in test."""
    twins: dict[int, list[int]] = defaultdict(list)
    for i, j in similar_pairs([question.question for question in questions]):
        sides = {splits.get(questions[i].id), splits.get(questions[j].id)}
        if sides == set(SPLITS):
            twins[j].append(i)
    warnings = []
    for j, others in twins.items():
        named = ", ".join(f"{questions[i].id} (line {questions[i].line})" for i in others)
        found = f"{questions[j].id} is nearly the same question as {named}, in the other split"
        warnings.append(Problem(path, questions[j].line, "torn-twins", found, "put both in one split"))
    return warnings
