"""How many cases are asked for at once."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import flexicase as fx
from flexicase.evaluation._lookahead import BlockSizer, Growing, check_lookahead


def test_doubles_while_cases_filter_nobody() -> None:
    size = BlockSizer("auto", 10**6)
    asked = []
    for _ in range(6):
        asked.append(size.n_cases(3))
        size.observe(asked[-1], None)
    assert asked == [1, 2, 4, 8, 16, 32]


def test_restarts_small_when_the_first_cases_filter() -> None:
    size = BlockSizer("auto", 10**6)
    for _ in range(5):
        assert size.n_cases(100) == 1
        size.observe(1, 0)


def test_restarts_from_the_length_of_the_last_quiet_stretch() -> None:
    size = BlockSizer("auto", 10**6)
    for cases in (1, 2, 4, 8):
        assert size.n_cases(5) == cases
        size.observe(cases, None)
    size.observe(16, 3)  # 15 + 3 quiet cases, a filter, 12 quiet cases
    assert size.n_cases(4) == 18
    size.observe(18, 0)  # 12 quiet cases, a filter, 17 quiet cases
    assert size.n_cases(3) == 17


def test_a_number_stays() -> None:
    size = BlockSizer(7, 10**6)
    size.observe(7, None)
    assert size.n_cases(5) == 7
    size.observe(7, 2)
    assert size.n_cases(5) == 7


@pytest.mark.parametrize("lookahead", ["auto", 1000])
def test_blocks_stay_within_the_memory_budget(lookahead) -> None:
    size = BlockSizer(lookahead, max_bytes=8000)
    for _ in range(20):
        size.observe(1, None)
    assert size.n_cases(10) == 100
    assert size.n_cases(999) == 1
    assert size.n_cases(10**6) == 1


def test_the_selector_keeps_its_blocks_within_the_budget(backend: str) -> None:
    largest = 0

    def evaluate(individuals, cases):
        nonlocal largest
        largest = max(largest, len(individuals) * len(cases))
        return np.zeros((len(individuals), len(cases)))

    fx.FastLexicase(2000, cache_bytes=64_000, backend=backend, seed=1).select(evaluate, 20)
    assert largest == 64_000 // 8 // 8


def test_other_values_are_refused() -> None:
    with pytest.raises(TypeError, match=r"lookahead must be an integer, got 1\.5"):
        check_lookahead(1.5)
    with pytest.raises(ValueError, match="lookahead must be at least 1, got -3"):
        check_lookahead(-3)


def test_a_delayed_look_ahead_waits_for_eight_quiet_cases() -> None:
    size = BlockSizer(Growing(delayed=True), max_bytes=80_000)
    asked = []
    for _ in range(11):
        asked.append(size.n_cases(pool=4))
        size.observe(cases_used=asked[-1], last_filtering=None)
    assert asked == [1] * 8 + [2, 4, 8]
    size.observe(cases_used=16, last_filtering=0)  # a filter after 22 quiet cases
    assert size.n_cases(pool=2) == 22
    size.observe(cases_used=3, last_filtering=2)
    assert size.n_cases(pool=2) > 8
    fresh = BlockSizer(Growing(delayed=True), max_bytes=80_000)
    fresh.observe(cases_used=1, last_filtering=0)
    fresh.observe(cases_used=1, last_filtering=None)
    assert fresh.n_cases(pool=3) == 1


def test_growing_asks_for_its_least_after_the_first_case_of_every_event(backend: str) -> None:
    asked = []

    def evaluate(individuals, cases):
        asked.append(len(cases))
        return np.zeros((len(individuals), len(cases)))

    fast = fx.FastLexicase(100, backend=backend, cache_bytes=0, seed=1)
    fast.lookahead = Growing(12)
    fast._settings = dataclasses.replace(fast._settings, block_bytes=10**6)  # the memo stays off
    fast.select(evaluate, 3, n=2)
    assert asked == [1, 12, 24, 48, 15] * 2


def test_growing_restarts_like_auto_when_the_pool_shrinks() -> None:
    size = BlockSizer(Growing(12), 10**6)
    size.observe(1, 0)
    assert size.n_cases(5) == 12
    size.observe(12, None)
    size.observe(24, 4)  # 16 quiet cases, a filter, 19 quiet cases
    assert size.n_cases(4) == 19
    size.observe(3, 0)  # 19 quiet cases, a filter, 2 quiet cases
    size.observe(3, 0)  # 2 quiet cases, a filter, 2 quiet cases
    assert size.n_cases(2) == 12


@pytest.mark.parametrize(("least", "error"), [(0, ValueError), (1.5, TypeError)])
def test_growing_needs_at_least_one_case(least, error) -> None:
    with pytest.raises(error, match="min_cases must be"):
        Growing(least)


def test_growing_blocks_start_at_one_case_and_double_from_the_first_size():
    asked = []

    def evaluate(individuals, cases):
        asked.append(len(cases))
        return np.zeros((len(individuals), len(cases)))

    fast = fx.FastLexicase(100, seed=1)
    fast.lookahead = Growing(10)
    fast.select(evaluate, 4)
    assert asked == [1, 10, 20, 40, 29]
