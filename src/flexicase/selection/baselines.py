"""Methods to compare with: tournaments, fitness-proportionate and random selection."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_count
from flexicase.rng import Key, Lane, Stream
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.protocol import Backend, Kernel, UncountedKernel
from flexicase.selection.sampling import random_permutation


def roulette_kernel(probabilities: NDArray[np.float64], backend: Backend) -> Kernel:
    """Independent spins of one wheel of (n_individuals,) probabilities."""
    wheel = np.cumsum(probabilities)

    def spin(key: Key, event: int) -> int:
        return int(np.searchsorted(wheel, Stream.of(key, event, Lane.BASELINE).unit() * wheel[-1], side="right"))

    return UncountedKernel(backend, partial(_native.draw_wheel, wheel), spin)


MAX_POSSIBLE_BATCHES = 100_000
MAX_ENTRANTS = 2**20


@dataclass(frozen=True, slots=True)
class Tournament:
    """Tournament selection: the lowest total error among a few individuals drawn at random.

    Entrants are drawn uniformly with replacement, and ties are broken at random (Brindle 1981; Goldberg and Deb, FOGA
    1991). Totals are float64, summed case by case.

    Attributes:
        size: Entrants per tournament, at most 2**20.

    Example:
        >>> import flexicase as fx
        >>> s = fx.select([[1, 1], [0, 3], [0, 0]], 500, fx.Tournament(size=3), seed=1)
        >>> bool((s.indices == 2).mean() > 0.5), s.counted
        (True, False)
    """

    size: int = 7

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_count(self.size, "size", 1, MAX_ENTRANTS))

    def describe(self) -> str:
        return f"the lowest total error of {self.size} individuals drawn at random"

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        return tournament_kernel(matrix.total_errors[None], self.size, backend)

    def probabilities(self, matrix: ErrorMatrix) -> NDArray[np.float64]:
        return tournament_probabilities(matrix.total_errors, self.size)


@dataclass(frozen=True, slots=True)
class BatchTournament:
    """Batch tournament selection (de Melo, Vargas and Banzhaf, GECCO 2019).

    Cases are shuffled and split into batches once per selector; tournament e compares the mean error on batch e modulo
    the number of batches. The last batch may be smaller. Entrants and ties are as in `Tournament`.

    Attributes:
        size: Entrants per tournament, at most 2**20.
        batch_size: Cases per batch.

    Example:
        >>> import flexicase as fx
        >>> s = fx.select([[0, 9], [9, 0], [8, 8]], 100, fx.BatchTournament(size=9, batch_size=1), seed=1)
        >>> bool((s.indices == 2).mean() < 0.1)
        True
    """

    size: int = 7
    batch_size: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_count(self.size, "size", 1, MAX_ENTRANTS))
        object.__setattr__(self, "batch_size", check_count(self.batch_size, "batch_size", 1))

    def describe(self) -> str:
        return f"the lowest error on a batch of {self.batch_size} cases, of {self.size} individuals drawn at random"

    def batches(self, n_cases: int, key: Key) -> list[NDArray[np.int64]]:
        """The cases of each batch, in ascending order; one empty batch if there are no cases."""
        order = random_permutation(n_cases, Stream.of(key, 0, Lane.SAMPLE))
        return [np.sort(order[start : start + self.batch_size]) for start in range(0, max(n_cases, 1), self.batch_size)]

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        scores = batch_totals(matrix, self.batches(matrix.n_cases, key), backend)
        return tournament_kernel(scores, self.size, backend)

    def probabilities(self, matrix: ErrorMatrix) -> NDArray[np.float64]:
        """(n_individuals,) exact probabilities for a random shuffle and a random batch of it."""
        sizes = Counter(map(len, self.batches(matrix.n_cases, Key(0, 0))))  # the same for every key
        total = np.zeros(matrix.n_individuals)
        for size, times in sizes.items():
            total += times * self._mean_over_batches(matrix, size)
        return total / sizes.total()

    def _mean_over_batches(self, matrix: ErrorMatrix, size: int) -> NDArray[np.float64]:
        possible = math.comb(matrix.n_cases, size)
        if possible > MAX_POSSIBLE_BATCHES:
            raise ValueError(
                f"exact probabilities need a pass over every possible batch: {size} of {matrix.n_cases} cases make "
                f"{possible:.3g} batches, at most {MAX_POSSIBLE_BATCHES} are feasible"
            )
        mean = np.zeros(matrix.n_individuals)
        for cases in itertools.combinations(range(matrix.n_cases), size):
            scores = batch_totals(matrix, [np.array(cases, dtype=np.int64)], "native")[0]
            mean += tournament_probabilities(scores, self.size)
        return mean / possible


@dataclass(frozen=True, slots=True)
class FitnessProportionate:
    """Fitness-proportionate (roulette wheel) selection (Holland 1975).

    The probability is proportional to 1 / (1 + total error), Koza's adjusted fitness (1992); 0 for an infinite total,
    uniform if all are infinite. Totals must not be negative.

    Example:
        >>> import flexicase as fx
        >>> s = fx.select([[0, 0], [1, 2]], 1000, fx.FitnessProportionate(), seed=1)
        >>> bool(0.75 < (s.indices == 0).mean() < 0.85)
        True
    """

    def describe(self) -> str:
        return "probability proportional to 1 / (1 + total error)"

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        return roulette_kernel(adjusted_fitness(matrix.above_solved.total_errors), backend)

    def probabilities(self, matrix: ErrorMatrix) -> NDArray[np.float64]:
        fitness = adjusted_fitness(matrix.above_solved.total_errors)
        fitness /= fitness.sum()
        return fitness


@dataclass(frozen=True, slots=True)
class RandomSelection:
    """Uniformly random selection, which ignores the errors.

    Example:
        >>> import flexicase as fx
        >>> s = fx.select([[0], [5], [9]], 100, fx.RandomSelection(), seed=1)
        >>> sorted(set(s.indices.tolist()))
        [0, 1, 2]
    """

    def describe(self) -> str:
        return "uniformly random, errors are ignored"

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        return tournament_kernel(np.zeros((1, matrix.n_individuals)), 1, backend)

    def probabilities(self, matrix: ErrorMatrix) -> NDArray[np.float64]:
        return np.full(matrix.n_individuals, 1.0 / matrix.n_individuals)


def tournament_kernel(scores: NDArray[np.float64], size: int, backend: Backend) -> Kernel:
    """Tournaments on (n_batches, n_individuals) scores, event e on row e mod n_batches; the first of ties wins."""
    n_batches, n_individuals = scores.shape

    def compete(key: Key, event: int) -> int:
        stream = Stream.of(key, event, Lane.BASELINE)
        entrants = [stream.bounded(n_individuals) for _ in range(size)]
        return entrants[np.argmin(scores[event % n_batches, entrants])]

    return UncountedKernel(backend, partial(_native.draw_tournaments, scores, size), compete)


def batch_totals(matrix: ErrorMatrix, batches: Sequence[NDArray[np.int64]], backend: Backend) -> NDArray[np.float64]:
    """(n_batches, n_individuals) float64 errors summed over each batch of cases, in order; inf where the sum is NaN."""
    matrix.check_float64("sums")
    sums = np.zeros((len(batches), matrix.n_individuals))
    if backend == "native":
        starts = np.cumsum([0, *map(len, batches)], dtype=np.int64)
        _native.batch_sums(matrix.values, np.concatenate(batches), starts, sums)
        return sums
    with np.errstate(over="ignore", invalid="ignore"):
        for b, batch in enumerate(batches):
            for case in batch:
                sums[b] += matrix.values[:, case].astype(np.float64)
    sums[np.isnan(sums)] = np.inf
    return sums


def tournament_probabilities(scores: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """(n_individuals,) probability of winning: no entrant is better, and not all are worse, shared among equals."""
    _, rank, equals = np.unique(scores, return_inverse=True, return_counts=True)
    not_better = np.cumsum(equals[::-1])[::-1]
    none_better = (not_better / len(scores)) ** size
    all_worse = ((not_better - equals) / len(scores)) ** size
    shares: NDArray[np.float64] = ((none_better - all_worse) / equals)[rank.reshape(-1)]
    return shares


def adjusted_fitness(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + total error) of (n_individuals,) totals, scaled to a maximum of 1; all 1 if all totals are infinite."""
    if (totals < 0).any():
        worst = int(np.argmax(totals < 0))
        raise ValueError(
            f"errors must have totals of at least 0 for fitness-proportionate selection, "
            f"but individual {worst} has {totals[worst]}"
        )
    best = totals.min()
    if np.isinf(best):
        return np.ones_like(totals)
    fitness: NDArray[np.float64] = (1.0 + best) / (1.0 + totals)
    return fitness
