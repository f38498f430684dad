"""Populations of Plush genomes, kept in native memory: random ones, and children of selected parents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_count, check_threads, shown
from flexicase.problems.cases import as_tuple
from flexicase.problems.settings import MAX_POPULATION, RATES, Variation
from flexicase.push.draws import NATIVE_DRAWS, Generator
from flexicase.push.genome import Gene, Genome
from flexicase.push.program import Program, check_type
from flexicase.rng import Key

_SILENT: tuple[bool | Literal["no-op"], ...] = (False, True, "no-op")


class Population:
    """Genomes in native memory. Indexing gives a `flexicase.push.Genome`.

    >>> population = Population.from_genomes([Genome([Gene(1), Gene(2, close=1)]), Genome([])])
    >>> len(population), population.sizes.tolist(), population[0].genes[1].close
    (2, [2, 0], 1)
    """

    __slots__ = ("native",)

    def __init__(self, native: _native.GpPopulation) -> None:
        self.native = native

    @classmethod
    def from_genomes(cls, genomes: Iterable[Genome]) -> Population:
        """Make a population of these genomes."""
        checked = as_tuple(genomes, "genomes")
        for genome in checked:
            if not isinstance(genome, Genome):
                raise TypeError(f"genomes must be Genome objects, got {shown(genome)}")
        rows = [[(gene.item, gene.close, _SILENT.index(gene.silent)) for gene in genome.genes] for genome in checked]
        return cls(_native.gp_population(rows))

    @classmethod
    def from_bytes(cls, data: bytes) -> Population:
        """Read a population written by `to_bytes`; other bytes raise ValueError."""
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, got {shown(data)}")
        try:
            return cls(_native.gp_population_from_bytes(data))
        except ValueError as error:
            raise ValueError(f"data must be the bytes of a population: {error}") from None

    def to_bytes(self) -> bytes:
        """All genomes as bytes.

        >>> population = Population.from_genomes([Genome([Gene(1), Gene("text")])])
        >>> Population.from_bytes(population.to_bytes())[0].genes[1].item
        'text'
        """
        return self.native.to_bytes()

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(individuals,) the number of genes of each genome."""
        sizes = np.empty(len(self), np.int64)
        self.native.sizes(sizes)
        return sizes

    def translate(self, max_points: int, threads: int = 1) -> tuple[list[Program], NDArray[np.int64]]:
        """Translate all genomes to programs; gives them and (individuals,) int64, their sizes in points.

        >>> programs, sizes = Population.from_genomes([Genome([Gene(1), Gene(2)])]).translate(1200)
        >>> str(programs[0]), sizes.tolist()
        ('(1 2)', [3])
        """
        check_count(max_points, "max_points")
        threads = check_threads(threads)
        sizes = np.empty(len(self), np.int64)
        codes = _native.gp_translate(self.native, max_points, threads, sizes)
        return [Program.from_native(code) for code in codes], sizes

    def __reduce__(self) -> tuple[Any, ...]:
        return Population.from_bytes, (self.to_bytes(),)

    def __len__(self) -> int:
        return len(self.native)

    def __getitem__(self, index: int) -> Genome:
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise TypeError(f"index must be an integer, got {shown(index)}")
        if not -len(self) <= index < len(self):
            raise IndexError(f"index must be between {-len(self)} and {len(self) - 1}, got {shown(index)}")
        genes = self.native.genes(int(index) % len(self))
        return Genome(Gene(item, close, _SILENT[silent]) for item, close, silent in genes)

    def __iter__(self) -> Iterator[Genome]:
        return (self[i] for i in range(len(self)))


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
        """(n_parents,) whether a child used each parent, from (children,) how many of its parents each child used."""
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
        """Draw the pipelines of ``size`` children of a population; ``key`` has the random bits of this generation."""
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
            plan: The result of `plan`.
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
