"""Pictures show the numbers they claim to show."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import flexicase as fx
from flexicase import plot
from flexicase.data import example_errors
from flexicase.gp import evolve
from flexicase.plot import _style, run_picture
from flexicase.rng import key_from_seed
from flexicase.selection.methods import PAPER_METHODS
from flexicase.selection.orders import OrderKind, first_case_probabilities, ranked_order
from flexicase.selection.trace import trace

mpl = pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib.figure")
mpl.use("Agg")


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.fixture(scope="module")
def errors():
    return example_errors()[:80, :30]


@pytest.mark.slow
def test_funnel_draws_the_mean_pools_and_names_the_mean_evaluations(ax, errors):
    assert plot.funnel(errors, n=300, seed=4, ax=ax) is ax
    lines = dict(zip(PAPER_METHODS, ax.get_lines(), strict=True))
    for name, line in lines.items():
        np.testing.assert_allclose(line.get_ydata(), trace(errors, 200, name, seed=4).mean_pool())
        mean = fx.select(errors, 300, name, seed=4).evaluations.mean()
        assert line.get_label() == f"{name}  ({mean:,.0f} evaluations)"
    assert lines["lexicase"].get_color() == _style.BLACK
    assert lines["ranked-num-nonzeros"].get_color() == lines["weighted-num-nonzeros"].get_color() == _style.RED
    assert lines["ranked-num-zeros"].get_linestyle() == "-" != lines["weighted-num-zeros"].get_linestyle()
    assert ax.get_yscale() == "log"


def test_funnel_of_distinct_vectors_and_labelled_methods(ax, errors):
    plot.funnel(errors, {"mine": fx.Lexicase(epsilon=1.0)}, n=50, ax=ax, distinct=True, log=False)
    (line,) = ax.get_lines()
    assert line.get_ydata()[0] == len(np.unique(errors, axis=0))
    assert line.get_label().startswith("mine  (")
    assert ax.get_yscale() == "linear"


def test_funnel_refuses_no_events(ax):
    with pytest.raises(ValueError, match="n must be at least 1"):
        plot.funnel([[0, 1]], n=0, ax=ax)


def test_case_weights_are_sorted_heaviest_first_unless_told(ax):
    errors = [[0, 1, 1], [0, 0, 2]]
    plot.case_weights(errors, ax=ax)
    weighted, ranked, _ = (line.get_ydata() for line in ax.get_lines())
    np.testing.assert_allclose(weighted, [2 / 3, 1 / 3, 0])
    np.testing.assert_allclose(ranked, [11 / 18, 5 / 18, 2 / 18])
    plot.case_weights(errors, ax=(unsorted := type(ax.figure)().subplots()), sort=False)
    np.testing.assert_allclose(unsorted.get_lines()[0].get_ydata(), [0, 1 / 3, 2 / 3])


@pytest.mark.slow
@pytest.mark.parametrize("picture", [plot.funnel, plot.case_weights])
def test_pictures_of_scores_are_those_of_their_errors(picture, errors):
    drawn = [
        [
            np.asarray(line.get_ydata()).tolist()
            for line in picture(given, ax=mpl.figure.Figure().subplots(), **options).get_lines()
        ]
        for given, options in [(errors, {}), (7 - errors.astype(int), {"maximize": True, "solved": 7})]
    ]
    assert drawn[0] == drawn[1]


@pytest.mark.slow
def test_first_case_probabilities_are_how_often_ranked_orders_begin():
    """Ties share their ranks; a wrong share would show as a deviation of many standard errors."""
    weights = np.array([5.0, 1.0, 5.0, 3.0, 1.0, 1.0])
    key, n = key_from_seed(9), 20_000
    first = np.bincount([next(ranked_order(key, event, weights)) for event in range(n)], minlength=6)
    expected = first_case_probabilities(OrderKind.RANKED, weights)
    assert expected.sum() == pytest.approx(1)
    chi_square = ((first - n * expected) ** 2 / (n * expected)).sum()
    assert chi_square < 20.5  # 0.999 quantile, 5 degrees of freedom


def test_weights_all_zero_are_uniform():
    for kind in OrderKind:
        np.testing.assert_allclose(first_case_probabilities(kind, np.zeros(4)), 0.25)
        assert first_case_probabilities(kind, np.empty(0)).shape == (0,)


def test_evaluations_is_the_empirical_distribution(ax, errors):
    selection = fx.select(errors, 100, "lexicase", seed=1)
    plot.evaluations({"lexicase": selection}, ax=ax)
    (line,) = ax.get_lines()
    x, y = line.get_xdata(), line.get_ydata()
    middle = np.median(selection.evaluations)
    assert y[np.searchsorted(x, middle, side="right") - 1] == pytest.approx((selection.evaluations <= middle).mean())
    with pytest.raises(ValueError, match="selections must have counts, but 'bare' has none"):
        plot.evaluations({"bare": fx.select(errors, 3, "tournament")}, ax=ax)


def test_matplotlib_is_imported_only_when_drawing():
    code = (
        "import sys, flexicase.plot as p; assert 'matplotlib' not in sys.modules; sys.modules['matplotlib'] = None\n"
        "try: p.funnel([[0, 1]])\n"
        "except ImportError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'flexicase[report]'" in done.stdout


pytest.importorskip("matplotlib")


def lines_of(figure):
    return {
        f"{ax.get_ylabel()}: {line.get_label()}": line.get_ydata().tolist()
        for ax in figure.axes
        for line in ax.get_lines()
    }


def test_lines_are_those_of_the_records():
    run = evolve("mirror-image", population=30, generations=3, seed=1, threads=1)
    lines = lines_of(run_picture(run))
    assert lines["total error: best"] == [record.best_error for record in run.records]
    assert lines["zero errors of the best (of 100): best"] == [record.solved_cases for record in run.records]
    assert lines["evaluations: selection, population pool"] == [record.evaluations for record in run.records[:-1]]
    assert lines["evaluations: evaluated pairs"] == [3000] * 4


@pytest.mark.slow
def test_what_is_not_known_is_left_out():
    run = evolve("mirror-image", population=30, generations=1, seed=1, threads=1, partial=True)
    lines = lines_of(run_picture(run))
    assert "total error: best" in lines
    assert "total error: median" not in lines
    assert "distinct error vectors: all" not in lines


def test_a_run_of_one_generation_has_points():
    figure = run_picture(evolve("mirror-image", population=30, generations=0, seed=1, threads=1))
    assert figure.axes[0].get_lines()[0].get_marker() == "o"
    assert "not solved, generation 0" in figure.get_suptitle()
