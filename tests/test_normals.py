from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from flexicase.rng import Lane, Stream, cosine_and_sine, decay, key_from_seed, normals


@pytest.mark.slow
def test_normals_are_standard_normal_and_independent():
    key = key_from_seed(1)
    z = np.array([normals(Stream.of(key, event, Lane.BASELINE), 6) for event in range(20_000)])
    assert stats.kstest(z.reshape(-1), "norm").pvalue > 1e-4
    assert np.abs(np.corrcoef(z.T) - np.eye(6)).max() < 0.04
    assert np.abs(np.corrcoef((z**2).T) - np.eye(6)).max() < 0.04


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_as_many_normals_as_asked_for(count):
    assert normals(Stream(1), count).shape == (count,)


def test_cosine_and_sine_around_the_circle():
    turns = np.append(np.random.default_rng(1).random(10_000), [0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0])
    cosine, sine = cosine_and_sine(turns)
    np.testing.assert_allclose(cosine, np.cos(2 * np.pi * turns), atol=1e-15)
    np.testing.assert_allclose(sine, np.sin(2 * np.pi * turns), atol=1e-15)


def test_decay_is_the_exponential_function_down_to_zero():
    x = np.append(-np.random.default_rng(1).random(10_000) * 700, [0.0, -1e-300, -0.5])
    np.testing.assert_allclose(decay(x), np.exp(x), rtol=1e-15)
    np.testing.assert_array_equal(decay(np.array([-760.0, -1e9, -np.inf])), 0.0)
