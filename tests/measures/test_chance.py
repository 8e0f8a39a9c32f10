"""The level of a random order, against trying every order."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.errors import UsageError
from ragkit.measures.budget import Tokens, covered_within, starts
from ragkit.measures.chance import BudgetChance, document_chance, recall_chance
from ragkit.measures.coverage import ChunkIndex, Coverage
from ragkit.measures.ranking import first_ranks, recall


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sets(st.integers(0, 2), max_size=2), min_size=1, max_size=6), st.integers(1, 8))
def test_closed_form_is_the_mean_over_all_orders(hits, k):
    """Each chunk is the set of judgments it covers; k may exceed the number of chunks."""
    counts = [sum(judgment in hit for hit in hits) for judgment in range(3)]
    every = [recall(first_ranks(order, 3), k, depth=10) for order in permutations(hits)]
    assert recall_chance(counts, len(hits), k) == pytest.approx(sum(every) / len(every), abs=1e-12)


def test_uncoverable_judgment_adds_nothing_even_with_everything_retrieved():
    assert recall_chance([0, 1], chunks=5, k=10) == 0.5


def test_chance_without_judgments_is_refused():
    with pytest.raises(UsageError, match="without judgments"):
        recall_chance([], 5, 1)


def test_document_chance_stops_at_1():
    assert document_chance(documents=8, k=2) == 0.25
    assert document_chance(documents=8, k=10) == 1.0


@pytest.fixture(scope="module")
def corpus(document, chunk, target):
    """Two documents cut into 7 chunks, overlapping; a quote that one cut goes through."""
    a, b = document("a", "abcdefghijklmnop"), document("b", "qrstuvwx", "yz")
    chunks = [
        *(chunk(a, *cut, i) for i, cut in enumerate([(0, 5), (4, 9), (8, 12), (12, 16)])),
        *(chunk(b, *cut, i) for i, cut in enumerate([(0, 4), (4, 8), (10, 12)])),
    ]
    groups = [
        [target(a, "quote", "cd")],
        [target(a, "quote", "hijk"), target(b, "block", 1)],
        [target(b, "block", 0)],
        [target(b, "document")],
        [target(a, "quote", "bcdefghijklmno")],
    ]
    return Coverage([a, b]), chunks, groups


def _budget_chance(corpus, letters, **options):
    coverage, chunks, _ = corpus
    options = {"budgets": (3, 8, 20), "seed": 1, **options}
    return BudgetChance(ChunkIndex(coverage, chunks), Tokens(letters), coverage, **options)


def test_budget_chance_approaches_the_mean_over_all_orders(corpus, letters):
    coverage, chunks, groups = corpus
    tokens = Tokens(letters)
    budgets = (3, 8, 20)
    orders = list(permutations(chunks))
    chance = _budget_chance(corpus, letters, permutations=20_000)
    for members in groups:
        exact = [
            sum(
                bool(covered_within(b, order, starts(map(tokens.count, order)), members, tokens, coverage))
                for order in orders[::7]
            )
            / len(orders[::7])
            for b in budgets
        ]
        assert chance.recalls([members]) == pytest.approx(exact, abs=0.03)


def test_each_permutation_is_scored_like_a_ranking(corpus, letters):
    """The quick bookkeeping agrees with scoring the permutations one by one."""
    coverage, chunks, groups = corpus
    tokens, budgets = Tokens(letters), (1, 7, 16)
    chance = _budget_chance(corpus, letters, permutations=50, budgets=budgets)
    generator = np.random.Generator(np.random.PCG64(1))
    orders = generator.permuted(np.tile(np.arange(7), (50, 1)), axis=1)
    for members in groups:
        for t in members:
            slow = [
                [
                    bool(covered_within(b, order, starts(map(tokens.count, order)), [t], tokens, coverage))
                    for order in ([chunks[i] for i in row] for row in orders)
                ]
                for b in budgets
            ]
            assert chance.covered(t).tolist() == slow


def test_budget_chance_depends_on_the_seed_alone(corpus, letters):
    *_, groups = corpus
    first, again, other = (_budget_chance(corpus, letters, seed=seed).recalls(groups) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_blocks_of_permutations_join_up(corpus, letters, monkeypatch):
    """A corpus too large for one block still gets all its permutations."""
    monkeypatch.setattr("ragkit.measures.chance._BLOCK", 7 * 3)
    *_, groups = corpus
    found = _budget_chance(corpus, letters, permutations=10, budgets=(1000,)).recalls(groups)
    assert found == [1.0]  # everything fits, and the long quote is there in pieces


def test_lost_judgment_counts_in_the_denominator(corpus, letters):
    *_, groups = corpus
    assert _budget_chance(corpus, letters).recalls([groups[3], []])[-1] <= 0.5
