"""Populations of Plush genomes, kept natively."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase.push.genome import Gene, Genome
from flexicase.push.program import Program

_SILENT: tuple[bool | Literal["no-op"], ...] = (False, True, "no-op")


class Population:
    """Genomes in native memory; each is turned into a `flexicase.push.Genome` when asked for.

    >>> population = Population.from_genomes([Genome([Gene(1), Gene(2, close=1)]), Genome([])])
    >>> len(population), population.sizes.tolist(), population[0].genes[1].close
    (2, [2, 0], 1)
    """

    __slots__ = ("native",)

    def __init__(self, native: _native.GpPopulation) -> None:
        """Wrap what the native side made."""
        self.native = native

    @classmethod
    def from_genomes(cls, genomes: Iterable[Genome]) -> Population:
        """A population of these genomes."""
        rows = [[(gene.item, gene.close, _SILENT.index(gene.silent)) for gene in genome.genes] for genome in genomes]
        return cls(_native.gp_population(rows))

    @classmethod
    def from_bytes(cls, data: bytes) -> Population:
        """The population that `to_bytes` was called on.

        Raises:
            ValueError: The bytes are not those of a population.
        """
        return cls(_native.gp_population_from_bytes(data))

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
        """All programs, and (individuals,) int64: their sizes in points.

        >>> programs, sizes = Population.from_genomes([Genome([Gene(1), Gene(2)])]).translate(1200)
        >>> str(programs[0]), sizes.tolist()
        ('(1 2)', [3])
        """
        sizes = np.empty(len(self), np.int64)
        codes = _native.gp_translate(self.native, max_points, threads, sizes)
        return [Program.from_native(code) for code in codes], sizes

    def __reduce__(self) -> tuple[Any, ...]:
        return Population.from_bytes, (self.to_bytes(),)

    def __len__(self) -> int:
        return len(self.native)

    def __getitem__(self, index: int) -> Genome:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index must be between {-len(self)} and {len(self) - 1}, got {index}")
        return Genome(
            Gene(item, close, _SILENT[silent]) for item, close, silent in self.native.genes(index % len(self))
        )

    def __iter__(self) -> Iterator[Genome]:
        return (self[i] for i in range(len(self)))
