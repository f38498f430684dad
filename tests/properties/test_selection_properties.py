"""Properties that hold for every error matrix and every seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import flexicase as fx
from flexicase.rng import Key
from flexicase.selection.lexicase import normalize_weights
from flexicase.selection.orders import ranked_order, uniform_order, weighted_order
from tests.selection._helpers import LEAST_P, Variant, chi_square_p, marginal, tally

pytestmark = pytest.mark.slow

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=24)
SEEDS = st.integers(0, 2**64 - 1)
ORDERS = st.sampled_from([fx.Uniform(), fx.Weighted("num_zeros"), fx.Ranked("num_nonzeros"), fx.Ranked("num_zeros")])
COUNTS = ("evaluations", "evaluations_distinct", "cases_used", "ended")

few_integers = hnp.arrays(np.int64, SHAPES, elements=st.integers(0, 4))
any_numbers = st.one_of(
    few_integers,
    hnp.arrays(np.int64, SHAPES, elements=st.integers(-(2**63), 2**63 - 1)),
    hnp.arrays(np.float64, SHAPES, elements=st.floats(allow_nan=False, min_value=-1.7e308)),
    hnp.arrays(np.float32, SHAPES, elements=st.floats(allow_nan=False, min_value=-(2.0**127), width=32)),
    hnp.arrays(np.bool_, SHAPES),
)
methods = st.builds(
    fx.Lexicase,
    order=ORDERS,
    epsilon=st.sampled_from([None, None, 0.5, "mad", "mad-static", "mad-dynamic"]),
    batch_size=st.sampled_from([1, 1, 2, 5]),
    max_cases=st.sampled_from([None, "random", 0, 1, 3]),
    slippage=st.sampled_from([0.0, 0.2]),
)
distinct_rows = few_integers.map(lambda e: np.unique(e, axis=0))


def same_counts(a: fx.Selection, b: fx.Selection) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in COUNTS)


def readable_by(method: fx.Lexicase, errors: np.ndarray) -> np.ndarray:
    """The errors, rounded if the method computes with float64 and refuses integers that are not exactly that."""
    computes = method.batch_size > 1 or method.epsilon is not None
    return errors.astype(np.float64) if computes and errors.dtype in (np.int64, np.uint64) else errors


@given(errors=any_numbers, method=methods, seed=SEEDS)
def test_somebody_is_always_selected_and_counts_are_within_bounds(
    errors: np.ndarray, method: fx.Lexicase, seed: int
) -> None:
    """The pool never empties: every event ends with a member of the population."""
    n, m = errors.shape
    s = fx.select(readable_by(method, errors), 8, method, seed=seed)
    assert ((s.indices >= 0) & (s.indices < n)).all()
    assert ((s.cases_used >= 0) & (s.cases_used <= m)).all()
    assert (s.evaluations >= 2 * s.cases_used).all()
    assert (s.evaluations <= n * s.cases_used).all()
    assert (s.evaluations_distinct <= s.evaluations).all()
    assert np.isin(s.ended, (0, 1, 2)).all()


@given(errors=any_numbers, method=methods, seed=SEEDS)
def test_native_and_reference_agree(errors: np.ndarray, method: fx.Lexicase, seed: int) -> None:
    errors = readable_by(method, errors)
    native = fx.select(errors, 5, method, seed=seed, backend="native")
    reference = fx.select(errors, 5, method, seed=seed, backend="reference")
    assert np.array_equal(native.indices, reference.indices)
    assert same_counts(native, reference)


@given(errors=any_numbers, order=ORDERS, seed=SEEDS)
def test_nobody_selected_is_dominated(errors: np.ndarray, order: fx.Uniform, seed: int) -> None:
    for i in set(fx.select(errors, 10, fx.Lexicase(order=order), seed=seed).indices.tolist()):
        no_worse = (errors <= errors[i]).all(axis=1)
        better = (errors < errors[i]).any(axis=1)
        assert not (no_worse & better).any()


@given(errors=any_numbers, seed=SEEDS)
def test_everybody_selected_is_best_on_some_case(errors: np.ndarray, seed: int) -> None:
    for i in set(fx.select(errors, 10, seed=seed).indices.tolist()):
        assert len(errors) == 1 or (errors[i] == errors.min(axis=0)).any()


@given(errors=few_integers, seed=SEEDS, data=st.data())
def test_increasing_transformations_of_a_case_change_nothing(
    errors: np.ndarray, seed: int, data: st.DataObject
) -> None:
    """Parents and counts depend on the ranks within each case alone, seed by seed."""
    m = errors.shape[1]
    scale = np.array(data.draw(st.lists(st.sampled_from([1e-3, 0.5, 1.0, 7.0, 1e6]), min_size=m, max_size=m)))
    shift = np.array(data.draw(st.lists(st.sampled_from([-5.0, 0.0, 1.0, 40.0]), min_size=m, max_size=m)))
    cube = np.array(data.draw(st.lists(st.booleans(), min_size=m, max_size=m)))
    changed = np.where(cube, errors**3, errors) * scale + shift
    weights = np.arange(1.0, m + 1)
    for order in (fx.Uniform(), fx.Weighted(weights), fx.Ranked(weights)):
        a = fx.select(errors, 10, fx.Lexicase(order=order), seed=seed)
        b = fx.select(changed, 10, fx.Lexicase(order=order), seed=seed)
        assert np.array_equal(a.indices, b.indices)
        assert same_counts(a, b)


@given(errors=distinct_rows, order=ORDERS, seed=SEEDS, data=st.data())
def test_relabelling_individuals_relabels_the_parents(
    errors: np.ndarray, order: fx.Uniform, seed: int, data: st.DataObject
) -> None:
    """With distinct rows the survivor is settled by the sequence of cases alone, seed by seed."""
    labels = np.array(data.draw(st.permutations(range(len(errors)))))
    a = fx.select(errors, 10, fx.Lexicase(order=order), seed=seed)
    b = fx.select(errors[labels], 10, fx.Lexicase(order=order), seed=seed)
    assert np.array_equal(errors[a.indices], errors[labels][b.indices])
    assert np.array_equal(a.indices, labels[b.indices])
    assert same_counts(a, b)


@given(errors=few_integers, seed=SEEDS)
def test_adding_duplicates_changes_neither_vectors_nor_distinct_counts(errors: np.ndarray, seed: int) -> None:
    """For exact filters, copies of an individual share its fate."""
    doubled = np.repeat(errors, 2, axis=0)
    a, b = fx.select(errors, 10, seed=seed), fx.select(doubled, 10, seed=seed)
    assert np.array_equal(errors[a.indices], doubled[b.indices])
    assert np.array_equal(a.evaluations_distinct, b.evaluations_distinct)


@given(errors=any_numbers, method=methods, seed=SEEDS, threads=st.integers(2, 9))
def test_neither_threads_nor_counts_nor_layout_change_the_parents(
    errors: np.ndarray, method: fx.Lexicase, seed: int, threads: int
) -> None:
    errors = readable_by(method, errors)
    expected = fx.select(errors, 13, method, seed=seed)
    threaded = fx.select(errors, 13, method, seed=seed, threads=threads)
    assert np.array_equal(threaded.indices, expected.indices)
    assert same_counts(threaded, expected)
    bare = fx.select_indices(np.asfortranarray(errors), 13, method, seed=seed)
    assert np.array_equal(bare, expected.indices)


@given(errors=few_integers, method=methods, seed=SEEDS, split=st.integers(0, 12))
def test_draws_may_be_split_anywhere(errors: np.ndarray, method: fx.Lexicase, seed: int, split: int) -> None:
    selector = fx.Selector(errors, method, seed=seed)
    parts = [selector.draw(split).indices, selector.draw(12 - split).indices]
    assert np.array_equal(np.concatenate(parts), fx.select(errors, 12, method, seed=seed).indices)


@given(
    weights=hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1e308)),
    k0=SEEDS,
    k1=SEEDS,
    event=st.integers(0, 2**40),
)
def test_orders_are_permutations(weights: np.ndarray, k0: int, k1: int, event: int) -> None:
    n = len(weights)
    assert sorted(uniform_order(Key(k0, k1), event, n)) == list(range(n))
    assert sorted(ranked_order(Key(k0, k1), event, weights)) == list(range(n))
    if weights.max() > 0:
        order = weighted_order(Key(k0, k1), event, normalize_weights(weights))
        assert sorted(order) == list(range(n))
        positive = weights[order] > 0
        assert (np.diff(positive.astype(int)) <= 0).all(), "a weight of 0 came before a positive one"


def test_relabelling_cases_relabels_the_distribution() -> None:
    """Cases have no place of their own: any permutation of the columns has the same exact distribution."""
    rng = np.random.default_rng(12)
    errors = rng.integers(0, 3, (7, 5))
    for order in ("uniform", "weighted", "ranked"):
        variant = Variant(order=order)
        exact = marginal(variant.outcomes(errors), 0)
        for seed in range(3):
            shuffled = errors[:, rng.permutation(5)]
            assert marginal(variant.outcomes(shuffled), 0).keys() == exact.keys()
            seen = marginal(tally(fx.select(shuffled, 50_000, variant.method(), seed=seed)), 0)
            assert chi_square_p(seen, exact) > LEAST_P
