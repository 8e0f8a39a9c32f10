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


def stretches(text: str, owner: Callable[[int], int]) -> Iterator[tuple[int, int]]:
    """`[start, end)` of each text object on each line, spaces around it left out."""
    for line in _LINES.finditer(text):
        start, stop = line.span()
        while start < stop:
            this = owner(start)
            if owner(stop - 1) == this:  # the usual case: a line is one object
                end = stop
            else:  # the first character of another object lies in (low, high]
                low, high = start, stop - 1
                while high - low > 1:
                    middle = (low + high) // 2
                    while text[middle] == " ":  # made-up spaces have no owner
                        middle -= 1
                    if middle <= low:
                        middle = (low + high) // 2
                        while middle < high and text[middle] == " ":
                            middle += 1
                        if middle == high:
                            break
                    if owner(middle) == this:
                        low = middle
                    else:
                        high = middle
                end = low + 1
            yield start, end
            start = end
            while start < stop and text[start] == " ":
                start += 1


def upright(
    number: int, box: tuple[float, float, float, float], runs: list[tuple[int, Run]], rules: list[Rule]
) -> Page:
    """The page turned by the quarter turns of most of its text, y downwards, and only that text."""
    left, bottom, right, top = box
    weights = Counter[int]()
    for turns, run in runs:
        weights[turns] += len(run.text)
    turns = min(weights, key=lambda t: (-weights[t], t), default=0)

    def place(x: float, y: float) -> tuple[float, float]:
        if turns == 0:
            return x - left, top - y
        if turns == 1:
            return y - bottom, x - left
        if turns == 2:
            return right - x, y - bottom
        return top - y, right - x

    kept: list[Run] = []
    width, height = (right - left, top - bottom) if turns % 2 == 0 else (top - bottom, right - left)
    for own, run in runs:
        if own != turns:
            continue
        xs, ys = zip(place(run.x0, run.top), place(run.x1, run.bottom), strict=True)
        run.x0, run.x1, run.top, run.bottom = min(xs), max(xs), min(ys), max(ys)
        run.baseline = place(run.baseline, run.baseline)[1]
        if run.x1 > 0 and run.x0 < width and run.bottom > 0 and run.top < height:
            kept.append(run)
    for rule in rules:
        xs, ys = zip(place(rule.x0, rule.y0), place(rule.x1, rule.y1), strict=True)
        rule.x0, rule.x1, rule.y0, rule.y1 = min(xs), max(xs), min(ys), max(ys)
    return Page(number, width, height, kept, rules)
