"""Curves must average over the runs still active, as the paper does, not over all."""

import numpy as np
import pytest

from flexicase.report._curves import log_ratios, mean_curve, median_curve, per_generation, totals
from flexicase.report._sections import _caption
from tests.report.conftest import expected_means


@pytest.mark.parametrize("method", ["lexicase", "ranked-num-nonzeros"])
def test_the_mean_is_over_active_runs_only(results, method):
    curve = mean_curve(results.runs_of("mirror-image", method), "evaluations")
    assert curve.mean == pytest.approx(expected_means(method))


def test_active_runs_are_counted(results):
    curve = mean_curve(results.runs_of("mirror-image", "lexicase"), "evaluations")
    assert curve.active.tolist() == [8, 6, 4, 3, 2, 1]  # lengths 1 2 3 4 5 6 1 2


def test_the_band_is_the_interval_of_the_mean(results):
    curve = mean_curve(results.runs_of("mirror-image", "ranked-num-nonzeros"), "evaluations")
    values = 100 + np.arange(8)
    half = 2.364624 * values.std(ddof=1) / np.sqrt(8)  # Student, 7 degrees of freedom
    assert (curve.low[0], curve.high[0]) == pytest.approx((values.mean() - half, values.mean() + half))


def test_one_or_two_runs_left_have_no_band(results):
    curve = mean_curve(results.runs_of("mirror-image", "lexicase"), "evaluations")
    assert (curve.low < curve.mean).tolist() == [True, True, True, True, False, False]
    assert curve.high[-2:].tolist() == curve.mean[-2:].tolist()


def test_medians_and_quartiles(results):
    curve = median_curve(results.runs_of("mirror-image", "ranked-num-nonzeros"), "evaluations")
    assert (curve.low[0], curve.mean[0], curve.high[0]) == pytest.approx(
        np.quantile(100 + np.arange(8), (0.25, 0.5, 0.75))
    )


def test_medians_of_neighbouring_generations(results):
    curve = median_curve(results.runs_of("mirror-image", "ranked-num-nonzeros"), "evaluations", window=3)
    values = 100 + np.arange(8)
    assert curve.mean[0] == pytest.approx(np.median([values, values + 10]))
    assert curve.mean[2] == pytest.approx(np.median([values + 10, values + 20, values + 30]))


def test_ratios_are_matched_by_seed_and_generation_from_generation_1_on(results):
    mine, theirs = (results.runs_of("mirror-image", m) for m in ("ranked-num-nonzeros", "lexicase"))
    expected = [
        np.mean([np.log((100 + s + 10 * g) / (200 + s + 10 * g)) for g in range(1, 1 + s % 6)])
        for s in range(8)
        if s % 6
    ]
    assert log_ratios(mine, theirs, "evaluations") == pytest.approx(expected)


def test_totals_and_means_of_runs(results):
    runs = results.runs_of("mirror-image", "lexicase")[:2]
    assert totals(runs, "evaluations").tolist() == [200, 201 + 211]
    assert per_generation(runs, "evaluations").tolist() == [200, 206]


def test_the_caption_says_from_when_on_runs_are_few():
    line = {"title": "Lexicase", "x": [0, 1, 2], "active": [8, 5, 4]}
    few = "fewer than 5 from generation: Lexicase 2 (4 at the end)"
    assert _caption([line]) == f"Active runs of a method: 8 at the start, 4 at the end; {few}."
    steady = [{"title": "Lexicase", "x": [0, 1], "active": [n, n]} for n in (8, 6)]
    assert _caption(steady) == "Active runs of a method: 6–8."
