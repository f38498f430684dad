"""What the tests of methods without counts share: matrices, agreement of back ends, goodness of fit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import flexicase as fx
from flexicase.selection.protocol import Method

DRAWS = 200_000
LEAST_P = 1e-4


def awkward_matrices() -> dict[str, NDArray[np.generic]]:
    """Small matrices of every kind that has its own way through the code."""
    rng = np.random.default_rng(2023)
    duplicates = rng.integers(0, 3, (5, 6))[[0, 1, 1, 2, 3, 3, 3, 4, 0]]
    infinite = rng.random((6, 4))
    infinite[[0, 2], [1, 3]] = np.inf
    cases_major = np.asfortranarray(rng.integers(0, 4, (8, 5), dtype=np.int16))
    huge = np.array([[2**62 + 2**10, 0], [2**62, 0], [2**62, 1]], dtype=np.int64)
    return {
        "duplicates": duplicates,
        "bool": rng.random((9, 7)) < 0.4,
        "uint8": rng.integers(0, 5, (12, 6), dtype=np.uint8),
        "float32": rng.random((10, 5), dtype=np.float32),
        "float64": rng.random((10, 8)),
        "tenths": rng.integers(0, 9, (10, 7)) / 10,
        "negative": rng.normal(size=(6, 5)),
        "cases-major": cases_major,
        "every-other": rng.integers(0, 4, (14, 10))[::2, ::-2],
        "all-equal": np.ones((5, 3)),
        "one-row": rng.random((1, 4)),
        "one-case": np.array([[2], [0], [1], [0], [0]]),
        "no-case": np.empty((4, 0)),
        "infinite": infinite,
        "infinite-case": np.array([[np.inf, 1.0, 0.0], [np.inf, 0.0, 1.0], [np.inf, 0.0, 2.0]]),
        "all-infinite": np.full((4, 3), np.inf),
        "overflow": np.array([[1e308, 1e308, 0.0], [1e308, 0.0, 0.0], [0.0, 1e308, 1e308]]),
        "large-integers": huge,
    }


MATRICES = awkward_matrices()


def assert_follows(indices: NDArray[np.int64], probabilities: NDArray[np.float64]) -> None:
    """The draws fit the probabilities, and nothing impossible was drawn."""
    np.testing.assert_allclose(probabilities.sum(), 1.0, rtol=1e-12)
    seen = np.bincount(indices, minlength=len(probabilities)).astype(float)
    expected = probabilities * len(indices)
    assert not seen[probabilities == 0].any(), "an individual of probability 0 was selected"
    common = expected >= 5
    seen, expected = (np.append(x[common], x[~common & (probabilities > 0)].sum()) for x in (seen, expected))
    possible = expected > 0
    if possible.sum() > 1:
        assert stats.chisquare(seen[possible], expected[possible]).pvalue > LEAST_P


def assert_backends_agree(errors: NDArray[np.generic], method: str | Method, n: int = 60) -> None:
    """Native and reference give the same draws, on one thread or several, in one go or in two."""
    reference = fx.select(errors, n, method, seed=11, backend="reference")
    assert reference.indices.min() >= 0
    assert reference.indices.max() < len(errors)
    for threads in (1, 3):
        native = fx.select(errors, n, method, seed=11, threads=threads, backend="native")
        np.testing.assert_array_equal(native.indices, reference.indices)
    selector = fx.Selector(errors, method, seed=11)
    split = np.concatenate([selector.draw(n // 3).indices, selector.draw_indices(n - n // 3)])
    np.testing.assert_array_equal(split, reference.indices)


def assert_no_counts(method: str | Method) -> None:
    """There are no counts, also when nothing is drawn."""
    for n in (0, 3):
        s = fx.select([[0, 1], [1, 0]], n, method, seed=1)
        assert len(s) == n
        assert not s.counted
        for name in ("evaluations", "evaluations_distinct", "cases_used", "ended"):
            with pytest.raises(ValueError, match=f"{name} was not counted"):
                getattr(s, name)
