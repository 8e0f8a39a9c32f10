"""From a question's labels to its judgments, the units that are credited."""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.records import Judgment


def group_grades(judgments: Sequence[Judgment]) -> tuple[int, ...]:
    """The grade of each group, in label order: the largest of its members'.

    Judgments that share a `group` are one; one without is its own. The place in the result is the
    number that `Target.group` has.
    """
    grades: dict[str | int, int] = {}
    for i, judgment in enumerate(judgments):
        key = i if judgment.group is None else judgment.group
        grades[key] = max(judgment.grade, grades.get(key, 0))
    return tuple(grades.values())
