"""Sampling: which part of the error matrix a generation's selection uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_count, check_fraction, shown
from flexicase.rng import Key, Lane, Stream, case_keys
from flexicase.selection.matrix import ErrorMatrix, row_blocks
from flexicase.selection.protocol import Backend, Kernel, Selection


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A part of an error matrix.

    Attributes:
        individuals: Its rows in ascending order; None for all.
        cases: Its columns in ascending order; None for all.
    """

    individuals: NDArray[np.int64] | None
    cases: NDArray[np.int64] | None


class Sample(Protocol):
    """Chooses the parts of the matrix that selection uses, once per selector."""

    def parts(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> list[Partition]:
        """The parts; event number e selects from part e modulo their number."""
        ...


class PartitionKernel:
    """A kernel that assigns the events to the parts of a matrix in turn."""

    def __init__(self, parts: Sequence[Partition], kernels: Sequence[Kernel]) -> None:
        self.parts = parts
        self.kernels = kernels

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Selection:
        """Run the events with these numbers."""
        out = Selection.empty(len(events), counts)
        for i in range(min(len(self.parts), len(events))):
            which = events[i] % len(self.parts)
            mine = self.kernels[which].draw(key, events[i :: len(self.parts)], counts, threads)
            individuals = self.parts[which].individuals
            rows = slice(i, None, len(self.parts))
            out.indices[rows] = mine.indices if individuals is None else individuals[mine.indices]
            if counts:
                out.evaluations[rows] = mine.evaluations
                out.evaluations_distinct[rows] = mine.evaluations_distinct
                out.cases_used[rows] = mine.cases_used
                out.ended[rows] = mine.ended
        return out


def random_permutation(n: int, stream: Stream) -> NDArray[np.int64]:
    """A uniformly random permutation of 0 … n-1."""
    return np.argsort(case_keys(stream.word(), n))


@dataclass(frozen=True, slots=True)
class DownSample:
    """Random down-sampling: a fresh random subset of the cases (Hernandez, Lalejini, Dolson and Ofria, GECCO 2019).

    Attributes:
        size: A fraction of the cases (0 < size ≤ 1, a float), or how many (an integer).

    Example:
        >>> import flexicase as fx
        >>> method = fx.Lexicase(sampling=fx.DownSample(2))
        >>> int(fx.select([[0, 0, 0], [0, 0, 0]], 10, method, seed=1).cases_used.max())
        2
    """

    size: float | int = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_sample_size(self.size, "size"))

    def parts(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> list[Partition]:
        """One part: every individual, some cases."""
        k = sample_size(self.size, matrix.n_cases)
        return [Partition(None, np.sort(random_permutation(matrix.n_cases, Stream.of(key, 0, Lane.SAMPLE))[:k]))]


@dataclass(frozen=True, slots=True)
class Cohorts:
    """Cohort lexicase selection (Hernandez, Lalejini, Dolson and Ofria, GECCO 2019 Companion).

    Individuals and cases are each split at random into ``n_cohorts`` cohorts of nearly equal size,
    once per selector. Cohort k of the individuals uses cohort k of the cases only, and
    event number e selects from cohort e modulo ``n_cohorts``.

    Attributes:
        n_cohorts: Number of cohorts, reduced to the number of individuals or of cases if there are fewer
            (but at least one).

    Example:
        >>> import flexicase as fx
        >>> errors = [[0, 0, 0, 0], [1, 1, 1, 1]]
        >>> sorted(fx.select(errors, 2, fx.Lexicase(sampling=fx.Cohorts(2)), seed=1).indices.tolist())
        [0, 1]
    """

    n_cohorts: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_cohorts", check_count(self.n_cohorts, "n_cohorts", 1))

    def parts(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> list[Partition]:
        """One part per cohort."""
        n = min(self.n_cohorts, matrix.n_individuals, max(1, matrix.n_cases))
        stream = Stream.of(key, 0, Lane.SAMPLE)
        individuals = np.array_split(random_permutation(matrix.n_individuals, stream), n)
        cases = np.array_split(random_permutation(matrix.n_cases, stream), n)
        return [Partition(np.sort(i), np.sort(c)) for i, c in zip(individuals, cases, strict=True)]


def check_sampling(sampling: Any) -> Sample | None:
    """A sampling object, or None."""
    if sampling is not None and (isinstance(sampling, type) or not callable(getattr(sampling, "parts", None))):
        raise TypeError(
            "sampling must be DownSample, InformedDownSample, Cohorts, another object with parts(), or None, "
            f"got {shown(sampling)}"
        )
    return sampling


def check_sample_size(size: Any, name: str) -> float | int:
    """A positive count (an integer), or a fraction above 0 (a float)."""
    if not isinstance(size, float | np.floating):
        return check_count(size, name, 1)
    fraction = check_fraction(size, name)
    if fraction == 0.0:
        raise ValueError(f"{name} must be above 0, got 0.0")
    return fraction


def sample_size(size: float | int, n: int) -> int:
    """How many of ``n`` cases or individuals a size stands for: at least one if there is any, at most all."""
    k = max(1, round(size * n)) if isinstance(size, float) else int(size)
    return min(k, n)


@dataclass(frozen=True, slots=True)
class InformedDownSample:
    """Informed down-sampling (Boldi et al., "Informed Down-Sampled Lexicase Selection", ECJ 2024).

    Some individuals are drawn at random. The distance of two cases is the number of them that
    solve (error 0) exactly one of the two. The sample starts with a random case and grows by
    farthest-first traversal: always the case whose nearest neighbour in the sample is farthest,
    ties decided at random. Cases that all individuals treat alike have distance 0, so where no
    error is ever 0 this is random down-sampling.

    Attributes:
        size: A fraction of the cases (0 < size ≤ 1, a float), or how many (an integer).
        parent_rate: Individuals whose results give the distances: a fraction of all (a float), or how
            many. The paper's rate ρ; 1.0 is full information.

    Example:
        >>> import flexicase as fx
        >>> errors = [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]  # cases 0, 1 and 2 are synonymous
        >>> method = fx.Lexicase(sampling=fx.InformedDownSample(2, parent_rate=1.0))
        >>> set(fx.select(errors, 20, method, seed=1).indices.tolist())
        {2}
    """

    size: float | int = 0.1
    parent_rate: float | int = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_sample_size(self.size, "size"))
        object.__setattr__(self, "parent_rate", check_sample_size(self.parent_rate, "parent_rate"))

    def parts(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> list[Partition]:
        """One part: every individual, some cases."""
        stream = Stream.of(key, 0, Lane.SAMPLE)
        asked = random_permutation(matrix.n_individuals, stream)[: sample_size(self.parent_rate, matrix.n_individuals)]
        solved = np.empty((len(asked), matrix.n_cases), dtype=np.bool_)
        for block in row_blocks(*solved.shape):
            solved[block] = matrix.values[asked[block]] == 0
        k = sample_size(self.size, matrix.n_cases)
        if backend == "native":
            chosen = np.empty(k, dtype=np.int64)
            _native.farthest_first(np.ascontiguousarray(solved).view(np.uint8), stream.state, chosen)
        else:
            chosen = farthest_first(solved, k, stream)
        return [Partition(None, np.sort(chosen))]


def farthest_first(solved: NDArray[np.bool_], size: int, stream: Stream) -> NDArray[np.int64]:
    """Choose cases by farthest-first traversal, in the Hamming distance of their columns.

    Args:
        solved: (n_parents, n_cases) whether each solves each case.
        size: How many cases to choose.
        stream: Decides ties; the first case is a tie among all.

    Returns:
        (size,) the cases, in the order chosen.
    """
    chosen = np.empty(size, dtype=np.int64)
    nearest = np.full(solved.shape[1], len(solved))
    for i in range(size):
        tied = np.flatnonzero(nearest == nearest.max())
        case = chosen[i] = tied[stream.bounded(len(tied))]
        nearest = np.minimum(nearest, (solved != solved[:, [case]]).sum(axis=0))
        nearest[chosen[: i + 1]] = -1
    return chosen
