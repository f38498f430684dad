"""The example matrix and the synthetic population are what they are said to be."""

import numpy as np
import pytest

from flexicase.data import SyntheticPopulation, example_errors
from make_example_errors import PENALTY, make_errors


@pytest.mark.slow
def test_the_stored_matrix_is_what_the_documented_run_makes():
    np.testing.assert_array_equal(example_errors(), make_errors())


def test_it_resembles_a_population_halfway():
    errors = example_errors()
    assert errors.shape == (500, 100)
    assert errors.dtype == np.uint16
    duplicates = 1 - len(np.unique(errors, axis=0)) / len(errors)
    assert 0.35 < duplicates < 0.45
    assert 0.05 < (errors == PENALTY).mean() < 0.15
    assert not (errors == 0).all(axis=1).any()
    assert (errors == 0).any(axis=0).all()


def whole(population):
    return population(np.arange(population.n_individuals), np.arange(population.n_cases))


def test_an_error_does_not_depend_on_what_else_is_asked_for():
    """Partial evaluation would otherwise select on other errors than full evaluation."""
    population = SyntheticPopulation(50, 40, seed=3)
    errors = whole(population)
    rng = np.random.default_rng(1)
    for _ in range(20):
        rows, cases = rng.integers(0, 50, 4), rng.integers(0, 40, 3)
        np.testing.assert_array_equal(population(rows, cases), errors[np.ix_(rows, cases)])
    assert (whole(SyntheticPopulation(50, 40, seed=3)) == errors).all()
    assert (whole(SyntheticPopulation(50, 40, seed=4)) != errors).any()


def test_copies_are_as_many_as_asked_for():
    assert len(np.unique(whole(SyntheticPopulation(400, 200, copies=0.0, seed=1)), axis=0)) == 400
    distinct = len(np.unique(whole(SyntheticPopulation(400, 200, copies=0.5, seed=1)), axis=0))
    assert 200 <= distinct < 270, "half are copies, and 15 % of all differ from their original in about two cases"
    assert len(np.unique(whole(SyntheticPopulation(400, 200, copies=1.0, seed=1)), axis=0)) < 80


def test_errors_are_like_those_of_programs():
    errors = whole(SyntheticPopulation(1000, 100, seed=0))
    assert 0.5 < (errors > 0).mean() < 0.75
    assert 0.1 < (errors > 1).mean() / (errors > 0).mean() < 0.35
    assert (errors == 0).any(axis=0).mean() > 0.95


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="n_individuals must be at least 1"):
        SyntheticPopulation(0, 5)
    with pytest.raises(ValueError, match="copies must be between 0 and 1"):
        SyntheticPopulation(5, 5, copies=2.0)
