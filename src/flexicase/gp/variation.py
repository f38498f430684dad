"""Children: random genomes, and the operators of a `Variation` applied to selected parents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_count, check_threads, shown
from flexicase.gp.population import Population
from flexicase.problems.cases import as_tuple
from flexicase.problems.settings import MAX_POPULATION, RATES, Variation
from flexicase.push.draws import NATIVE_DRAWS, Generator
from flexicase.push.program import check_type
from flexicase.rng import Key


@dataclass(frozen=True)
class OffspringPlan:
    """Which pipelines make the children of a generation, and the parents they need.

    Attributes:
        pipelines: (children,) int64, positions in `Variation.operators`.
        parent_start: (children + 1,) int64; child ``i`` gets the selected parents ``parent_start[i]`` up to
            ``parent_start[i + 1]``.
    """

    pipelines: NDArray[np.int64]
    parent_start: NDArray[np.int64]

    @property
    def n_parents(self) -> int:
        """Number of parents to select."""
        return int(self.parent_start[-1])

    def used_parents(self, n_used: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(n_parents,) whether a child used each parent.

        Args:
            n_used: (children,) how many of its parents each child used.
        """
        reserved = np.diff(self.parent_start)
        position = np.arange(self.n_parents) - np.repeat(self.parent_start[:-1], reserved)
        return np.asarray(position < np.repeat(n_used, reserved), dtype=np.bool_)


class OffspringGenerator:
    """Makes random genomes from a list of genes, and children by the operators of a `Variation`.

    Each child has its own random stream, so the children do not depend on the number of threads.

    Args:
        genes: Literals, symbols and random draws, each equally likely.
        variation: How children are made.

    >>> from flexicase.push import RandomInteger, Symbol
    >>> from flexicase.rng import key_from_seed
    >>> offspring = OffspringGenerator([RandomInteger(0, 9), Symbol("integer_add")], Variation(max_initial_genome=5))
    >>> population = offspring.random(3, key_from_seed(1))
    >>> len(population), max(len(genome) for genome in population) <= 5
    (3, True)
    """

    def __init__(self, genes: Iterable[Generator], variation: Variation) -> None:
        self.variation = check_type(variation, "variation", Variation)
        silent = variation.silent_probability if variation.silent_marker else 0.0
        entries = [_entry(gene) for gene in as_tuple(genes, "genes")]
        if not entries:
            raise ValueError("genes must not be empty")
        try:
            source = _native.gp_gene_source(
                entries, list(variation.close_probabilities), variation.close_marker, silent
            )
        except (RuntimeError, TypeError, ValueError) as error:
            raise TypeError(f"genes must be literals, symbols or random draws ({error})") from None
        self.native = _native.gp_variation(
            source,
            [list(names) for names in variation.operators],
            list(variation.operators.values()),
            {native: list(getattr(variation, name)) for name, native in RATES.items()},
            variation.max_points,
            variation.max_initial_genome,
            variation.oversized,
            variation.silent_marker,
        )
        self._copies = np.array([set(pipeline) == {"reproduction"} for pipeline in variation.operators])

    def random(self, size: int, key: Key, threads: int = 1) -> Population:
        """A population of random genomes."""
        check_count(size, "size", maximum=MAX_POPULATION)
        key = check_type(key, "key", Key)
        return Population(_native.gp_random_population(self.native, size, key.k0, key.k1, check_threads(threads)))

    def plan(self, parents: Population, size: int, key: Key) -> OffspringPlan:
        """Draw the pipelines of ``size`` children.

        Args:
            parents: The population that parents are selected from.
            size: Number of children.
            key: Random bits of this generation.
        """
        check_type(parents, "parents", Population)
        check_count(size, "size", maximum=MAX_POPULATION)
        key = check_type(key, "key", Key)
        pipelines, parent_start = np.empty(size, np.int64), np.empty(size + 1, np.int64)
        _native.gp_plan(self.native, parents.native, key.k0, key.k1, pipelines, parent_start)
        return OffspringPlan(pipelines, parent_start)

    def breed(
        self, population: Population, plan: OffspringPlan, parents: NDArray[np.int64], key: Key, threads: int = 1
    ) -> tuple[Population, NDArray[np.int64], NDArray[np.bool_]]:
        """Make the children.

        Args:
            population: The population of the parents.
            plan: The plan that `plan` drew.
            parents: (plan.n_parents,) int64, the selected parents.
            key: Random bits of this generation.
            threads: Threads to use; the children do not depend on it.

        Returns:
            The children; (children,) int64, how many of its parents each child used; (children,) bool, whether its
            genome is random or empty, with nothing of its parents.
        """
        check_type(population, "population", Population)
        check_type(plan, "plan", OffspringPlan)
        if not isinstance(parents, np.ndarray) or parents.dtype != np.int64 or parents.shape != (plan.n_parents,):
            raise TypeError(f"parents must be an int64 array of shape ({plan.n_parents},), got {shown(parents)}")
        if parents.size and not 0 <= parents.min() <= parents.max() < len(population):
            raise ValueError(f"parents must be from 0 to {len(population) - 1}, got {parents.min()} … {parents.max()}")
        key, threads = check_type(key, "key", Key), check_threads(threads)
        used = np.empty(len(plan.pipelines), np.int64)
        children = _native.gp_breed(
            self.native, population.native, plan.pipelines, plan.parent_start, parents, key.k0, key.k1, threads, used
        )
        return Population(children), np.abs(used), used < 0

    def is_copy(self, plan: OffspringPlan) -> NDArray[np.bool_]:
        """(children,) whether each child is a plain copy of its first parent."""
        return np.asarray(self._copies[plan.pipelines], dtype=np.bool_)


def _entry(gene: Generator) -> tuple[Any, ...]:
    """A generator in the form that the engine reads."""
    name = NATIVE_DRAWS.get(type(gene))
    if name is None:
        return "fixed", gene
    parts = (getattr(gene, f.name) for f in fields(gene))
    return name, *(_entry(part) if type(part) in NATIVE_DRAWS else part for part in parts)
