"""Tests, intervals and corrections, against scipy and numbers worked out by hand."""

from __future__ import annotations

import doctest
import hashlib
import importlib
import math
import pkgutil

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import ragkit.comparison
from ragkit.comparison.detectable import detectable_difference, headroom
from ragkit.comparison.guard import judge_guard, t_interval, t_quantile
from ragkit.comparison.holm import holm
from ragkit.comparison.signflip import cluster_signflip, seed_of, signflip


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(ragkit.comparison.__path__)])
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"ragkit.comparison.{name}"), raise_on_error=True).failed == 0


FIXED = [
    [0.1, 0.2, 0.3, -0.1, 0.7, 0.1],
    [1.0, 1.0, 1.0, 1.0, 1.0],
    [0.5, -0.5, 0.25],
    [1.0, -1.0],
    [-0.3, -0.2, -0.9, 0.1, -0.4, -0.4, -0.1, 0.2],
    [1 / 3, -1 / 3, 2 / 3, 1.0, 0.5],
]


@pytest.mark.parametrize("differences", FIXED)
def test_p_is_that_of_scipys_exact_permutation_test(differences: list[float]) -> None:
    theirs = scipy.stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    assert signflip(differences, seed=0) == pytest.approx(theirs.pvalue, abs=1e-12)


def test_p_of_the_protocols_example_counts_equal_sums_as_equal() -> None:
    assert signflip([0.1, 0.2, 0.3, -0.1, 0.7, 0.1], seed=0) == 0.125


def test_questions_that_did_not_change_change_nothing() -> None:
    moved = [0.5, 1.0, 0.5, -0.25]
    assert signflip([*moved, *[0.0] * 50, 1e-6, -1e-6], seed=0) == signflip(moved, seed=0)


def test_without_any_change_p_is_one() -> None:
    assert signflip([], seed=0) == signflip([0.0] * 9, seed=0) == cluster_signflip([0.0], ["a"], seed=0) == 1.0


def test_twenty_are_counted_and_twenty_one_drawn() -> None:
    assert signflip([1.0] * 20, seed=0) == 2 / 2**20
    assert signflip([1.0] * 21, seed=0) == 1 / 100_001  # no draw of 100,000 has all signs alike
    assert signflip([0.5] * 21, seed=3) == signflip([0.5] * 21, seed=3)


def test_drawn_p_is_close_to_the_exact_one() -> None:
    differences = [1.0] * 18 + [-1.0] * 7  # the sum is binomial
    exact = 2 * scipy.stats.binom.cdf(7, 25, 0.5)
    assert signflip(differences, seed=5) == pytest.approx(exact, abs=4 * math.sqrt(exact / 100_000))
    assert signflip(differences, seed=5) != signflip(differences, seed=6)


@settings(max_examples=60)
@given(st.lists(st.sampled_from([-1.0, -0.5, -1 / 3, 0.0, 1 / 3, 0.5, 1.0]), max_size=12))
def test_p_is_above_zero_symmetric_and_blind_to_order(differences: list[float]) -> None:
    p = signflip(differences, seed=1)
    assert 0 < p <= 1
    assert p == signflip([-d for d in differences], seed=1) == signflip(differences[::-1], seed=1)


def test_the_seed_is_of_the_pair_the_measure_and_the_split() -> None:
    digest = hashlib.sha256(b"20240501|a|b|Recall@5|test").digest()
    assert seed_of("a", "b", "Recall@5", "test") == int.from_bytes(digest[:8], "big")
    assert seed_of("a", "b", "Recall@5", "test") != seed_of("b", "a", "Recall@5", "test")


def test_questions_on_one_document_count_once() -> None:
    """Six gains on one document are one event; on six documents they prove something."""
    gains = [1.0] * 6
    assert cluster_signflip(gains, list("abcdef"), seed=0) == signflip(gains, seed=0) == 2 / 64
    assert cluster_signflip(gains, ["a"] * 6, seed=0) == 1.0
    assert cluster_signflip([1.0, 1.0, 1.0, -1.0], list("aabb"), seed=0) == 1.0  # +2 and 0
    assert cluster_signflip([1.0, 1.0, 1.0, 0.5], list("aabb"), seed=0) == signflip([2.0, 1.5], seed=0) == 0.5


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 29, 100, 151])
@pytest.mark.parametrize("probability", [0.8, 0.95, 0.975, 0.995])
def test_quantiles_of_t_are_scipys(probability: float, freedom: int) -> None:
    assert t_quantile(probability, freedom) == pytest.approx(scipy.stats.t.ppf(probability, freedom), rel=1e-10)


def test_the_t_interval_is_scipys() -> None:
    values = [0.1, -0.2, 0.0, 0.5, 0.0, 0.25, -0.1]
    theirs = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert t_interval(values, 0.975) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@pytest.mark.parametrize(
    ("differences", "state"),
    [
        ([0.0] * 10, "holds"),
        ([0.1] * 10, "holds"),
        ([-0.0199] * 10, "holds"),
        ([-0.02] * 10, "broken"),  # the lower end must be above -0.02
        ([-0.3, -0.2, -0.3, -0.2, -0.25], "broken"),
        ([0.3, -0.3, 0.3, -0.3], "undecided"),
        ([0.5], "undecided"),  # one question has no spread
        ([-0.015] * 30 + [0.1], "holds"),  # mean -0.0113, standard error 0.0037
    ],
)
def test_the_guard(differences: list[float], state: str) -> None:
    assert judge_guard("nDCG@10", differences, 0.02).state == state


def test_the_guards_ends_are_one_sided_95_percent() -> None:
    values = [0.1, -0.2, 0.0, 0.5, 0.0, 0.25, -0.1]
    found = judge_guard("nDCG@10", values, 0.02)
    theirs = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.90)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_the_detectable_difference() -> None:
    values = [0.5, -0.5] * 50
    z = scipy.stats.norm.ppf(1 - 0.0125) + scipy.stats.norm.ppf(0.80)
    assert detectable_difference(values, 0.025) == pytest.approx(z * np.std(values, ddof=1) / 10)
    assert detectable_difference([0.0] * 100, 0.025) == 7 / 100  # ceil(1 + log2(40)) questions at least
    assert detectable_difference([0.5], 0.0625) == 5.0


@pytest.mark.parametrize(("improvable", "enough"), [(0, False), (6, False), (7, True), (30, True)])
def test_headroom_takes_as_many_questions_as_p_can_be_reached_with(improvable: int, enough: bool) -> None:
    """2^(1-6) = 0.03 is above 0.025; 2^(1-7) is not."""
    found = headroom([0.5] * improvable + [1.0] * 40 + [0.9999999], 0.025)
    assert (found.improvable, found.n, found.enough) == (improvable, improvable + 41, enough)


def test_holm_steps_down_and_never_decreases() -> None:
    assert holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
