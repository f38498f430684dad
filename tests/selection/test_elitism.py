"""Elitism: the first events are the best by total error."""

from __future__ import annotations

from collections import Counter

import numpy as np

import flexicase as fx
from tests.selection.agreement import LEAST_P, chi_square_p

ERRORS = np.array([[3, 3], [0, 1], [5, 5], [1, 1], [0, 9]])


def test_the_best_come_first_in_sequence(backend: str) -> None:
    s = fx.select(ERRORS, 6, fx.Lexicase(elitism=3), seed=1, backend=backend)
    assert s.indices[:3].tolist() == [1, 3, 0]
    assert s.ended[:3].tolist() == [3, 3, 3]
    assert s.evaluations[:3].tolist() == s.evaluations_distinct[:3].tolist() == s.cases_used[:3].tolist() == [0, 0, 0]


def test_later_events_are_as_without_elitism(backend: str) -> None:
    plain = fx.select(ERRORS, 40, seed=1, backend=backend)
    elite = fx.select(ERRORS, 40, fx.Lexicase(elitism=3), seed=1, backend=backend)
    assert (elite.indices[3:] == plain.indices[3:]).all()
    assert (elite.evaluations[3:] == plain.evaluations[3:]).all()
    assert (elite.ended[3:] == plain.ended[3:]).all()


def test_the_elite_is_not_repeated_by_a_later_draw(backend: str) -> None:
    selector = fx.Selector(ERRORS, fx.Lexicase(elitism=3), seed=1, backend=backend)
    assert selector.draw_indices(2).tolist() == [1, 3]
    assert selector.draw(2).ended.tolist()[0] == 3
    assert 3 not in selector.draw(50).ended


def test_an_elite_larger_than_the_population_is_the_population_once() -> None:
    s = fx.select(ERRORS, 8, fx.Lexicase(elitism=100), seed=1)
    assert sorted(s.indices[:5].tolist()) == [0, 1, 2, 3, 4]
    assert (s.ended == 3).sum() == 5


def test_equal_totals_are_in_random_sequence() -> None:
    errors = np.array([[1, 0], [0, 1], [0.5, 0.5], [9, 9]])
    firsts = Counter(int(fx.select(errors, 1, fx.Lexicase(elitism=1), seed=seed).indices[0]) for seed in range(900))
    assert chi_square_p(firsts, {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}) > LEAST_P


def test_totals_do_not_depend_on_the_memory_layout() -> None:
    """Nearly equal totals: sums in another sequence would round differently and change the ranks."""
    rng = np.random.default_rng(1)
    row = rng.random(300)
    errors = np.stack([rng.permutation(row) for _ in range(60)])
    method = fx.Lexicase(elitism=60)
    assert np.array_equal(
        fx.select(errors, 60, method, seed=1).indices, fx.select(np.asfortranarray(errors), 60, method, seed=1).indices
    )


def test_infinite_and_overflowing_totals_come_last() -> None:
    errors = np.array([[np.inf, 0.0], [1.7e308, 1.7e308], [1.0, 1.0]])
    assert fx.select(errors, 1, fx.Lexicase(elitism=1), seed=1).indices.tolist() == [2]
