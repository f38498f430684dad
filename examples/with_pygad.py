"""Lexicase selection in PyGAD: fit eight weights, with the error on every row as a case."""

import numpy as np
import pygad

from flexicase.adapters.pygad import lexicase_parents

ROWS, WEIGHTS = 200, 8
rng = np.random.default_rng(5)
INPUTS, WANTED = rng.normal(size=(ROWS, WEIGHTS)), rng.uniform(-1, 1, WEIGHTS)


def scores(population: np.ndarray) -> np.ndarray:
    """One row of scores per solution; PyGAD maximises, so errors are negated."""
    return -np.abs((population.astype(float) - WANTED) @ INPUTS.T)


def fitness(ga: pygad.GA, population: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """One number per solution, for PyGAD itself; all solutions in one call."""
    return scores(np.asarray(population)).mean(axis=1)


def run(lexicase: bool, seed: int, generations: int = 40) -> float:
    """The mean error of the best weights."""
    ga = pygad.GA(
        num_generations=generations,
        num_parents_mating=50,
        fitness_func=fitness,
        fitness_batch_size=100,
        sol_per_pop=100,
        num_genes=WEIGHTS,
        init_range_low=-2,
        init_range_high=2,
        random_mutation_min_val=-0.2,
        random_mutation_max_val=0.2,
        parent_selection_type=lexicase_parents(scores, method="epsilon-lexicase") if lexicase else "tournament",
        random_seed=seed,
        suppress_warnings=True,
    )
    ga.run()
    return float(-ga.best_solution()[1])


if __name__ == "__main__":
    print(f"mean error: tournament {run(False, 1):.4f}, epsilon-lexicase {run(True, 1):.4f}")
