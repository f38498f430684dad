"""Populations of Plush genomes, kept in native memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_count, check_threads, shown
from flexicase.problems.cases import as_tuple
from flexicase.push.genome import Gene, Genome
from flexicase.push.program import Program

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
        """Read a population written by `to_bytes`.

        Raises:
            ValueError: The bytes are not a population.
        """
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
