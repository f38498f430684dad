"""`InformedDownSample`: a down-sample of cases that tell individuals apart in different ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase.rng import Key, Lane, Stream
from flexicase.selection.backend import Backend
from flexicase.selection.matrix import ErrorMatrix, row_blocks
from flexicase.selection.sampling import Part, check_sample_size, sample_size, shuffled


@dataclass(frozen=True, slots=True)
class InformedDownSample:
    """Informed down-sampling (Boldi et al., "Informed Down-Sampled Lexicase Selection", ECJ 2024).

    Some individuals are drawn at random. The distance of two cases is the number of these that
    solve (error 0) exactly one of the two. The sample starts with a random case and grows by
    farthest-first traversal: always the case whose nearest neighbour in the sample is farthest,
    ties decided at random. Cases that all individuals treat alike have distance 0, so where no
    error is ever 0 this is random down-sampling.

    Attributes:
        size: A fraction of the cases (0 < size ≤ 1, a float), or how many (an integer).
        parents: Individuals whose results tell the distances: a fraction of all (a float), or how
            many. The paper's rate ρ; 1.0 is full information.

    Example:
        >>> import flexicase as fx
        >>> errors = [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]  # cases 0, 1 and 2 are synonymous
        >>> method = fx.Lexicase(sample=fx.InformedDownSample(2, parents=1.0))
        >>> set(fx.select(errors, 20, method, seed=1).indices.tolist())
        {2}
    """

    size: float | int = 0.1
    parents: float | int = 0.01

    def __post_init__(self) -> None:
        """Check both sizes."""
        object.__setattr__(self, "size", check_sample_size(self.size, "size"))
        object.__setattr__(self, "parents", check_sample_size(self.parents, "parents"))

    def parts(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> list[Part]:
        """One part: every individual, some cases."""
        stream = Stream.of(key, 0, Lane.SAMPLE)
        asked = shuffled(matrix.n_individuals, stream)[: sample_size(self.parents, matrix.n_individuals)]
        solved = np.empty((len(asked), matrix.n_cases), dtype=np.bool_)
        for block in row_blocks(*solved.shape):
            solved[block] = matrix.values[asked[block]] == 0
        k = sample_size(self.size, matrix.n_cases)
        if backend == "native":
            chosen = np.empty(k, dtype=np.int64)
            _native.farthest_first(np.ascontiguousarray(solved).view(np.uint8), stream.state, chosen)
        else:
            chosen = farthest_first(solved, k, stream)
        return [Part(None, np.sort(chosen))]


def farthest_first(solved: NDArray[np.bool_], size: int, stream: Stream) -> NDArray[np.int64]:
    """Choose cases by farthest-first traversal, in the Hamming distance of their columns.

    Args:
        solved: (n_parents, n_cases) who solves what.
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
