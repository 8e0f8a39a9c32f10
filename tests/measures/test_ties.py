"""Bounds over the orders of tied hits, against trying every order."""

from itertools import chain, groupby, permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.measures.budget import starts
from ragkit.measures.ranking import first_ranks
from ragkit.measures.ties import rank_bounds, start_bounds


def test_rank_bounds_by_hand():
    """Behind 1 hit, a group of 4 with 2 covering members: between 2 and 1 + 4 - 2 + 1."""
    covered = [(), (0,), (), (0,), (), (0,)]
    assert rank_bounds([9, 5, 5, 5, 5, 1], covered, 2) == ((2, None), (4, None))


def test_untied_hits_have_no_slack():
    assert rank_bounds([3, 2, 1], [(), (0,), (1,)], 2) == ((2, 3), (2, 3))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.sets(st.integers(0, 1)), st.integers(0, 5)), max_size=6))
def test_bounds_are_the_extremes_over_all_orders_of_ties(hits):
    hits = sorted(hits, key=lambda hit: -hit[0])
    scores = [score for score, _, _ in hits]
    groups = [list(group) for _, group in groupby(range(len(hits)), key=lambda i: hits[i][0])]
    orders = [list(chain(*parts)) for parts in product(*(list(permutations(group)) for group in groups))]
    ranks = [first_ranks([hits[i][1] for i in order], 2) for order in orders]
    best, worst = rank_bounds(scores, [covered for _, covered, _ in hits], 2)
    for judgment in (0, 1):
        seen = {r[judgment] for r in ranks}
        assert (best[judgment], worst[judgment]) == ((None, None) if None in seen else (min(seen), max(seen)))

    befores: list[dict[int, int]] = [
        dict(zip(order, starts(hits[i][2] for i in order), strict=True)) for order in orders
    ]
    fewest, most = start_bounds(scores, [length for _, _, length in hits], range(len(hits)))
    assert fewest == [min(before[i] for before in befores) for i in range(len(hits))]
    assert most == [max(before[i] for before in befores) for i in range(len(hits))]
