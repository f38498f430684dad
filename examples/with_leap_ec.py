"""Lexicase selection in LEAP: fit eight weights, with the error on every row as a case."""

import random

import numpy as np
from leap_ec import Representation, ops
from leap_ec.algorithm import generational_ea
from leap_ec.multiobjective.problems import MultiObjectiveProblem
from leap_ec.real_rep.initializers import create_real_vector
from leap_ec.real_rep.ops import mutate_gaussian

from flexicase.adapters.leap_ec import lexicase_selection

ROWS, WEIGHTS, POPULATION = 200, 8, 100


class Regression(MultiObjectiveProblem):
    """Find the weights of a linear function; every row is an objective to minimise."""

    def __init__(self) -> None:
        super().__init__(maximize=[False] * ROWS)
        rng = np.random.default_rng(5)
        self.inputs, self.wanted = rng.normal(size=(ROWS, WEIGHTS)), rng.uniform(-1, 1, WEIGHTS)

    def evaluate(self, phenome: np.ndarray, *_: object, **__: object) -> np.ndarray:
        """The absolute error on every row."""
        return np.abs(self.inputs @ (phenome - self.wanted))


def minus_error(individual: object) -> float:
    """What the tournament compares."""
    return float(-individual.fitness.mean())


def run(lexicase: bool, seed: int, generations: int = 40) -> float:
    """The mean error of the best weights."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002, LEAP's mutation uses it
    final = generational_ea(
        max_generations=generations,
        pop_size=POPULATION,
        problem=Regression(),
        representation=Representation(initialize=create_real_vector(bounds=[(-2, 2)] * WEIGHTS)),
        k_elites=0,
        pipeline=[
            lexicase_selection(method="epsilon-lexicase") if lexicase else ops.tournament_selection(key=minus_error),
            ops.clone,
            mutate_gaussian(std=0.1, expected_num_mutations=2),
            ops.UniformCrossover(p_swap=0.3),
            ops.evaluate,
            ops.pool(size=POPULATION),
        ],
    )
    return float(min(-minus_error(individual) for individual in final))


if __name__ == "__main__":
    print(f"mean error: tournament {run(False, 1):.4f}, epsilon-lexicase {run(True, 1):.4f}")
