"""Runs of text, drawn lines and pages, before anything is known of words and columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_LINES = re.compile(r"[^\s](?:[^\r\n]*[^\s])?")


@dataclass(slots=True)
class Run:
    """Text of one font on one line. Points, origin at the page's top left, y grows downwards.

    `top` and `bottom` bound the ink. `spaced`: a space or a line end stands before it; `typed`: the space
    before it is a character of the file, not a gap that was interpreted.
    """

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    baseline: float
    size: float
    bold: bool
    mono: bool
    spaced: bool
    typed: bool


@dataclass(slots=True)
class Rule:
    """A straight line or one edge of a rectangle: horizontal (`y0 == y1`) or vertical (`x0 == x1`)."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(slots=True)
class Page:
    """One page, turned so that most of its text is upright. `number` is 1-based, sizes are points."""

    number: int
    width: float
    height: float
    runs: list[Run]
    rules: list[Rule]


def stretches(text: str, owner: Callable[[int], int]) -> Iterator[tuple[int, int, int]]:
    """`(start, end, owner)` of each text object on each line, spaces around it left out.

    `owner` is asked as seldom as can be: characters between two of one object are of that object.
    """
    for line in _LINES.finditer(text):
        visible = [at for at in range(line.start(), line.end()) if text[at] != " "]
        changes = [(0, owner(visible[0]))]
        # Halves still to be looked at, the left one on top: (low, high, owner of high).
        waiting = [(0, len(visible) - 1, owner(visible[-1]))]
        while waiting:
            low, high, last = waiting.pop()
            if last == changes[-1][1]:
                continue
            if high - low == 1:
                changes.append((high, last))
                continue
            middle = (low + high) // 2
            waiting += [(middle, high, last), (low, middle, owner(visible[middle]))]
        ends = [at for at, _ in changes[1:]] + [len(visible)]
        for (start, this), end in zip(changes, ends, strict=True):
            yield visible[start], visible[end - 1] + 1, this


def upright(
    number: int, box: tuple[float, float, float, float], runs: list[tuple[int, Run]], rules: list[Rule]
) -> Page:
    """The page turned by the quarter turns of most of its text, y downwards, and only that text.

    `box` is the page's left, bottom, right and top; runs and rules come with y upwards.
    """
    left, bottom, right, top = box
    weights = Counter[int]()
    for turns, run in runs:
        weights[turns] += len(run.text)
    turns = min(weights, key=lambda t: (-weights[t], t), default=0)

    def turned(x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
        if turns == 0:
            return x0 - left, top - y1, x1 - left, top - y0
        if turns == 1:
            return y0 - bottom, x0 - left, y1 - bottom, x1 - left
        if turns == 2:
            return right - x1, y0 - bottom, right - x0, y1 - bottom
        return top - y1, right - x1, top - y0, right - x0

    kept: list[Run] = []
    width, height = (right - left, top - bottom) if turns % 2 == 0 else (top - bottom, right - left)
    for own, run in runs:
        if own != turns:
            continue
        run.x0, run.top, run.x1, run.bottom = turned(run.x0, run.bottom, run.x1, run.top)
        run.baseline = turned(run.baseline, run.baseline, run.baseline, run.baseline)[1]
        if run.x1 > 0 and run.x0 < width and run.bottom > 0 and run.top < height:
            kept.append(run)
    for rule in rules:
        rule.x0, rule.y0, rule.x1, rule.y1 = turned(rule.x0, rule.y0, rule.x1, rule.y1)
    return Page(number, width, height, kept, rules)
