"""Traces replay the very events that `select` draws."""

import numpy as np
import pytest

import flexicase as fx
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.methods import resolve_method
from flexicase.selection.trace import trace


@pytest.fixture(scope="module")
def errors():
    rng = np.random.default_rng(3)
    matrix = rng.integers(0, 3, (60, 20))
    matrix[40:] = matrix[:20]
    return matrix


LEXICASE_NAMES = [name for name in fx.methods() if isinstance(resolve_method(name), Lexicase)]
COMPOSED = [
    fx.Lexicase(elitism=5, batch_size=3),
    fx.Lexicase(slippage=0.2, epsilon=1.0),
    fx.Lexicase(max_cases=2, order=fx.Ranked("average")),
    fx.Lexicase(sampling=fx.DownSample(5), elitism=2),
]


@pytest.mark.slow
@pytest.mark.parametrize("method", [*LEXICASE_NAMES, *COMPOSED], ids=str)
def test_same_parents_and_counts_as_select(errors, method):
    """A trace that drew other events would make pictures of something that never happened."""
    traced = trace(errors, 40, method, seed=11)
    selected = fx.select(errors, 40, method, seed=11)
    np.testing.assert_array_equal(traced.indices, selected.indices)
    assert [pool[:-1].sum() for pool in traced.pools] == selected.evaluations.tolist()
    distinct = [pool[:-1][pool[:-1] > 1].sum() for pool in traced.pools_distinct]
    assert distinct == selected.evaluations_distinct.tolist()
    assert [len(pool) - 1 for pool in traced.pools] == selected.cases_used.tolist()


def test_pools_never_grow_or_empty(errors):
    for pool in trace(errors, 50, "ranked-num-zeros", seed=1).pools:
        assert pool[0] == len(errors)
        assert pool[-1] >= 1
        assert (np.diff(pool) <= 0).all()


def test_papers_example_is_ten_three_one():
    errors = np.ones((10, 2), dtype=int)
    errors[:3, 0] = errors[1, 1] = 0
    traced = trace(errors, 1, fx.Lexicase(order=fx.Weighted([1, 0])), seed=0)
    assert traced.pools[0].tolist() == [10, 3, 1]
    assert traced.pools_distinct[0].tolist() == [3, 2, 1]


def test_mean_pool_lets_finished_events_keep_their_last_pool():
    errors = [[0, 1], [1, 0], [1, 0]]  # case 0 first: 3, 1; case 1 first: 3, 2, 2
    traced = trace(errors, 200, "lexicase", seed=2)
    first = np.mean([len(pool) == 2 for pool in traced.pools])
    assert 0.3 < first < 0.7
    np.testing.assert_allclose(traced.mean_pool(), [3, 2 - first, 2 - first])
    np.testing.assert_allclose(traced.mean_pool(distinct=True), [2, 1, 1])


def test_no_events_and_bad_arguments():
    assert len(trace([[0, 1]], 0).mean_pool()) == 0
    with pytest.raises(ValueError, match="n must be at least 0"):
        trace([[0, 1]], -1)
    with pytest.raises(ValueError, match="did you mean 'lexicase'"):
        trace([[0, 1]], method="lexicas")


def test_methods_without_case_after_case_are_refused():
    class Coin:
        def prepare(self, matrix, key, backend):
            raise AssertionError("must not be asked")

        def describe(self):
            return "heads or tails"

    with pytest.raises(TypeError, match="method must be a lexicase method"):
        trace([[0, 1]], method=Coin())
