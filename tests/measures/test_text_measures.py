"""Evidence on spans and recall within token budgets."""

from hypothesis import given
from hypothesis import strategies as st

from ragkit.measures.budget import Tokens, covered_within, reaches, starts
from ragkit.measures.coverage import Coverage
from ragkit.measures.evidence import evidence


def test_evidence_recall_and_precision_by_hand(document, chunk, target):
    d = document("a", "aaaaaaaaaa", "bbbbbbbbbb")
    quote = target(d, "quote", "bbbb")
    # The chunk holds 5 + 8 characters, 4 of them judged.
    assert evidence(Coverage([d]), [chunk(d, 5, 20)], [quote]) == (1.0, 4 / 13)
    assert evidence(Coverage([d]), [chunk(d, 5, 14)], [quote]) == (0.5, 2 / 7)


def test_overlapping_hits_count_once_in_the_union_and_twice_in_what_was_read(document, chunk, target):
    d = document("a", "aaaaaaaaaa")
    whole = chunk(d, 0, 10)
    assert evidence(Coverage([d]), [whole, whole], [target(d, "block", 0)]) == (1.0, 0.5)


def test_overlapping_judgments_count_once(document, chunk, target):
    d = document("a", "abcdefghij")
    judged = [target(d, "quote", "abcdef", group=0), target(d, "quote", "defghi", group=1)]
    assert evidence(Coverage([d]), [chunk(d, 0, 6)], judged) == (6 / 9, 1.0)


def test_page_and_document_judgments_have_no_evidence(document, chunk, target):
    d = document("a", "aaaa", "bbbb", pages=(1, 2))
    coarse = [target(d, "page", 1), target(d, "document", group=1)]
    assert evidence(Coverage([d]), [chunk(d, 0, 4)], coarse) is None
    assert evidence(Coverage([d]), [chunk(d, 0, 4)], [*coarse, target(d, "block", 1, group=2)]) == (0.0, 0.0)


def test_no_hits_is_no_evidence(document, target):
    d = document("a", "aaaa")
    assert evidence(Coverage([d]), [], [target(d, "block", 0)]) == (0.0, 0.0)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 12)), max_size=6), st.sampled_from([0, 1, 2]))
def test_evidence_is_between_0_and_1(document, chunk, target, cuts, block):
    d = document("a", "aa aaa aaaa", "b bb bbb bbbb", "c cc ccc")
    chunks = [chunk(d, a, min(a + n, len(d.text))) for a, n in cuts]
    chunks = [c for c in chunks if c.spans]
    recall, precision = evidence(Coverage([d]), chunks, [target(d, "block", block)])
    assert 0 <= recall <= 1
    assert 0 <= precision <= 1


def _within(budget, chunks, targets, letters, coverage):
    tokens = Tokens(letters)
    return covered_within(budget, chunks, starts(map(tokens.count, chunks)), targets, tokens, coverage)


def test_hit_that_crosses_the_budget_is_cut_at_it(document, chunk, target, letters):
    d = document("a", "aaaaa", "bb bb bb")
    coverage, quote = Coverage([d]), target(d, "quote", "bb bb")
    chunks = [chunk(d, 0, 5, 0), chunk(d, 7, 15, 1)]
    assert _within(9, chunks, [quote], letters, coverage) == {0}  # 5 + 4 letters: "bb bb" just fits
    assert _within(8, chunks, [quote], letters, coverage) == frozenset()


def test_two_kept_halves_cover_a_quote_that_the_chunker_cut(document, chunk, target, letters):
    d = document("a", "abcdefgh")
    coverage, quote = Coverage([d]), target(d, "quote", "cdef")
    halves = [chunk(d, 4, 8, 1), chunk(d, 0, 4, 0)]
    assert _within(8, halves, [quote], letters, coverage) == {0}
    assert _within(7, halves, [quote], letters, coverage) == frozenset()


def test_repeated_text_is_paid_for_again(document, chunk, target, letters):
    d = document("a", "aaaa", "bbbb")
    coverage, block = Coverage([d]), target(d, "block", 1)
    again = [chunk(d, 0, 4, 0), chunk(d, 0, 4, 1), chunk(d, 6, 10, 2)]
    assert _within(9, again, [block], letters, coverage) == frozenset()
    assert _within(10, again, [block], letters, coverage) == {0}


def test_document_judgment_counts_from_its_first_token(document, chunk, target, letters):
    d = document("a", "aaaa")
    whole = [target(d, "document")]
    assert _within(1, [chunk(d, 0, 4)], whole, letters, Coverage([d])) == {0}
    assert _within(0, [chunk(d, 0, 4)], whole, letters, Coverage([d])) == frozenset()


def test_kept_part_ends_with_the_last_kept_token(document, chunk, letters):
    d = document("a", "ab cd", "ef")
    tokens, whole = Tokens(letters), chunk(d, 0, 9)
    assert tokens.count(whole) == 6
    assert [tokens.kept(whole, n) for n in (0, 3, 5, 6, 99)] == [
        [],
        [(0, 4)],
        [(0, 5), (7, 8)],
        [(0, 5), (7, 9)],
        [(0, 5), (7, 9)],
    ]


def test_a_budget_is_reached_when_the_candidates_hold_its_tokens(document, chunk, letters):
    d = document("a", "aaaa", "bbbb")
    lengths = [Tokens(letters).count(chunk(d, 0, 4))]
    assert reaches(4, lengths)
    assert not reaches(5, lengths)
    assert not reaches(1, [])
