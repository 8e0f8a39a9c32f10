"""Judgments become targets, or say what became of them: drifted, ambiguous, absent, out of range."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ragkit.dataset import Resolution, resolve
from ragkit.records import Document, Judgment, Question, Target
from tests.growth import grows_with_its_input

MakeDocument = Callable[..., Document]


@pytest.fixture
def corpus(make_document: MakeDocument) -> list[Document]:
    manual = [
        "Limits",  # 0, page 1
        "The WL-20 is rated to 10 m of water.",  # 1, page 1
        "The e\ufb03cient Mess\u00adgerät \u2013 \u201cStillair\u201d \u2013 is rated to 10 m too.",  # 2, page 2
        "Change the seal. Change the seal again.",  # 3, page 2
        "Warranty ends after two years.",  # 4, page 4
    ]
    notes = ["The WL-25 is rated to 40 m.", "Warranty ends after two years.", "Nobody knows."]
    return [make_document("manual.pdf", manual, pages=[1, 1, 2, 2, 4]), make_document("notes/a.md", notes)]


def resolved(corpus: list[Document], *judgments: Judgment, elsewhere: bool = False) -> Resolution:
    question = Question("q1", "How deep?", judgments, None, None, True, 12)
    return resolve([question], corpus, "eval/questions.jsonl", elsewhere=elsewhere)


def text_of(corpus: list[Document], target: Target) -> list[str]:
    document = next(each for each in corpus if each.slug == target.slug)
    return [document.text[span.start : span.end] for span in target.spans]


def only_problem(resolution: Resolution) -> tuple[str, str]:
    [problem] = resolution.problems
    assert (problem.path, problem.line) == ("eval/questions.jsonl", 12)
    assert problem.found.startswith("q1 relevant[0]: ")
    return problem.rule, str(problem)


@pytest.mark.parametrize(
    ("judgment", "kind", "texts"),
    [
        (Judgment("manual.pdf", 1, 1, "rated to 10 m"), "quote", ["rated to 10 m"]),
        (Judgment("manual.pdf", None, 1, "rated  to\n10\u00a0m"), "quote", ["rated to 10 m"]),
        (
            Judgment("manual.pdf", 2, 2, 'efficient Messgerät - "Stillair"'),
            "quote",
            ["e\ufb03cient Mess\u00adgerät \u2013 \u201cStillair\u201d"],
        ),
        (Judgment("manual.pdf", quote="10 m of water"), "quote", ["10 m of water"]),
        (Judgment("manual.pdf", 1, quote="rated to 10 m"), "quote", ["rated to 10 m"]),
        (Judgment("notes/a.md", block=2), "block", ["Nobody knows."]),
        (Judgment("manual.pdf", 1, 0), "block", ["Limits"]),
        (Judgment("manual.pdf", 1), "page", ["Limits", "The WL-20 is rated to 10 m of water."]),
        (Judgment("notes/a.md"), "document", []),
    ],
)
def test_a_good_judgment_is_where_it_says(
    corpus: list[Document], judgment: Judgment, kind: str, texts: list[str]
) -> None:
    resolution = resolved(corpus, judgment)
    [target] = resolution.targets["q1"]
    assert (resolution.problems, target.kind, text_of(corpus, target)) == ([], kind, texts)


@pytest.mark.parametrize(
    ("judgment", "rule", "says"),
    [
        (Judgment("manual.pdf", 1, 0, "10 m of water"), "drifted", "not in block 0; it is now in block 1, page 1"),
        (Judgment("manual.pdf", 1, 0, "10 m of water"), "drifted", '-> if that is still the answer: "page": 1, "block": 1'),
        (Judgment("manual.pdf", 1, 99, "10 m of water"), "drifted", "block 99 (there are 5 blocks); it is now in block 1"),
        (Judgment("manual.pdf", 2, quote="10 m of water"), "drifted", "not on page 2; it is now in block 1, page 1"),
        (Judgment("notes/a.md", None, 0, "Nobody"), "drifted", '"page": null, "block": 2'),
        (Judgment("manual.pdf", 1, 1, "Change the seal"), "repeated", "stands 2 times in block 3, page 2"),
        (Judgment("manual.pdf", 2, 3, "Change the seal"), "repeated", "quote more of the sentence"),
        (Judgment("manual.pdf", 1, 0, "rated to 10 m"), "ambiguous", "not in block 0 but in several blocks: block 1, page 1; block 2"),
        (Judgment("manual.pdf", quote="rated to 10 m"), "ambiguous", "say which `block`"),
        (Judgment("manual.pdf", 1, 1, "40 m"), "absent", 'it is now in "notes/a.md" block 0'),
        (Judgment("manual.pdf", 1, 1, "WL-20 is rated for 10 m of water"), "absent", "the nearest text is in block 1, page 1: \"The WL-20"),
        (Judgment("manual.pdf", 1, 1, "the probe may be lowered by ten metres"), "absent", "nowhere in \"manual.pdf\" -> the passage"),
        (Judgment("manual.pdf", 2, 1, "10 m of water"), "quote-page", "block 1, page 1 is not on page 2"),
        (Judgment("manual.pdf", 9, 1, "10 m of water"), "quote-page", "there is no page 9"),
        (Judgment("notes/a.md", 1, 2, "Nobody"), "quote-page", "has no pages -> leave `page` out"),
        (Judgment("manual.pdf", 1, 2), "page-mismatch", 'not on page 1 -> label it "page": 2, "block": 2'),
        (Judgment("manual.pdf", None, 5), "block-range", "blocks 0 to 4"),
        (Judgment("notes/a.md", 1), "page-unpaged", "has no pages"),
        (Judgment("manual.pdf", 5), "page-range", "no page 5"),
        (Judgment("manual.pdf", 3), "empty-page", "page 3"),
        (Judgment("manul.pdf"), "unknown-document", 'did you mean "manual.pdf"?'),
        (Judgment("old/A.md", block=0), "unknown-document", 'did you mean "notes/a.md"?'),
        (Judgment("gone.txt", None, 1, "10 m of water"), "unknown-document", 'the quote is now in "manual.pdf" block 1, page 1'),
        (Judgment("gone.txt", page=1), "unknown-document", "see the corpus folder"),
    ],
)  # fmt: skip
def test_each_kind_of_broken_label_is_caught(corpus: list[Document], judgment: Judgment, rule: str, says: str) -> None:
    found, message = only_problem(resolved(corpus, judgment))
    assert found == rule
    assert says in message


def test_drift_is_what_allow_drift_tolerates_and_label_mistakes_are_not(corpus: list[Document]) -> None:
    resolution = resolved(
        corpus,
        Judgment("manual.pdf", 1, 0, "10 m of water"),
        Judgment("manual.pdf", 1, 0, "nowhere at all"),
        Judgment("manual.pdf", 5),
    )
    assert [problem.rule for problem in resolution.drift] == ["absent", "drifted"]
    assert [problem.rule for problem in resolution.fatal] == ["page-range"]
    drifted, absent, lost = resolution.targets["q1"]
    assert text_of(corpus, drifted) == ["10 m of water"]  # known, told, and usable under --allow-drift
    assert (absent.kind, absent.spans, lost.kind, lost.spans) == ("quote", (), "page", ())


def test_groups_are_numbered_by_first_occurrence(corpus: list[Document]) -> None:
    resolution = resolved(
        corpus,
        Judgment("manual.pdf", block=0, group="b"),
        Judgment("manual.pdf", block=1),
        Judgment("manual.pdf", block=2, group="a", grade=3),
        Judgment("notes/a.md", block=0, group="b"),
        Judgment("notes/a.md", block=2),
    )
    assert [target.group for target in resolution.targets["q1"]] == [0, 1, 2, 0, 3]
    assert [target.grade for target in resolution.targets["q1"]] == [1, 1, 3, 1, 1]


def test_one_place_judged_in_two_ways_is_a_duplicate(corpus: list[Document]) -> None:
    resolution = resolved(
        corpus,
        Judgment("manual.pdf", 1, 1, "10 m of water"),
        Judgment("manual.pdf", quote="10 m of water"),
        Judgment("manual.pdf", block=1),
    )
    [problem] = resolution.problems
    assert str(problem).endswith("relevant[1]: the same place as relevant[0] -> keep one of them")


def test_a_quote_that_another_unjudged_block_holds_is_a_warning(corpus: list[Document]) -> None:
    both = (Judgment("manual.pdf", 4, 4, "two years"), Judgment("notes/a.md", block=1))
    assert resolved(corpus, *both, elsewhere=True).warnings == []
    assert resolved(corpus, both[0], Judgment("notes/a.md"), elsewhere=True).warnings == []
    resolution = resolved(corpus, both[0], elsewhere=True)
    [warning] = resolution.warnings
    assert (resolution.problems, warning.rule, warning.line) == ([], "also-elsewhere", 12)
    assert 'also stands in "notes/a.md" block 1' in warning.found


def test_a_message_names_three_places_at_most(make_document: MakeDocument) -> None:
    document = make_document("a.md", [f"Section {i}: see the manual." for i in range(9)])
    rule, message = only_problem(resolved([document], Judgment("a.md", quote="see the manual")))
    assert rule == "ambiguous"
    assert "block 0; block 1; block 2 and 6 more" in message


def test_a_quote_never_reaches_across_two_blocks(make_document: MakeDocument) -> None:
    document = make_document("a.md", ["first half", "second half"])
    assert only_problem(resolved([document], Judgment("a.md", quote="half second")))[0] == "absent"


def test_time_grows_with_the_questions(make_document: MakeDocument) -> None:
    texts = [[f"Document {d} block {b}: " + "the sensor’s range is wide, " * 15 for b in range(40)] for d in range(20)]
    documents = [make_document(f"d{d}.md", blocks) for d, blocks in enumerate(texts)]

    def work(count: int) -> None:
        judgments = [Judgment(f"d{i % 20}.md", None, i % 40, f"block {i % 40}: the") for i in range(count)]
        questions = [Question(f"q{i}", "?", (judgment,), None, None, True, i) for i, judgment in enumerate(judgments)]
        assert resolve(questions, documents, "q").problems == []

    assert grows_with_its_input(work, 200, 3_200)


def test_documents_that_no_question_names_cost_next_to_nothing(make_document: MakeDocument) -> None:
    block = make_document("d.md", ["The limit is 7 m. " * 20]).blocks[0]
    documents = [Document(f"d{i}.md", "text", "", block.text, (block,), None, "") for i in range(32_000)]

    def work(count: int) -> None:
        questions = [
            Question(f"q{i}", "?", (Judgment(f"d{i * 9}.md", block=0), Judgment(f"typo{i}.md")), None, None, True, i)
            for i in range(200)
        ]
        resolution = resolve(questions, documents[:count], "q")
        assert {problem.rule for problem in resolution.problems} == {"unknown-document"}

    assert grows_with_its_input(work, 2_000, 32_000)
