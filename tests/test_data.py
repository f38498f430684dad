"""The example matrix is what its makers say it is."""

import numpy as np

from flexicase.data import example_errors
from make_example_errors import PENALTY, make_errors


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
