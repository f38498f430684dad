"""The memo: right, bounded, and every pair computed once."""

from __future__ import annotations

import numpy as np
import pytest

from flexicase._native import PairStore
from flexicase.evaluation._cache import ErrorCache, missing_rectangles


def read(store: PairStore, individuals, cases) -> np.ndarray:
    transposed = np.empty((len(cases), len(individuals)))
    store.lookup(np.array(individuals), np.array(cases), transposed)
    return transposed.T


@pytest.mark.parametrize(("most_bytes", "is_matrix"), [(10**6, True), (50_000, False)])
def test_a_store_gives_back_what_it_was_given(most_bytes: int, is_matrix: bool) -> None:
    rng = np.random.default_rng(1)
    store = PairStore(40, 100, most_bytes)
    assert store.is_matrix == is_matrix
    expected = np.full((40, 100), np.nan)
    for _ in range(30):
        rows = rng.choice(40, int(rng.integers(1, 8)), replace=False)
        columns = rng.choice(100, int(rng.integers(1, 8)), replace=False)
        values = rng.choice([0.0, -0.0, np.inf, -np.inf, 1.5, -2.0, 5e-324], (len(rows), len(columns)))
        store.store(rows, columns, values)
        expected[np.ix_(rows, columns)] = values
        np.testing.assert_array_equal(read(store, range(40), range(100)), expected)
        assert store.pairs == np.count_nonzero(~np.isnan(expected))
    assert store.refused == 0


def test_a_full_store_refuses_and_keeps_what_it_has() -> None:
    store = PairStore(1000, 10**6, 100_000)
    everyone = np.arange(1000)
    for case in range(20):
        store.store(everyone, np.array([case]), np.full((1000, 1), float(case)))
        assert store.nbytes <= 100_000
    assert store.pairs + store.refused == 20_000
    assert 1000 < store.pairs < 20_000
    known = read(store, everyone, range(20))
    assert np.count_nonzero(~np.isnan(known)) == store.pairs
    assert ((known == np.arange(20.0)) | np.isnan(known)).all()


@pytest.mark.parametrize("most_bytes", [10**7, 200_000])
def test_rollback_forgets_only_what_came_after_begin(most_bytes: int) -> None:
    store = PairStore(40, 2000, most_bytes)
    assert store.is_matrix == (most_bytes == 10**7)
    early, late = np.arange(0, 20), np.arange(10, 40)
    cases = np.arange(50)
    store.store(early, cases, np.ones((20, 50)))
    before = read(store, range(40), range(2000))
    store.begin()
    store.store(late[10:], cases, np.full((20, 50), 2.0))
    store.rollback()
    np.testing.assert_array_equal(read(store, range(40), range(2000)), before)
    assert store.pairs == 1000
    store.begin()
    store.store(late[10:], cases, np.full((20, 50), 3.0))
    store.commit()
    store.rollback()
    assert (read(store, late[10:], cases) == 3.0).all()
    assert store.pairs == 2000


@pytest.mark.parametrize("most_bytes", [10**7, 200_000])
def test_a_cleared_store_is_as_new(most_bytes: int) -> None:
    store = PairStore(40, 2000, most_bytes)
    everyone, cases = np.arange(40), np.arange(0, 2000, 3)
    for _ in range(2):
        store.store(everyone, cases, np.ones((40, len(cases))))
        assert store.pairs + store.refused == 40 * len(cases)
        store.clear()
        assert (store.pairs, store.refused) == (0, 0)
        assert np.isnan(read(store, range(40), range(2000))).all()


def test_rectangles_cover_every_missing_pair_once() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        missing = rng.random((int(rng.integers(1, 7)), int(rng.integers(0, 9)))) < rng.choice([0.0, 0.3, 0.9, 1.0])
        covered = np.zeros(missing.shape, dtype=int)
        for rows, columns in missing_rectangles(missing):
            assert rows.size > 0
            assert columns.size > 0
            covered[np.ix_(rows, columns)] += 1
        np.testing.assert_array_equal(covered, missing)


def test_cases_with_the_same_unknown_individuals_are_asked_for_together() -> None:
    missing = np.array([[1, 0, 1, 1], [1, 0, 0, 1]], dtype=bool)
    assert [(r.tolist(), c.tolist()) for r, c in missing_rectangles(missing)] == [([0, 1], [0, 3]), ([0], [2])]


def test_fetch_computes_the_unknown_only() -> None:
    errors = np.arange(20.0).reshape(4, 5)
    asked = []

    def evaluate(individuals, cases):
        asked.append((individuals.tolist(), cases.tolist()))
        return errors[np.ix_(individuals, cases)]

    memo = ErrorCache(4, 5, 10**5)
    memo.fetch(evaluate, np.array([1, 2]), np.array([0, 4]))
    block, fresh = memo.fetch(evaluate, np.array([0, 1, 2]), np.array([4, 3]))
    assert block.tolist() == [[4.0, 3.0], [9.0, 8.0], [14.0, 13.0]]
    assert fresh.tolist() == [[True, True], [False, True], [False, True]]
    assert asked == [([1, 2], [0, 4]), ([0], [4]), ([0, 1, 2], [3])]
