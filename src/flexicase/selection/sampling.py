"""Samples: which part of the error matrix a generation's selection uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flexicase.checks import check_count, check_fraction
from flexicase.rng import Key, Lane, Stream, case_keys
from flexicase.selection.kernel import Events, Kernel
from flexicase.selection.matrix import ErrorMatrix


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of an error matrix.

    Attributes:
        individuals: Its rows in ascending order; None for all.
        cases: Its columns in ascending order; None for all.
    """

    individuals: NDArray[np.int64] | None
    cases: NDArray[np.int64] | None


class Sample(Protocol):
    """Chooses the parts of the matrix that selection uses, once per selector."""

    def parts(self, matrix: ErrorMatrix, key: Key) -> list[Part]:
        """The parts; event number e selects from part e modulo their number."""
        ...


class Parts:
    """A kernel that deals the events out to the parts of a matrix, in turn."""

    def __init__(self, parts: Sequence[Part], kernels: Sequence[Kernel]) -> None:
        """Pair each part with the kernel that selects from it."""
        self.parts = parts
        self.kernels = kernels

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Events:
        """Run the events with these numbers."""
        out = Events.empty(len(events), counts)
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


def shuffled(n: int, stream: Stream) -> NDArray[np.int64]:
    """A uniformly random permutation of 0 … n-1."""
    return np.argsort(case_keys(stream.word(), n))


@dataclass(frozen=True, slots=True)
class DownSample:
    """Random down-sampling: a fresh random subset of the cases (Hernandez, Lalejini, Dolson and Ofria, GECCO 2019).

    Attributes:
        size: A fraction of the cases (0 < size < 1), or how many (an integer).
    """

    size: float | int = 0.1

    def __post_init__(self) -> None:
        """Check the size."""
        check_sample_size(self.size)

    def parts(self, matrix: ErrorMatrix, key: Key) -> list[Part]:
        """One part: every individual, some cases."""
        k = sample_size(self.size, matrix.n_cases)
        return [Part(None, np.sort(shuffled(matrix.n_cases, Stream.of(key, 0, Lane.SAMPLE))[:k]))]


def check_sample_size(size: float | int) -> None:
    """Refuse a size that is neither a positive count nor a fraction."""
    if isinstance(size, float):
        if check_fraction(size, "size") == 0.0:
            raise ValueError("size must be above 0, got 0.0")
    else:
        check_count(size, "size", 1)


def sample_size(size: float | int, n_cases: int) -> int:
    """How many of ``n_cases`` cases a size stands for: at least one if there is any, at most all."""
    k = max(1, round(size * n_cases)) if isinstance(size, float) else int(size)
    return min(k, n_cases)
