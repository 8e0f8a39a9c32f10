"""What stands on page after page at the same place: running headers, footers, page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ragkit.ingest.pdf.lines import Line, rows

_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:page|p\.?|seite|s\.?|página|pagina|pág\.?|第)?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*"
    r"(?:(?:of|/|von|de|sur|sobre|共)\s*\d{1,4})?\s*(?:页|頁|ページ)?[\W_]*",
    re.IGNORECASE,
)
_BARE = re.compile("[0-9]{1,4}")
_ROWS = 3  # how many rows from the edge are looked at
_SHARE = 0.4  # of the pages; left and right pages may have headers of their own


def without_furniture(pages: Sequence[tuple[list[Line], float]], body: float) -> list[list[Line]]:
    """The lines of each page (given with its height) that are not furniture.

    From the upper and the lower edge inwards these are dropped, if a gap sets them apart from the text:
    a row that comes again at the same height on two pages or more and on `_SHARE` of all, digits left
    aside; a bare page number, on a single page too; and a first row in small type at the same height on
    most of three or more pages, whatever it says (the title of the section). `body` is the size of the
    running text.
    """
    upper = [_margin(lines, height, below=False) for lines, height in pages]
    lower = [_margin(lines, height, below=True) for lines, height in pages]
    kept: list[list[Line]] = []
    drop: set[int] = set()
    for margins in (upper, lower):
        seen = Counter(key for margin in margins for key in {_key(row) for row in margin})
        firsts = Counter(round(margin[0][0].baseline) for margin in margins if margin)
        offsets = Counter(offset for page, margin in enumerate(margins, 1) for offset in _offsets(page, margin[:1]))
        for page, margin in enumerate(margins, 1):
            count = 0
            for row in margin:
                running = margins is upper and count == 0 and row[0].size < 0.95 * body
                running = running and firsts[round(row[0].baseline)] >= max(3.0, 0.6 * len(pages))
                number = _PAGE_NUMBER.fullmatch(" ".join(piece.text for piece in row)) is not None
                # Or a row that begins or ends with one: the page's own, or as far from it as on another page.
                number = number or any(not at or offsets[at] > 1 for at in _offsets(page, [row]) if len(row) > 1)
                if len(row) > _ROWS or not (number or running or _times(seen, row) >= max(2.0, _SHARE * len(pages))):
                    break
                count += 1
            if count and (count == len(margin) or _apart(margin[count - 1][0], margin[count][0])):
                drop.update(id(piece) for row in margin[:count] for piece in row)
    for lines, _ in pages:
        kept.append([line for line in lines if id(line) not in drop])
    return kept


def _margin(lines: list[Line], height: float, below: bool) -> list[list[Line]]:
    """The rows near one edge, the outermost first, and the one after them."""
    zone = min(max(0.1 * height, 80.0), 0.2 * height)
    if below:
        return rows(line for line in lines if line.top > height - 1.5 * zone)[: -_ROWS - 2 : -1]
    return rows(line for line in lines if line.baseline < 1.5 * zone)[: _ROWS + 1]


def _offsets(page: int, margin: list[list[Line]]) -> set[int]:
    """How far bare numbers at the ends of a row are from the number of its page."""
    return {int(piece.text) - page for row in margin for piece in (row[0], row[-1]) if _BARE.fullmatch(piece.text)}


def _key(row: list[Line]) -> tuple[int, str]:
    text = "|".join(piece.text for piece in row)
    return round(row[0].baseline), _DIGITS.sub("#", text.replace(" ", ""))


def _times(seen: Counter[tuple[int, str]], row: list[Line]) -> int:
    """On how many pages the row stands, give or take a point of height; rows without a letter don't count."""
    height, text = _key(row)
    if not any(character.isalpha() for character in text):
        return 0
    return max(seen[height, text], seen[height - 1, text], seen[height + 1, text])


def _apart(outer: Line, inner: Line) -> bool:
    return abs(outer.baseline - inner.baseline) > 1.4 * max(outer.size, inner.size)
