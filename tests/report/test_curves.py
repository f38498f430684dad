"""Curves must average over the runs still active, as the paper does, not over all."""

import numpy as np
import pytest

from flexicase.report.curves import mean_curve, median_curve, per_generation, totals
from tests.report.conftest import expected_means


@pytest.mark.parametrize("method", ["lexicase", "ranked-num-nonzeros"])
def test_the_mean_is_over_active_runs_only(results, method):
    curve = mean_curve(results.of("mirror-image", method), "evaluations")
    assert curve.mean == pytest.approx(expected_means(method))


def test_active_runs_are_counted(results):
    curve = mean_curve(results.of("mirror-image", "lexicase"), "evaluations")
    assert curve.active.tolist() == [8, 6, 4, 3, 2, 1]  # lengths 1 2 3 4 5 6 1 2


def test_the_band_is_the_interval_of_the_mean(results):
    curve = mean_curve(results.of("mirror-image", "ranked-num-nonzeros"), "evaluations")
    values = 100 + np.arange(8)
    half = 2.364624 * values.std(ddof=1) / np.sqrt(8)  # Student, 7 degrees of freedom
    assert (curve.low[0], curve.high[0]) == pytest.approx((values.mean() - half, values.mean() + half))


def test_a_single_run_left_has_no_band(results):
    curve = mean_curve(results.of("mirror-image", "lexicase"), "evaluations")
    assert curve.low[-1] == curve.mean[-1] == curve.high[-1]


def test_medians_and_quartiles(results):
    curve = median_curve(results.of("mirror-image", "ranked-num-nonzeros"), "evaluations")
    assert (curve.low[0], curve.mean[0], curve.high[0]) == pytest.approx(
        np.quantile(100 + np.arange(8), (0.25, 0.5, 0.75))
    )


def test_totals_and_means_of_runs(results):
    runs = results.of("mirror-image", "lexicase")[:2]
    assert totals(runs, "evaluations").tolist() == [200, 201 + 211]
    assert per_generation(runs, "evaluations").tolist() == [200, 206]
