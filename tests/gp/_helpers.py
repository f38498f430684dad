"""Small runs, and children of known parents."""

from __future__ import annotations

from typing import Any

import numpy as np

from flexicase.gp import EvolutionResult, OffspringGenerator, OffspringPlan, Population, Variation, evolve
from flexicase.push import Gene, Genome, RandomInteger, Symbol
from flexicase.rng import key_from_seed

# Small runs that exercise everything, and what of them must be the same.


SMALL = {"population": 60, "generations": 4, "seed": 5, "simplification_steps": 50}


def small_run(**changes: Any) -> EvolutionResult:
    return evolve(changes.pop("problem", "mirror-image"), **{**SMALL, "threads": 1, **changes})


def fingerprint(run: EvolutionResult) -> dict[str, Any]:
    """All of a run but its times."""
    outcome = run.as_dict()
    outcome["records"] = run.records
    outcome["errors"] = (run.train_errors.tolist(), run.test_errors.tolist())
    outcome["genome"] = run.genome.genes
    return outcome


#: One of every kind of sampling, in its text form.
SAMPLERS = [
    "down:0.1",
    "static:0.1",
    "disjoint:0.3",
    "rolling:0.1",
    "cohorts:7",
    "informed:0.1,parent_rate=0.1,every=3",
    "informed,radius=1,parent_rate=0.2,every=2",
    "phylogeny+down:0.2,depth=3",
    "phylogeny+cohorts:4",
]

#: A run with plain copies, pipelines and operators that select for each gene.
MIXED = Variation(
    operators={"reproduction": 0.4, "alternation+uniform_mutation": 0.3, "gene_selection": 0.1, "genesis": 0.2}
)


# Children of known parents, for tests of single operators.


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
        chosen = (np.arange(plan.n_parents) - np.repeat(plan.parent_start[:-1], np.diff(plan.parent_start))) % len(
            parents
        )
    made, used, _ = breeder.breed(population, plan, chosen, key_from_seed(seed), threads)
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
