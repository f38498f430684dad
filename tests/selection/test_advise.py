from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

import flexicase as fx
from flexicase.data import SyntheticPopulation


def needed(evaluate, n_individuals, n_cases, n, method):
    """The share that a generation of n selections really needs, once the weights are learnt."""
    fast = fx.FastLexicase(n_cases, method, lookahead=1, seed=2)
    fast.select(evaluate, n_individuals, 200)
    fast.clear_cache()
    calls = []

    def counting(individuals, cases):
        calls.append(len(individuals) * len(cases))
        return evaluate(individuals, cases)

    fast.select(counting, n_individuals, n)
    return sum(calls) / (n_individuals * n_cases)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lexicase", "weighted-num-nonzeros", "ranked-num-nonzeros"])
@pytest.mark.parametrize("n", [10, 100, 1000])
def test_share_is_near_what_a_generation_needs(method, n):
    population = SyntheticPopulation(300, 100, seed=9)
    errors = population(np.arange(300), np.arange(100))
    truth = needed(population, 300, 100, n, method)
    assert fx.advise(300, 100, n, method, errors=errors).share == pytest.approx(truth, abs=0.12)


def test_share_of_errors_without_ties_is_that_of_single_cases():
    """Continuous errors leave one candidate after one case: n events need 1 - (1 - 1/cases)^n of all pairs."""
    errors = np.random.default_rng(1).random((200, 50))
    share = fx.advise(200, 50, 20, method="lexicase", errors=errors).share
    assert share == pytest.approx(1 - (1 - 1 / 50) ** 20, rel=0.02)


def test_clones_need_every_case():
    """Individuals that no case can tell apart are evaluated on all of them."""
    assert fx.advise(20, 30, 1, errors=np.ones((20, 30))).share == pytest.approx(1.0)


@pytest.mark.slow
def test_few_selections_and_many_cases_pay_and_a_full_generation_does_not():
    few, many = fx.advise(1000, 100, 1), fx.advise(1000, 100, 1000)
    assert (few.mode, many.mode) == ("partial", "full matrix")
    assert few.share < 0.1
    assert many.share > 0.8
    assert fx.advise(1000, 100_000, 10).mode == "partial"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lexicase", "weighted-num-nonzeros", "ranked-num-nonzeros"])
def test_share_grows_with_selections_and_shrinks_with_cases(method):
    by_n = [fx.advise(200, 100, n, method).share for n in (1, 30, 10**6)]
    assert by_n == sorted(by_n)
    assert by_n[-1] <= 1.0
    by_cases = [fx.advise(200, n_cases, 20, method).share for n_cases in (1000, 100_000)]
    assert by_cases == sorted(by_cases, reverse=True)


@pytest.mark.slow
def test_same_seed_same_advice_and_the_users_errors_matter():
    assert fx.advise(100, 50, 5, seed=1) == fx.advise(100, 50, 5, seed=1)
    easy = np.random.default_rng(2).random((100, 50))
    assert fx.advise(100, 50, 5, errors=easy).share < fx.advise(100, 50, 5, errors=np.zeros((100, 50))).share


@pytest.mark.slow
def test_advice_is_frozen_and_prints_as_a_sentence():
    advice = fx.advise(100, 50, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        advice.share = 0.0
    assert str(advice) == advice.reason
    assert str(advice).startswith("1 selection from 100 individuals needs about ")
    assert str(advice).endswith("% of the 5,000 pairs: evaluate on demand (FastLexicase).")
    assert "evaluate everything, then select." in str(fx.advise(100, 50, 5000))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 5, 1), {}, "n_individuals must be at least 1"),
        ((5, 0, 1), {}, "n_cases must be at least 1"),
        ((5, 5, 0), {}, "n must be at least 1"),
        ((5, 5, 1), {"errors": np.zeros((5, 4))}, r"expected shape \(5, 5\), got \(5, 4\)"),
        ((5, 5, 1), {"method": "lexicas"}, "unknown method 'lexicas'; did you mean 'lexicase'"),
        ((5, 5, 1), {"method": "tournament"}, "these work: lexicase, "),
    ],
)
def test_bad_arguments_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        fx.advise(*arguments, **options)


@pytest.mark.slow
def test_advice_is_cheap_in_processor_time():
    """Generous: it takes about a quarter of a second."""
    start = time.process_time()
    fx.advise(1000, 100, 1000)
    assert time.process_time() - start < 3.0


def test_a_limit_on_cases_known_pairs_and_named_copies_lower_the_share():
    """Copies alone are evaluated on every case, unless an event may not use all or is told that they are copies."""
    clones = np.ones((20, 30))
    assert fx.advise(20, 30, 1, fx.Lexicase(max_cases=3), errors=clones).share == pytest.approx(0.1)
    assert fx.advise(20, 30, 1, errors=clones, known=0.75).share == pytest.approx(0.25)
    assert fx.advise(20, 30, 1, errors=clones, same_as=True).share == 0.0
    with pytest.raises(ValueError, match="known must be"):
        fx.advise(20, 30, 1, known=1.5)


@pytest.mark.slow
def test_a_limit_beyond_the_simulated_cases_is_taken_of_all_cases():
    clones = np.ones((2, 4000), dtype=np.uint8)
    assert fx.advise(2, 4000, 1, fx.Lexicase(max_cases=2000), errors=clones).share == pytest.approx(0.5)


@pytest.mark.slow
def test_the_share_with_copies_named_is_what_a_generation_needs():
    errors = np.random.default_rng(2).integers(0, 2, (10, 80))[np.random.default_rng(3).integers(0, 10, 60)]
    labels = [row.tobytes() for row in errors]
    fast = fx.FastLexicase(80, "lexicase", lookahead=1, seed=2)
    found = [fast.select(lambda i, c: errors[np.ix_(i, c)], 60, 5, cache_key=k, same_as=labels) for k in range(40)]
    truth = sum(s.pairs.sum() for s in found) / 40 / errors.size
    assert fx.advise(60, 80, 5, "lexicase", errors=errors, same_as=True).share == pytest.approx(truth, rel=0.15)
