"""From judgments, as written, to targets in the parsed corpus; nothing is ever moved silently.

A quote is looked for in its block through the one fold. When it isn't there, the problem says what became
of it: *drifted* (it is in one other place, named), *ambiguous* (in several), *absent* (nowhere).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ragkit.dataset.index import Found, Index, describe
from ragkit.dataset.locate import nearest
from ragkit.errors import Problem
from ragkit.records import Block, Document, Judgment, Question, Span, Target, TargetKind
from ragkit.strict import show

DRIFT = frozenset({"drifted", "ambiguous", "absent", "repeated", "quote-page"})
"""Rules that a changed parser or an edited corpus can break; `--allow-drift` is about these."""
NAMED = 3
"""Places that a message names at most."""


@dataclass(slots=True)
class Resolution:
    """`targets`: per question id one target for each judgment, in label order.

    A judgment that can't be located keeps its target, without spans (and with a kind other than
    `document`): it counts in every denominator and no hit covers it. A quote that drifted to one place
    has that place, so that an evaluation under `--allow-drift` can use it; the problem is told all the same.
    """

    targets: dict[str, tuple[Target, ...]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    @property
    def drift(self) -> list[Problem]:
        """The problems that `--allow-drift` tolerates."""
        return [problem for problem in self.problems if problem.rule in DRIFT]

    @property
    def fatal(self) -> list[Problem]:
        """The problems that nothing tolerates: the label itself is wrong."""
        return [problem for problem in self.problems if problem.rule not in DRIFT]


def resolve(
    questions: Sequence[Question], documents: Sequence[Document], path: str, *, elsewhere: bool = False
) -> Resolution:
    """Find every judgment in the corpus; `path` names the questions file in messages. Raises nothing.

    `elsewhere` also looks through the whole corpus for other, unjudged blocks that hold a quote, and
    warns about them: for validation, since a run doesn't need it.
    """
    index = Index(documents)
    resolution = Resolution()
    for question in questions:
        places = [_place(index, judgment) for judgment in question.relevant]
        targets = _targets(question, places)
        resolution.targets[question.id] = targets
        faults = [(n, fault) for n, place in enumerate(places) if (fault := place.fault)] + _same_places(targets)
        resolution.problems += [_problem(path, question, n, fault) for n, fault in faults]
        if elsewhere:
            doubts = _also_elsewhere(index, question, targets)
            resolution.warnings += [_problem(path, question, n, doubt) for n, doubt in doubts]
    resolution.problems.sort()
    resolution.warnings.sort()
    return resolution


@dataclass(frozen=True, slots=True)
class _Fault:
    rule: str
    found: str
    remedy: str


@dataclass(frozen=True, slots=True)
class _Place:
    kind: TargetKind
    spans: tuple[Span, ...]
    fault: _Fault | None = None


def _problem(path: str, question: Question, number: int, fault: _Fault) -> Problem:
    return Problem(path, question.line, fault.rule, f"{question.id} relevant[{number}]: {fault.found}", fault.remedy)


def _targets(question: Question, places: Sequence[_Place]) -> tuple[Target, ...]:
    """Groups are numbered by first occurrence; a judgment without one is a group of its own."""
    numbers: dict[str | int, int] = {}
    targets = []
    for position, (judgment, place) in enumerate(zip(question.relevant, places, strict=True)):
        group = numbers.setdefault(position if judgment.group is None else judgment.group, len(numbers))
        targets.append(Target(judgment.document, place.kind, place.spans, judgment.grade, group))
    return tuple(targets)


def _place(index: Index, judgment: Judgment) -> _Place:
    document = index.documents.get(judgment.document)
    if judgment.quote is not None:
        if document is None:
            return _Place("quote", (), _unknown(index, judgment))
        return _quote(index, document, judgment, judgment.quote)
    kind: TargetKind = "block" if judgment.block is not None else "page" if judgment.page is not None else "document"
    if document is None:
        return _Place(kind, (), _unknown(index, judgment))
    fault = _block_fault(document, judgment.block) or _page_fault(document, judgment.page, judgment.block)
    if fault or kind == "document":
        return _Place(kind, (), fault)
    if judgment.block is not None:
        return _Place(kind, (_whole(document.blocks[judgment.block]),))
    return _Place(kind, tuple(_whole(block) for block in document.blocks if block.page == judgment.page))


def _whole(block: Block) -> Span:
    return Span(block.order, block.start, block.end)


def _quote(index: Index, document: Document, judgment: Judgment, quote: str) -> _Place:
    if judgment.block is not None:
        in_range = judgment.block < len(document.blocks)
        found = index.in_block(document.slug, document.blocks[judgment.block], quote) if in_range else []
        expected = f"in block {judgment.block}" + ("" if in_range else f" (there are {len(document.blocks)} blocks)")
    else:
        found = index.in_document(document.slug, quote)
        expected = "in the document"
        if judgment.page is not None and found and document.pages is not None:
            expected = f"on page {judgment.page}"
            found = [each for each in found if each.block.page == judgment.page]
    drifted = not found
    found = found or index.in_document(document.slug, quote)
    if not found:
        return _Place("quote", (), _absent(index, document, quote))
    if len({each.block.order for each in found}) > 1:
        where = f"not {expected} but in" if drifted else "in"
        text = f"the quote {show(quote)} is {where} several blocks: {_listed(found)}"
        return _Place("quote", (), _Fault("ambiguous", text, "say which `block`, or quote more of the sentence"))
    here = found[0]
    if len(found) > 1:
        text = f"the quote {show(quote)} stands {len(found)} times in {here}"
        return _Place("quote", (), _Fault("repeated", text, "quote more of the sentence"))
    fault = None
    if drifted:
        text = f"the quote {show(quote)} is not {expected}; it is now in {here}"
        fault = _Fault("drifted", text, f"if that is still the answer: {_label(here.block)}")
    elif wrong_page := _page_fault(document, judgment.page, here.block.order):
        fault = _Fault("quote-page", wrong_page.found, wrong_page.remedy)
    return _Place("quote", (Span(here.block.order, here.start, here.end),), fault)


def _label(block: Block) -> str:
    return f'"page": {"null" if block.page is None else block.page}, "block": {block.order}'


def _block_fault(document: Document, order: int | None) -> _Fault | None:
    if order is None or order < len(document.blocks):
        return None
    text = f"there is no block {order}; {show(document.slug)} has blocks 0 to {len(document.blocks) - 1}"
    return _Fault("block-range", text, "see `ragkit blocks`")


def _page_fault(document: Document, page: int | None, order: int | None) -> _Fault | None:
    if page is None:
        return None
    if document.pages is None:
        text = f"page {page} is given, but {show(document.slug)} has no pages"
        return _Fault("page-unpaged", text, "leave `page` out")
    if page > document.pages:
        return _Fault("page-range", f"there is no page {page}; {show(document.slug)} has {document.pages}", "")
    if order is not None and document.blocks[order].page != page:
        block = document.blocks[order]
        return _Fault("page-mismatch", f"{describe(block)} is not on page {page}", f"label it {_label(block)}")
    if order is None and all(block.page != page for block in document.blocks):
        return _Fault("empty-page", f"page {page} of {show(document.slug)} has no block", "judge another page")
    return None


def _unknown(index: Index, judgment: Judgment) -> _Fault:
    near = index.near(judgment.document)
    hints = [f"did you mean {' or '.join(map(show, near))}?"] if near else []
    if judgment.quote is not None and (now := _listed(index.everywhere(judgment.quote), named=True)):
        hints.append(f"the quote is now in {now}")
    text = f"the corpus has no document {show(judgment.document)}"
    return _Fault("unknown-document", text, "; ".join(hints) or "see the corpus folder for its slugs")


def _absent(index: Index, document: Document, quote: str) -> _Fault:
    text = f"the quote {show(quote)} is nowhere in {show(document.slug)}"
    if now := _listed(index.everywhere(quote), named=True):
        return _Fault("absent", f"{text}; it is now in {now}", "point the label there, if it is still the answer")
    near = nearest(index, document, quote)
    if near is None:
        return _Fault("absent", text, "the passage was removed or reworded: read the document and quote it anew")
    text = f"{text}; the nearest text is in {describe(near)}: {show(near.text)}"
    return _Fault("absent", text, "if that is the passage, quote it as it stands now")


def _listed(found: Iterable[Found], *, named: bool = False) -> str:
    """Up to three places, each block once; `named` puts the document before each. Empty: none."""
    names = dict.fromkeys(f"{show(each.slug)} {each}" if named else str(each) for each in islice(found, 100))
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return "; ".join(list(names)[:NAMED]) + more


def _same_places(targets: Sequence[Target]) -> list[tuple[int, _Fault]]:
    faults = []
    first: dict[tuple[str, TargetKind, tuple[Span, ...]], int] = {}
    for number, target in enumerate(targets):
        place = (target.slug, target.kind, target.spans)
        if (target.spans or target.kind == "document") and first.setdefault(place, number) != number:
            text = f"the same place as relevant[{first[place]}]"
            faults.append((number, _Fault("duplicate-judgment", text, "keep one of them")))
    return faults


def _also_elsewhere(index: Index, question: Question, targets: Sequence[Target]) -> list[tuple[int, _Fault]]:
    judged = {(target.slug, span.block) for target in targets for span in target.spans}
    whole = {target.slug for target in targets if target.kind == "document"}
    doubts = []
    for number, (judgment, target) in enumerate(zip(question.relevant, targets, strict=True)):
        if judgment.quote is None or not target.spans:
            continue
        others = _listed(
            (
                found
                for found in index.everywhere(judgment.quote)
                if (found.slug, found.block.order) not in judged and found.slug not in whole
            ),
            named=True,
        )
        if others:
            text = f"the quote {show(judgment.quote)} also stands in {others}, which is not judged"
            remedy = "judge that block too if it answers the question, else quote more of the sentence"
            doubts.append((number, _Fault("also-elsewhere", text, remedy)))
    return doubts
