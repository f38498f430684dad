import numpy as np
import pytest

from flexicase.synthetic import Population


def whole(population):
    return population(np.arange(population.n_individuals), np.arange(population.n_cases))


def test_an_error_does_not_depend_on_what_else_is_asked_for():
    """Partial evaluation would otherwise select on other errors than full evaluation."""
    population = Population(50, 40, seed=3)
    errors = whole(population)
    rng = np.random.default_rng(1)
    for _ in range(20):
        rows, cases = rng.integers(0, 50, 4), rng.integers(0, 40, 3)
        np.testing.assert_array_equal(population(rows, cases), errors[np.ix_(rows, cases)])
    assert (whole(Population(50, 40, seed=3)) == errors).all()
    assert (whole(Population(50, 40, seed=4)) != errors).any()


def test_copies_are_as_many_as_asked_for():
    assert len(np.unique(whole(Population(400, 200, copies=0.0, seed=1)), axis=0)) == 400
    distinct = len(np.unique(whole(Population(400, 200, copies=0.5, seed=1)), axis=0))
    assert 200 <= distinct < 270, "half are copies, and 15 % of all differ from their original in about two cases"
    assert len(np.unique(whole(Population(400, 200, copies=1.0, seed=1)), axis=0)) < 80


def test_errors_are_like_those_of_programs():
    errors = whole(Population(1000, 100, seed=0))
    assert 0.5 < (errors > 0).mean() < 0.75
    assert 0.1 < (errors > 1).mean() / (errors > 0).mean() < 0.35
    assert (errors == 0).any(axis=0).mean() > 0.95


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="n_individuals must be at least 1"):
        Population(0, 5)
    with pytest.raises(ValueError, match="copies must be between 0 and 1"):
        Population(5, 5, copies=2.0)
