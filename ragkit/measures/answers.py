"""Answers and their citations, question by question, and their means.

Token F1 is SQuAD's (Rajpurkar et al. 2016), with two changes for other languages: Chinese and Japanese
text is compared by character, and a decimal point stays in its number. chrF is chrF2 (Popović 2015) as
sacreBLEU computes it for one sentence, in [0, 1].
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ragkit.measures.citations import CitationScore, score_citations
from ragkit.measures.intervals import estimates
from ragkit.records import Estimate, Question, Target
from ragkit.text import fold

Cited = tuple[str, int] | str
"""A cited block: slug and order if it exists, else the words it was cited by."""

CHRF_ORDER: Final = 6
CHRF_BETA: Final = 2
_UNSPACED: Final = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+")
_ARTICLES: Final = frozenset({"a", "an", "the"})


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """One question's answer, scored; `text` is `None` when it was declined, which scores 0.

    `f1` and `chrf` are `None` without a gold answer. `citations` and `judgment_recall` are `None` when no
    block is judged: an unanswerable question, or one with judged pages or documents only.
    `judgment_recall` is the share of judgments (groups of equal places) of which some block is cited.
    """

    answerable: bool
    text: str | None
    cited: tuple[Cited, ...]
    evidence: float | None
    f1: float | None
    chrf: float | None
    citations: CitationScore | None
    judgment_recall: float | None

    @property
    def declined(self) -> bool:
        return self.text is None


def score_answer(
    question: Question, targets: Sequence[Target], text: str | None, cited: Iterable[Cited], evidence: float | None
) -> AnswerScore:
    """Score one answer; `targets` are the question's judgments that were located.

    The blocks of quotes and judged blocks are the ones that should be cited. A judgment of this kind
    that was not located still counts, as a block that nobody can cite.
    """
    cited = tuple(dict.fromkeys(cited))
    places = [t for t in targets if t.kind in ("quote", "block")]
    wanted = sum(j.block is not None or j.quote is not None for j in question.relevant)
    lost = [("", -number) for number in range(1, wanted - len(places) + 1)]
    groups: dict[int, set[Cited]] = {-1 - number: {place} for number, place in enumerate(lost)}
    for target in places:
        groups.setdefault(target.group, set()).update((target.slug, span.block) for span in target.spans)
    judged = set().union(*groups.values())
    gold = question.gold_answer if question.answerable else None
    return AnswerScore(
        answerable=question.answerable,
        text=text,
        cited=cited,
        evidence=evidence,
        f1=None if gold is None else token_f1(text or "", gold),
        chrf=None if gold is None else chrf(fold(text or ""), fold(gold)),
        citations=score_citations(cited, judged, [c for c in cited if not isinstance(c, str)]) if judged else None,
        judgment_recall=sum(not group.isdisjoint(cited) for group in groups.values()) / len(groups) if judged else None,
    )


def tokens(text: str) -> list[str]:
    """Presentation and case folded, punctuation and English articles gone, CJK one by one.

    >>> tokens("The “red” pump runs at 2.5 bar; 红灯。")
    ['red', 'pump', 'runs', 'at', '2.5', 'bar', '红', '灯']
    """
    text = re.sub(r"(?<=\d)[.,](?=\d)", "\0", fold(text).casefold())
    punctuation = [character for character in set(text) if unicodedata.category(character)[0] == "P"]
    text = text.translate(dict.fromkeys(map(ord, punctuation)))
    return [token.replace("\0", ".") for token in _TOKEN.findall(text) if token not in _ARTICLES]


def token_f1(answer: str, gold: str) -> float:
    """F1 of the two bags of tokens, in [0, 1]; where one has no token, whether neither has.

    >>> token_f1("It lasts six years.", "six years")
    0.6666666666666666
    """
    ours, theirs = Counter(tokens(answer)), Counter(tokens(gold))
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def chrf(answer: str, gold: str) -> float:
    """chrF2 in [0, 1]: F of character n-grams (n = 1 to 6, white space left out), recall counting twice.

    Precision and recall are averaged over the n for which both texts are long enough.
    """
    hypothesis, reference = "".join(answer.split()), "".join(gold.split())
    orders = min(CHRF_ORDER, len(hypothesis), len(reference))
    if not orders:
        return 0.0
    shared = _shared_ngrams(hypothesis, reference, orders)
    precision = sum(count / (len(hypothesis) - n + 1) for n, count in enumerate(shared, 1)) / orders
    recall = sum(count / (len(reference) - n + 1) for n, count in enumerate(shared, 1)) / orders
    weight = CHRF_BETA**2
    return (1 + weight) * precision * recall / (weight * precision + recall) if precision + recall else 0.0


def _shared_ngrams(left: str, right: str, orders: int) -> list[int]:
    """How many n-grams the texts share, counted as often as in both, for n = 1 to `orders`.

    A longer one begins where a shorter one is shared, so soon few places are left to look at.
    """
    ours: Sequence[int] = range(len(left))
    theirs: Sequence[int] = range(len(right))
    counts = []
    for n in range(1, orders + 1):
        of_left = Counter([left[at : at + n] for at in ours if at + n <= len(left)])
        of_right = Counter([right[at : at + n] for at in theirs if at + n <= len(right)])
        shared = of_left.keys() & of_right.keys()
        counts.append(sum(min(of_left[gram], of_right[gram]) for gram in shared))
        ours = [at for at in ours if left[at : at + n] in shared]
        theirs = [at for at in theirs if right[at : at + n] in shared]
    return counts


def summarise_answers(scores: Iterable[AnswerScore], draws: int, seed: int) -> dict[str, Estimate]:
    """Means of `f1` and `chrf` with intervals, over the answerable questions that have a gold answer."""
    found = [score for score in scores if score.f1 is not None]
    return _estimates({"f1": [s.f1 for s in found], "chrf": [s.chrf for s in found]}, draws, seed)


def summarise_citations(scores: Iterable[AnswerScore], draws: int, seed: int) -> dict[str, Estimate]:
    """Means with intervals over the questions with judged blocks; a declined one cites nothing.

    `precision` and `resolution` leave out the questions whose answer cites nothing; the others count
    them as 0. `all_judged` is the share of questions whose resolved citations are some, and all judged.
    """
    found = [(s.citations, s.judgment_recall) for s in scores if s.citations is not None]
    columns: dict[str, list[float | None]] = {
        "precision": [c.precision for c, _ in found],
        "recall": [c.recall for c, _ in found],
        "f1": [c.f1 for c, _ in found],
        "judgment_recall": [recall for _, recall in found],
        "all_judged": [float(c.all_judged) for c, _ in found],
        "resolution": [c.resolution for c, _ in found],
    }
    return _estimates(columns, draws, seed)


def _estimates(columns: dict[str, list[float | None]], draws: int, seed: int) -> dict[str, Estimate]:
    """`estimates` of what is defined; a measure without any value is absent."""
    defined = {name: [v for v in values if v is not None] for name, values in columns.items()}
    return estimates({name: values for name, values in defined.items() if values}, draws, seed)
