"""Children of known parents, for tests of single operators."""

from __future__ import annotations

import numpy as np

from flexicase.gp import OffspringGenerator, OffspringPlan, Population, Variation
from flexicase.push import Gene, Genome, RandomInteger, Symbol
from flexicase.rng import key_from_seed

#: Random genes are integers that no parent has.
FRESH = RandomInteger(1_000_000, 1_999_999)


def numbered(start: int, length: int, close: int = 0) -> Genome:
    """A genome of increasing integers, so that every gene tells where it is from."""
    return Genome(Gene(i, close) for i in range(start, start + length))


def children(operators, parents, n, *, seed=1, genes=(FRESH,), threads=1, chosen=None, **settings):
    """``n`` children of the same parents: the first is parent 0, further ones follow in order."""
    if isinstance(operators, str):
        operators = {operators: 1.0}
    breeder = OffspringGenerator(genes, Variation(operators=operators, **settings))
    population = Population.from_genomes(parents)
    plan = breeder.plan(population, n, key_from_seed(seed))
    if chosen is None:
        chosen = (np.arange(plan.events) - np.repeat(plan.first[:-1], np.diff(plan.first))) % len(parents)
    made, used = breeder.breed(population, plan, chosen, key_from_seed(seed), threads)
    return made, used, plan


def items(genome: Genome) -> list:
    return [gene.item for gene in genome.genes]


def offspring(operators, parents, n, **settings) -> list[list]:
    """The items of each child."""
    return [items(genome) for genome in children(operators, parents, n, **settings)[0]]


def is_rate(successes: int, trials: int, rate: float) -> bool:
    """Whether a frequency is within five standard deviations of a rate."""
    return abs(successes - trials * rate) <= 5 * np.sqrt(trials * rate * (1 - rate)) + 1e-9


__all__ = ["FRESH", "Gene", "OffspringPlan", "Symbol", "children", "is_rate", "items", "numbered", "offspring"]
