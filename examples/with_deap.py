"""Lexicase selection in DEAP: fit eight weights, with the error on every row as a case."""

import random

import numpy as np
from deap import algorithms, base, creator, tools

from flexicase.adapters.deap import selLexicase

ROWS, WEIGHTS = 200, 8
rng = np.random.default_rng(5)
INPUTS, WANTED = rng.normal(size=(ROWS, WEIGHTS)), rng.uniform(-1, 1, WEIGHTS)

creator.create("Errors", base.Fitness, weights=(-1.0,) * ROWS)
creator.create("Weights", list, fitness=creator.Errors)


def errors(individual: list[float]) -> tuple[float, ...]:
    """The absolute error on every row."""
    return tuple(np.abs(INPUTS @ (np.array(individual) - WANTED)).tolist())


def run(lexicase: bool, seed: int, generations: int = 40) -> float:
    """The mean error of the best weights; without flexicase, DEAP's own epsilon-lexicase selection."""
    random.seed(seed)
    toolbox = base.Toolbox()
    toolbox.register("weight", random.uniform, -2, 2)
    toolbox.register("individual", tools.initRepeat, creator.Weights, toolbox.weight, n=WEIGHTS)
    toolbox.register("population", tools.initRepeat, list, toolbox.individual)
    toolbox.register("evaluate", errors)
    toolbox.register("mate", tools.cxUniform, indpb=0.5)
    toolbox.register("mutate", tools.mutGaussian, mu=0, sigma=0.1, indpb=0.25)
    if lexicase:
        toolbox.register("select", selLexicase, method="epsilon-lexicase-dynamic")
    else:
        toolbox.register("select", tools.selAutomaticEpsilonLexicase)
    population, _ = algorithms.eaSimple(toolbox.population(n=50), toolbox, 0.5, 0.5, generations, verbose=False)
    return min(float(np.mean(individual.fitness.values)) for individual in population)


if __name__ == "__main__":
    print(f"mean error: DEAP's own selection {run(False, 1, 10):.4f}, flexicase's {run(True, 1, 10):.4f}")
