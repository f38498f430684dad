"""A wrong formula here would put wrong significance marks and intervals into the tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexicase.report.statistics import (
    fisher_exact,
    fisher_power,
    holm,
    kaplan_meier,
    mcnemar,
    paired_difference,
    paired_ratio,
    wilson,
    z_test,
)

counts = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.slow
@given(counts, counts)
def test_fisher_agrees_with_scipy(first, second):
    stats = pytest.importorskip("scipy.stats")
    (a, n), (b, m) = first, second
    expected = stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue
    assert fisher_exact(a, n, b, m) == pytest.approx(expected, rel=1e-9)


def test_fisher_of_the_tea_tasting():
    """Fisher's own example: three of four cups, two-sided 0.486."""
    assert fisher_exact(3, 4, 1, 4) == pytest.approx(34 / 70)


@pytest.mark.slow
@given(counts, st.floats(0.5, 0.999))
def test_wilson_agrees_with_scipy(count, confidence):
    stats = pytest.importorskip("scipy.stats")
    expected = stats.binomtest(*count).proportion_ci(confidence, method="wilson")
    assert wilson(*count, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(counts)
def test_wilson_ends_are_where_the_score_test_just_rejects(count):
    """The interval's definition, independent of the closed formula."""
    k, n = count
    z = 1.959963984540054
    for end in wilson(k, n):
        if 0 < end < 1:
            assert abs(k / n - end) == pytest.approx(z * math.sqrt(end * (1 - end) / n), rel=1e-9)


def test_wilson_of_newcombe_1998():
    """Newcombe's table: 81 of 263 gives 0.2553 to 0.3662; 0 of 20 gives 0 to 0.1611."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_mcnemar_is_the_sign_test_of_the_discordant_pairs():
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(2, 9) == pytest.approx(2 * sum(math.comb(11, k) for k in range(3)) / 2**11)


def test_paired_difference_is_the_one_of_the_shares_and_its_interval_holds_it():
    difference, (low, high) = paired_difference(3, 9, 50)
    assert difference == pytest.approx(-0.12)
    assert low < difference < high
    assert paired_difference(9, 3, 50)[1] == pytest.approx((-high, -low))


@pytest.mark.slow
def test_power_by_simulation():
    rng = np.random.default_rng(1)
    draws = rng.binomial(20, [0.5, 0.9], size=(2000, 2))
    share = np.mean([fisher_exact(int(a), 20, int(b), 20) < 0.05 for a, b in draws])
    assert fisher_power(0.5, 0.9, 20) == pytest.approx(share, abs=0.04)


def test_ratio_of_pairs_with_its_t_interval():
    logs = np.log([0.5, 0.6, 0.7, 0.8])
    found = paired_ratio(logs)
    half = 3.182446 * logs.std(ddof=1) / 2  # Student, 3 degrees of freedom
    assert found.ratio == pytest.approx(np.exp(logs.mean()))
    assert found.interval == pytest.approx(np.exp([logs.mean() - half, logs.mean() + half]), rel=1e-6)
    assert (found.lower, found.seeds) == (4, 4)
    assert paired_ratio(logs[:2]) is None


def test_holm_of_a_worked_example():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.2))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values, alpha):
    order = np.argsort(p_values, kind="stable")
    rejected = set()
    for rank, index in enumerate(order):
        if (len(p_values) - rank) * p_values[index] > alpha:
            break
        rejected.add(int(index))
    assert {i for i, p in enumerate(holm(p_values)) if p <= alpha} == rejected


@pytest.mark.parametrize(("accuracy", "published"), [(0.9319, 0.276), (0.9299, 0.085), (0.9329, 0.421), (0.9317, 0.25)])
def test_z_test_gives_the_published_values(accuracy, published):
    assert z_test(accuracy, 0.9334, 10_000)[1] == pytest.approx(published, abs=5e-4)


def test_z_test_with_the_variance_of_the_null_hypothesis():
    assert z_test(0.9299, 0.9334, 10_000, variance="null")[1] == pytest.approx(0.0802, abs=5e-5)


def test_z_test_of_certainty_has_no_division_by_zero():
    assert z_test(1.0, 0.9, 10) == (math.inf, 1.0)
    assert z_test(0.0, 0.9, 10) == (-math.inf, 0.0)
    assert z_test(1.0, 1.0, 10) == (0.0, 0.5)


def test_kaplan_meier_of_the_leukaemia_trial():
    """Freireich et al. (1963), the 6-MP arm: the textbook curve."""
    times = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
    ended = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    moments, surviving = kaplan_meier(times, ended)
    assert moments.tolist() == [6, 7, 10, 13, 16, 22, 23]
    assert surviving == pytest.approx([0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448], abs=5e-4)


@pytest.mark.slow
@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_kaplan_meier_without_censoring_is_the_share_left(times):
    moments, surviving = kaplan_meier(times, [True] * len(times))
    assert surviving == pytest.approx([np.mean(np.array(times) > t) for t in moments], abs=1e-12)


def test_kaplan_meier_where_nothing_ended_has_no_steps():
    assert kaplan_meier([3, 4], [False, False])[0].size == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson(3, 2), "got 3 of 2"),
        (lambda: wilson(0, 0), "got 0 of 0"),
        (lambda: wilson(1, 2, 1.0), "confidence"),
        (lambda: fisher_exact(-1, 2, 1, 2), "got -1 of 2"),
        (lambda: holm([0.1, 1.5]), "found 1.5"),
        (lambda: holm([math.nan]), "found nan"),
        (lambda: z_test(1.2, 0.5, 10), "accuracy"),
        (lambda: z_test(0.5, math.nan, 10), "baseline"),
        (lambda: z_test(0.5, 0.5, 0), "trials"),
        (lambda: z_test(0.5, 0.5, 5, variance="other"), "variance"),
        (lambda: kaplan_meier([1.0], [True, False]), "one length"),
        (lambda: kaplan_meier([math.nan], [True]), "NaN at 0"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
