"""A made-up corpus of any size with questions on it: what growth is measured on. The same seed gives the same files.

Documents have 300 to 600 words of made-up prose in sections, two thirds of them Markdown, the rest plain text. Each
states ten facts that stand nowhere else ("The holding torque of unit QX-000421 is 38.2 newton metres."); a question
asks for one and quotes it. Every twentieth question asks about a unit that no document knows.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

FACTS = 10
"""Facts in a document."""
UNITS = {
    "holding torque": "newton metres",
    "supply voltage": "volts",
    "sampling period": "seconds",
    "storage life": "months",
    "housing weight": "grams",
    "cable length": "metres",
    "response time": "milliseconds",
    "burst pressure": "bar",
    "drift limit": "parts per million",
    "service interval": "days",
}
WORDINGS = (
    "What is the {fact} of unit {unit}?",
    "{unit}: which {fact}?",
    "Please give the {fact} for {unit}",
    "I need {unit}'s {fact}",
    "How is the {fact} of {unit} specified?",
    "Looking for {fact}, device {unit}",
    "Which value holds for the {fact} of a {unit}?",
    "{fact} {unit}",
    "Does anyone know what {fact} unit {unit} has?",
    "Tell me about {unit} and its {fact}",
)


def write_dataset(folder: Path, documents: int, questions: int, seed: int = 1) -> None:
    """Write `corpus/`, `questions.jsonl` and `splits.json` into `folder`.

    There are at most `documents` x 10 facts x 10 wordings to ask for; more questions are a `ValueError`.
    """
    if questions > documents * FACTS * len(WORDINGS):
        raise ValueError(f"{documents} documents have too few facts for {questions} questions")
    draw = random.Random(seed)  # noqa: S311  not for secrets: the same corpus every time
    words = ["".join(draw.choices("etaoinshrdlucmfwy", k=draw.randint(2, 10))) for _ in range(8000)]
    ranks = [1 / (rank + 10) for rank in range(len(words))]  # a few words are everywhere, as in any language
    for number in range(documents):
        _write_document(folder / "corpus", number, draw, words, ranks)
    _write_questions(folder, documents, questions)


def _unit(document: int, fact: int) -> str:
    return f"QX-{document * FACTS + fact:06}"


def _value(document: int, fact: int) -> str:
    return f"{random.Random(f'{document} {fact}').randint(10, 9999) / 10:.1f}"  # noqa: S311


def _statement(document: int, fact: int) -> str:
    name = list(UNITS)[fact]
    return f"The {name} of unit {_unit(document, fact)} is {_value(document, fact)} {UNITS[name]}"


def _write_document(corpus: Path, number: int, draw: random.Random, words: list[str], ranks: list[float]) -> None:
    markdown = number % 3 < 2
    length = draw.randint(300, 600) - FACTS * 9
    prose = draw.choices(words, ranks, k=length)
    share = length // FACTS
    parts = [f"# Data sheet {number}" if markdown else f"Data sheet {number}"]
    for fact in range(FACTS):
        if markdown and fact % 4 == 0:
            parts.append("## " + " ".join(draw.choices(words, k=3)).capitalize())
        before = " ".join(prose[fact * share : (fact + 1) * share]).capitalize()
        parts.append(f"{before}. {_statement(number, fact)}.")
    path = corpus / f"{number // 1000:03}" / f"sheet-{number:06}.{'md' if markdown else 'txt'}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _write_questions(folder: Path, documents: int, count: int) -> None:
    lines = []
    for number in range(count):
        # Facts are asked for in turn over the whole corpus; the next wording begins when all have been.
        place, wording = number * documents * FACTS // count, 0
        if count > documents * FACTS:
            wording, place = divmod(number, documents * FACTS)
        document, fact = divmod(place, FACTS)
        entry = {"id": f"q-{number:06}", "type": ("sheet", "unit")[number % 2], **_ask(document, fact, wording, number)}
        lines.append(json.dumps(entry) + "\n")
    (folder / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
    ids = [f"q-{number:06}" for number in range(count)]
    splits = {"dev": [i for n, i in enumerate(ids) if n % 3 == 0], "test": [i for n, i in enumerate(ids) if n % 3]}
    (folder / "splits.json").write_text(json.dumps(splits, indent=2) + "\n", encoding="utf-8")


def _ask(document: int, fact: int, wording: int, number: int) -> dict[str, object]:
    name = list(UNITS)[fact]
    if number % 20 == 19:
        return {
            "question": WORDINGS[wording].format(fact=name, unit=f"ZZ-{number:06}"),
            "answerable": False,
            "relevant": [],
        }
    slug = f"{document // 1000:03}/sheet-{document:06}.{'md' if document % 3 < 2 else 'txt'}"
    return {
        "question": WORDINGS[wording].format(fact=name, unit=_unit(document, fact)),
        "goldAnswer": f"{_value(document, fact)} {UNITS[name]}.",
        "relevant": [{"document": slug, "quote": _statement(document, fact)}],
    }
