"""The formula against the simulation, and both against real workers."""

from __future__ import annotations

import math
import re
import time

import numpy as np
import pytest

import flexicase as fx
from cluster_model import Costs, estimate, pool_sizes, simulate
from flexicase.data import SyntheticPopulation
from flexicase.evaluation import RayEvaluator


def test_pool_sizes_are_the_pools_of_selection() -> None:
    population = SyntheticPopulation(50, 80, seed=3)
    fast = fx.FastLexicase(80, seed=9, lookahead=1)
    expected = [int(fast.select(population, 50, cache_key=k).evaluations[0]) for k in range(5)]
    assert [sum(pools) for pools in pool_sizes(population, 50, 80, n=5, seed=9)] == expected


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(400, 300), (30, 300), (8, 300)])
@pytest.mark.parametrize("pair", [0.02, 1.0])
def test_formula_and_simulation_agree(shape: tuple[int, int], pair: float) -> None:
    population = SyntheticPopulation(*shape, copies=0.0)
    pools = pool_sizes(population, *shape, n=3, seed=1)
    before = np.inf
    for workers in (1, 2, 10, 100, 1000):
        formula = estimate(pools, workers, Costs(pair))
        made = simulate(population, *shape, workers, Costs(pair), n=3, seed=1)
        assert made.needed == formula.needed
        assert 0.6 < formula.seconds / made.seconds < 1.6
        assert 0.6 < (formula.speculated + 20) / (made.speculated + 20) < 1.8
        assert made.seconds < 1.1 * before, "more workers took longer"
        before = made.seconds


def test_one_worker_takes_what_the_work_takes() -> None:
    population = SyntheticPopulation(40, 50)
    made = simulate(population, 40, 50, 1, Costs(pair=1.0), n=5, seed=2)
    assert made.efficiency == pytest.approx(1.0, abs=0.15)
    assert made.seconds >= made.work


@pytest.mark.slow
@pytest.mark.usefixtures("local_ray")
def test_the_simulation_holds_for_real_workers() -> None:
    """Sleeping instead of computing, the best of three tries, so that a busy machine has little to say in it."""
    shape, pair, population = (20, 60), 0.04, SyntheticPopulation(20, 60, copies=0.0)

    def slow(individuals, cases):
        time.sleep(pair * len(individuals) * len(cases))
        return population(individuals, cases)

    for workers in (1, 2):
        with RayEvaluator(slow, workers=workers) as evaluate:
            evaluate([0, 1, 2, 3], [0, 1])
            seconds = math.inf
            for _ in range(3):
                fast = fx.FastLexicase(60, seed=1)
                start = time.perf_counter()
                s = fast.select(evaluate, 20)
                seconds = min(seconds, time.perf_counter() - start)
        made = simulate(population, *shape, workers, Costs(pair), seed=1)
        assert s.evaluations[0] == made.needed
        assert 0.8 < seconds / made.seconds < 2.0
        assert abs(int(s.pairs_unused[0]) - made.speculated) <= 12


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pair": 0.0}, "pair must be a finite number of seconds, above 0, got 0.0"),
        ({"pair": -1.0}, "pair must be a finite number of seconds, above 0, got -1.0"),
        ({"pair": float("inf")}, "pair must be a finite number of seconds, above 0, got inf"),
        ({"pair": float("nan")}, "pair must be a number, got NaN"),
        ({"pair": 1.0, "send": 0.0}, "send must be a finite number of seconds, above 0, got 0.0"),
        ({"pair": 1.0, "piece": -0.1}, "piece must be a finite number of seconds, 0 or more, got -0.1"),
    ],
)
def test_costs_that_make_no_sense_are_refused(wrong: dict[str, float], message: str) -> None:
    """The formula divides by them."""
    with pytest.raises(ValueError, match=re.escape(message)):
        Costs(**wrong)


def test_a_cost_that_is_no_number_is_refused() -> None:
    with pytest.raises(TypeError, match="pair must be a number, got 'much'"):
        Costs(pair="much")  # type: ignore[arg-type]


def test_an_empty_pool_is_refused() -> None:
    with pytest.raises(ValueError, match="pools must have one candidate or more at every case, got 0"):
        estimate([[5, 0]], 2, Costs(pair=1.0))
