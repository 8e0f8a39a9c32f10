"""Means and their intervals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from ragkit.errors import UsageError
from ragkit.measures.intervals import bootstrap, estimate, estimates, mean, wilson


def test_mean_is_exact_whatever_the_order():
    values = [1e16, 1.0, -1e16]
    assert mean(values) == mean(values[::-1]) == pytest.approx(1 / 3)


def test_mean_of_nothing_is_refused():
    with pytest.raises(UsageError, match="no question to average over"):
        estimate([])


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 10), (3, 10), (10, 10), (29, 29), (200, 200)])
def test_wilson_agrees_with_scipy(hits, n):
    expected = binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson(hits / n, n) == pytest.approx((expected.low, expected.high), abs=1e-7)


def test_few_questions_get_the_wilson_interval():
    found = estimate([0.5, 1.0, 0.25])
    assert (found.low, found.high) == wilson(1.75 / 3, 3)
    assert found.n == 3


def test_equal_values_get_the_wilson_interval_not_an_empty_one():
    found = estimate([1.0] * 50)
    assert found.mean == found.high == 1.0
    assert 0.9 < found.low < 1.0


def test_bootstrap_agrees_with_a_plain_one():
    """Every draw picks n whole rows; percentiles are numpy's."""
    values = np.random.default_rng(7).random((40, 2))
    generator = np.random.Generator(np.random.PCG64(3))
    means = []
    for _ in range(500):
        rows = [values[generator.integers(0, 40)] for _ in range(40)]
        means.append(sum(rows) / 40)
    plain = np.percentile(np.array(means), [2.5, 97.5], axis=0)
    assert np.allclose(bootstrap(values, 500, seed=3), plain, atol=0.02)
    generator = np.random.Generator(np.random.PCG64(3))
    same = np.array([values[row].mean(axis=0) for row in generator.integers(0, 40, size=(500, 40))])
    assert np.allclose(bootstrap(values, 500, seed=3), np.percentile(same, [2.5, 97.5], axis=0), atol=1e-12, rtol=0)


def test_bootstrap_width_matches_the_standard_error():
    values = np.random.default_rng(1).random((400, 1))
    low, high = bootstrap(values, 10_000, seed=1)[:, 0]
    error = values.std(ddof=1) / 20
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.04)


def test_many_questions_are_drawn_in_blocks(monkeypatch):
    monkeypatch.setattr("ragkit.measures.intervals._BLOCK", 100)
    values = np.random.default_rng(2).random((150, 1))  # one draw is more than a block
    low, high = bootstrap(values, 300, seed=1)[:, 0]
    assert 0.35 < low < values.mean() < high < 0.65


def test_measures_of_one_length_share_their_draws_and_equal_their_own_estimates():
    draws = np.random.default_rng(5).random((3, 35))
    columns = {"a": list(draws[0]), "b": list(draws[1]), "short": list(draws[2][:10])}
    together = estimates(columns, draws=400, seed=9)
    assert list(together) == ["a", "b", "short"]
    assert together == {name: estimate(values, draws=400, seed=9) for name, values in columns.items()}


def test_seed_decides_the_interval():
    values = list(np.random.default_rng(5).random(50))
    assert estimate(values, 200, seed=1) == estimate(values, 200, seed=1)
    assert estimate(values, 200, seed=1) != estimate(values, 200, seed=2)


@settings(max_examples=40)
@given(st.lists(st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]), min_size=1, max_size=60))
def test_interval_is_within_0_and_1_and_around_the_mean(values):
    found = estimate(values, draws=400, seed=1)
    assert 0 <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= 1
