"""Sentences of a block, with their places in the document; rules for en, de, fr, es, zh and ja.

A row of a table, a list item, a heading and a block of code are one sentence each. In running text a
sentence ends at . ! ? or an ellipsis, with the quotation marks and brackets that close after it, when
white space and something other than a small letter follow; Chinese and Japanese full stops end it at
once. A full stop ends none after a known abbreviation, an initial, or a number that is a German
ordinal ("am 3. Mai") or a line's own number. In doubt two sentences stay together: too much is quoted
rather than half of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from ragkit.records import Block


@dataclass(frozen=True, slots=True)
class Sentence:
    """`document.text[start:end]` with every run of white space as one space; of block `block`."""

    slug: str
    block: int
    start: int
    end: int
    text: str


def split_block(slug: str, block: Block) -> list[Sentence]:
    """The sentences of a block of document `slug`, in order; none for a block of white space."""
    if block.kind == "table":
        ends = [match.end() for match in re.finditer(r"\n", block.text)]
    elif block.kind == "paragraph":
        ends = [match.end() for match in _END.finditer(block.text) if _ends(block.text, match)]
    else:
        ends = []
    bounds = [0, *ends, len(block.text)]
    pieces = (cut(slug, block, block.start + start, block.start + end) for start, end in pairwise(bounds))
    return [piece for piece in pieces if piece is not None]


def cut(slug: str, block: Block, start: int, end: int) -> Sentence | None:
    """The part [start, end) of a block (document offsets) as one sentence, stripped; `None` if nothing is left."""
    raw = block.text[start - block.start : end - block.start]
    text = " ".join(raw.split())
    if not text:
        return None
    start += len(raw) - len(raw.lstrip())
    return Sentence(slug, block.order, start, start + len(raw.strip()), text)


_END = re.compile(
    "(?P<wide>[。！？｡]+)(?P<closed>[」』）》”’]*)"
    r"|[.!?…]+(?:[\"'”’“)\]]|[ \u00a0\u202f]?»)*(?=\s)"
)
_GOES_ON = re.compile(  # what stands before a full stop that ends nothing; "3.6 V." and "5 min." do end
    # (?-i:...): to ignore case in so large a range, re looks up every character of it when it compiles
    r"""(?<!\d\s)(?<![\w°/])(?: (?-i:[^\W\d_\u3040-\u9fff])  # an initial; also the last letter of z.B., e.g.
        | dr|prof|mrs?|ms|st|nos?|vs|figs?|eq|sec|ch|vol|eds?|approx|dept|inc|ltd|cf|al|pp
        | nr|abb|abs|art|bzw|ca|evtl|ggf|inkl|max|min|mind|sog|tab|tel|vgl|zzgl|str
        | mme|mlle|env|ex|éd|réf|chap | sra?|srta|dña|núm|págs?|uds?|aprox|tfno|ej )$
    | (?:^|\b(?:am|vom|zum|beim|im|de[rnms]|die|das|bis|seit|ab|und|jede[mnrs]?)\s) \d{1,2}$""",
    re.IGNORECASE | re.VERBOSE,
)


def _ends(text: str, match: re.Match[str]) -> bool:
    following = text[match.end() :].lstrip()[:1]
    if match["wide"]:
        # A quoted sentence inside another goes on with a particle or a comma.
        return not (match["closed"] and re.match(r"[\u3041-\u309f、，,]", following))
    if following.islower() or following in (*",;:)",):
        return False
    line = text[max(0, match.start() - 40) : match.start()].rpartition("\n")[2]
    return match[0] != "." or not _GOES_ON.search(line)
