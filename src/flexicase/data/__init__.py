"""Example errors: from a genetic-programming run, and from a synthetic population that computes them on demand."""

from __future__ import annotations

from importlib import resources

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_fraction, check_indices
from flexicase.rng import GOLDEN, LANE_STEP, Seed, generator_from_seed

__all__ = ["SyntheticPopulation", "example_errors"]

ABILITIES = 6
CHANGED = 0.15
MAX_LENGTH = 2**31 - 1


def example_errors() -> NDArray[np.uint16]:
    """(500, 100) uint16 errors of programs on cases of Last Index of Zero, halfway through a run.

    Two fifths of the programs behave like another one, none solves all cases, and a tenth of the entries are 1000, the
    penalty for no answer. Made by ``tools/make_example_errors.py`` in the repository.

    Example:
        >>> from flexicase.data import example_errors
        >>> errors = example_errors()
        >>> errors.shape, int(errors.max()), bool((errors == 0).all(axis=1).any())
        ((500, 100), 1000, False)
    """
    with resources.files(__name__).joinpath("example_errors.npz").open("rb") as file, np.load(file) as archive:
        return np.asarray(archive["errors"], dtype=np.uint16)


class SyntheticPopulation:
    """Individuals and cases as in program synthesis: mostly pass or fail, with many near copies.

    A share ``copies`` of the individuals, 0 to 1, are copies, some originals having many. Six hidden abilities of an
    original and the demands and difficulty of a case decide how likely it is to pass; on a fifth of the cases the error
    of a failure is a count. 15 % of the individuals differ from their original in about two cases. Every error is a
    function of the seed, the original and the case, so nothing is stored.

    Example:
        >>> import flexicase as fx
        >>> from flexicase.data import SyntheticPopulation
        >>> population = SyntheticPopulation(1000, 100_000, seed=1)
        >>> population([3, 14, 15], [92, 65_358]).shape
        (3, 2)
        >>> s = fx.FastLexicase(100_000).select(population, 1000, n=1, seed=7)
        >>> bool(s.pairs < 0.05 * 1000 * 100_000)
        True
    """

    def __init__(self, n_individuals: int, n_cases: int, *, copies: float = 0.5, seed: Seed = 0) -> None:
        self.n_individuals = check_count(n_individuals, "n_individuals", 1, MAX_LENGTH)
        self.n_cases = check_count(n_cases, "n_cases", 0, MAX_LENGTH)
        copies = check_fraction(copies, "copies")
        rng = generator_from_seed(seed)
        try:
            self._draw(rng, max(1, round(self.n_individuals * (1 - copies))))
        except MemoryError:
            sizes = f"{self.n_individuals} and {self.n_cases}"
            raise MemoryError(f"n_individuals and n_cases must fit into memory, got {sizes}") from None

    def _draw(self, rng: np.random.Generator, n_originals: int) -> None:
        popularity = np.arange(1, n_originals + 1) ** -0.7
        copied = rng.choice(n_originals, self.n_individuals - n_originals, p=popularity / popularity.sum())
        self._original = rng.permutation(np.concatenate([np.arange(n_originals), copied]))
        self._ability = rng.normal(size=(n_originals, ABILITIES)).astype(np.float32)
        self._changed = rng.random(self.n_individuals) < CHANGED
        self._demand = rng.normal(size=(ABILITIES, self.n_cases)).astype(np.float32)
        self._difficulty = rng.normal(0.8, 1.0, self.n_cases).astype(np.float32)
        self._counted = rng.random(self.n_cases) < 0.2
        self._salt = np.uint64(rng.integers(2**63))

    def __call__(self, individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.uint8]:
        """The (m, b) errors of (m,) individuals on (b,) cases, 0 for a pass."""
        individuals = check_indices(individuals, "individuals", self.n_individuals)
        cases = check_indices(cases, "cases", self.n_cases)
        original = self._original[individuals]
        talent = self._ability[original] @ self._demand[:, cases]
        passing = 1 / (1 + np.exp(-2.5 * (0.9 * talent - self._difficulty[cases])))
        chance = self._unit(original, cases)
        fails = chance > passing
        changed = self._changed[individuals, None] & (
            self._unit(individuals + self.n_individuals, cases) < 2 / max(self.n_cases, 1)
        )
        counts = np.where(self._counted[cases], 1 + (chance * 1000).astype(np.int64) % 5, 1)
        return np.where(fails ^ changed, counts, 0).astype(np.uint8)

    def _unit(self, rows: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[np.float64]:
        """(m, b) numbers in [0, 1) that depend on the row and the case alone: SplitMix64 of both."""
        x = rows.astype(np.uint64)[:, None] * np.uint64(GOLDEN) + self._salt
        x = x ^ (cases.astype(np.uint64) * np.uint64(LANE_STEP))
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53)
