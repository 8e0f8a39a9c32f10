"""Lines of white-space separated fields as arrays: where each field is and what it says, without an object for any.

White space is what C's `isspace` and `bytes.split` say it is: blank, tab, line feed, vertical tab, form feed,
carriage return.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq, ne
from typing import Final

import numpy as np
from numpy.typing import NDArray

PADDING: Final = 64
"""Line feeds before and after the lines, so that what is read beside a field is there."""
DIGITS: Final = 19
"""The most digits of a number that is read in arrays: what a uint64 holds."""

_WORD: Final = 8
_LONG: Final = PADDING  # bytes; what is longer is compared and hashed by Python
_MASKS: Final = np.array([(1 << 8 * n) - 1 for n in range(_WORD + 1)], dtype="<u8")
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)
_SHIFT: Final = np.uint64(29)

_ZERO, _POINT, _PLUS, _MINUS, _BLANK, _TAB, _NEWLINE = map(np.uint8, b"0.+- \t\n")
_ONE, _TEN = np.uint8(1), np.uint8(10)
_CONTROLS: Final = np.uint8(5)  # tab, line feed, vertical tab, form feed, carriage return: 9 to 13
_POWERS: Final = np.array([10.0**n for n in range(DIGITS + 1)])  # exact in a double, up to 10^22
_EXACT: Final = np.uint64(1 << 53)


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """Fields, none empty: `data[starts[i] : starts[i] + lengths[i]]`, in data that has `PADDING` on both sides."""

    data: bytes
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Column:
        joined = "".join(texts)
        sizes = map(len, texts if joined.isascii() else map(str.encode, texts))
        lengths = np.fromiter(sizes, dtype=np.int64, count=len(texts))
        return cls(padded(joined.encode()), PADDING + np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> Column:
        return Column(self.data, self.starts[rows], self.lengths[rows])

    def field(self, row: int) -> bytes:
        start = int(self.starts[row])
        return self.data[start : start + int(self.lengths[row])]

    def fields(self) -> list[bytes]:
        ends = self.starts + self.lengths
        return [self.data[a:b] for a, b in zip(self.starts.tolist(), ends.tolist(), strict=True)]

    def texts(self) -> list[str]:
        first = int(self.starts.min(initial=len(self.data)))
        text = self.data[first : int((self.starts + self.lengths).max(initial=first))]
        if not text.isascii():
            return list(map(bytes.decode, self.fields()))
        whole, starts = text.decode(), self.starts - first  # a cut of it is one object, a decoded cut is two
        return [whole[a:b] for a, b in zip(starts.tolist(), (starts + self.lengths).tolist(), strict=True)]

    def same(self, other: Column) -> NDArray[np.bool_]:
        """Row by row: are the two fields equal?"""
        equal: NDArray[np.bool_] = self.lengths == other.lengths
        for place in _places(self.lengths):
            equal &= self._words(place) == other._words(place)
        rows = self._long()
        equal[rows] &= np.fromiter(map(eq, self[rows].fields(), other[rows].fields()), dtype=np.bool_)
        return equal

    def firsts(self) -> NDArray[np.int64]:
        """The rows that differ from the one before them, the first row among them."""
        differs = np.ones(len(self), dtype=np.bool_)
        np.not_equal(self.lengths[1:], self.lengths[:-1], out=differs[1:])
        for place in _places(self.lengths):
            words = self._words(place)
            differs[1:] |= words[1:] != words[:-1]
        rows = self._long()
        differs[rows] |= np.fromiter(map(ne, self[rows].fields(), self[rows - 1].fields()), dtype=np.bool_)
        return np.flatnonzero(differs)

    def fingerprints(self) -> NDArray[np.uint64]:
        """A hash of each field; equal fields have equal ones, in every column of this process."""
        hashes = self.lengths.astype(np.uint64)
        for place in _places(self.lengths):
            mixed = self._words(place)
            mixed ^= hashes
            mixed *= _MULTIPLIER
            mixed ^= mixed >> _SHIFT
            hashes = np.where(self.lengths > place, mixed, hashes) if place else mixed
        rows = self._long()
        hashes[rows] = np.fromiter(map(hash, self[rows].fields()), dtype=np.int64).view(np.uint64)
        return hashes

    def numbers(self, *, whole: bool = False) -> NDArray[np.float64]:
        """Decimal numbers without an exponent; NaN for fields that are none or have more than `DIGITS`, and with
        `whole` for those with a point.

        They are what `float` reads, or with more than 15 digits what rounds to the same float32; NaN where that can't
        be told.
        """
        signs = np.frombuffer(self.data, dtype=np.uint8)[self.starts]
        lengths = self.lengths - ((signs == _MINUS) | (signs == _PLUS))
        width = min(DIGITS + 1, int(lengths.max(initial=1)))  # with a point
        ends = np.ndarray(len(self.data) - width + 1, dtype=f"V{width}", buffer=self.data, strides=(1,))
        text = ends[self.starts + self.lengths - width].view(np.uint8).reshape(-1, width).T.copy()  # aligned right
        places = np.arange(width, dtype=np.int8)[:, None]
        text[places < (width - np.minimum(lengths, width)).astype(np.int8)] = _ZERO
        points = text == _POINT
        count = points.sum(axis=0, dtype=np.uint8)
        good = (count < (1 if whole else 2)) & (lengths > count) & (lengths - count <= DIGITS) & (lengths <= width)
        decimals = (points * (width - 1 - places)).sum(axis=0, dtype=np.int8)
        text -= _ZERO
        text *= ~points  # a point is a digit that adds nothing and moves none
        good &= (text < _TEN).all(axis=0)
        mantissa = np.zeros(len(self), dtype=np.uint64)
        for digit, point in zip(text, points, strict=True):
            if not point.all():  # where all have as many decimals, the points fill one row
                mantissa *= np.where(point, _ONE, _TEN) if point.any() else _TEN
                mantissa += digit
        values = mantissa / _POWERS[np.where(good, decimals, 0)]  # many points give no place, and are no number
        good &= (mantissa <= _EXACT) | _rounds_once(values)
        return np.where(good, np.where(signs == _MINUS, -values, values), np.nan)

    def _long(self) -> NDArray[np.int64]:
        """The rows whose fields are longer than what is looked at by words."""
        return np.flatnonzero(self.lengths > _LONG)

    def _words(self, place: int) -> NDArray[np.uint64]:
        """The eight bytes at `place` of each field, zeros where it has ended."""
        words = np.ndarray(len(self.data) - _WORD + 1, dtype="<u8", buffer=self.data, strides=(1,))
        found: NDArray[np.uint64] = words[self.starts + place]
        found &= _MASKS.take(self.lengths - place, mode="clip")
        return found


def padded(data: bytes) -> bytes:
    around = b"\n" * PADDING
    return b"".join((around, data, around))


def split(data: bytes, count: int, wanted: Sequence[int]) -> list[Column] | None:
    """Some columns of `padded` lines of `count` fields each, blank lines left out; `None` when a line has others."""
    characters = np.frombuffer(data, dtype=np.uint8)
    at = np.flatnonzero(characters <= _BLANK)  # white space, and what is seldom there
    found = characters[at]
    white = (found == _BLANK) | (found - _TAB < _CONTROLS)
    if not white.all():
        at, found = at[white], found[white]
    # The line feeds around the lines are the first and the last.
    before, steps = at[PADDING - 1 : -PADDING], np.diff(at[PADDING - 1 : 1 - PADDING])
    lines = np.flatnonzero(found[PADDING - 1 : -PADDING] == _NEWLINE)
    full = steps > 1
    if full.all():
        fields = np.diff(lines, append=len(full))
    else:
        fields = np.add.reduceat(full, lines, dtype=np.intp)
        before, steps = before[full], steps[full]
    if ((fields != 0) & (fields != count)).any():
        return None
    return [Column(data, before[i::count] + 1, steps[i::count] - 1) for i in wanted]


def _places(lengths: NDArray[np.int64]) -> range:
    return range(0, min(int(lengths.max(initial=0)), _LONG), _WORD)


def _rounds_once(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Is the nearest float32 sure, though each value may be the second nearest double of what was written?"""
    beyond = values.view(np.int64) & ((1 << 29) - 1)  # the bits that a float32 hasn't
    sure: NDArray[np.bool_] = np.abs(beyond - (1 << 28)) > 4
    return sure
