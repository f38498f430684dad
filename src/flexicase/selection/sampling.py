"""Sampling: which cases a generation uses. Selection draws columns of a matrix, `flexicase.gp.evolve` draws cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_choice, check_count, check_fraction, check_not_negative, shown
from flexicase.rng import Key, Lane, Stream, case_keys
from flexicase.selection.matrix import ErrorMatrix, row_blocks
from flexicase.selection.protocol import Backend, Kernel, Selection, Taken, resolve_backend


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A part of an error matrix: its rows and its columns, each in ascending order; None for all."""

    individuals: NDArray[np.int64] | None = None
    cases: NDArray[np.int64] | None = None

    def of_cases(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The values of its cases, from one value per case of the whole matrix."""
        return values if self.cases is None else values[self.cases]


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

    def draw(self, key: Key, events: range, counts: bool, threads: int, taken: Taken | None = None) -> Selection:
        n = len(self.parts)
        which = [event % n for event in events[:n]]
        draws = []
        for i, k in enumerate(which):
            members = self.parts[k].individuals
            if taken is None:
                drawn = self.kernels[k].draw(key, events[i::n], counts, threads)
            else:
                own = taken if members is None else taken[members]
                drawn = self.kernels[k].draw(key, events[i::n], counts, threads, own)  # type: ignore[call-arg]
            if members is not None:
                drawn.indices = members[drawn.indices]
            if taken is not None:
                taken[drawn.indices] = 1
            draws.append(drawn)
        out = Selection.empty(len(events), counts and all(drawn.counted for drawn in draws))
        for i, drawn in enumerate(draws):
            out.put(slice(i, None, n), drawn)
        return out


def random_permutation(n: int, stream: Stream) -> NDArray[np.int64]:
    """A uniformly random permutation of 0 … n-1."""
    return np.argsort(case_keys(stream.word(), n))


#: How the sample changes from one generation to the next.
DownSampleKind: TypeAlias = Literal["random", "static", "disjoint", "rolling"]


@dataclass(frozen=True, slots=True)
class DownSample:
    """A random subset of the cases (Hernandez, Lalejini, Dolson and Ofria, GECCO 2019).

    A selector has one sample, whatever the kind, unless it draws one per event. In `flexicase.gp.evolve` the kind says
    what follows it:

    - ``"random"``: each generation draws a fresh sample.
    - ``"static"``: all generations use the sample of the first.
    - ``"disjoint"``: the shuffled cases are used block by block, then shuffled again.
    - ``"rolling"``: each generation replaces the oldest case of the sample by a random one from outside.

    Attributes:
        size: A fraction of the cases (0 < size ≤ 1, a float), or how many (an integer).
        kind: How the sample changes from one generation to the next.
        per: ``"generation"``: one sample per selector or generation; ``"event"``: one for every selection event, for a
            `Lexicase` in uniform order.

    Example:
        >>> import flexicase as fx
        >>> method = fx.Lexicase(sampling=fx.DownSample(2))
        >>> int(fx.select([[0, 0, 0], [0, 0, 0]], 10, method, seed=1).cases_used.max())
        2
    """

    size: float | int = 0.1
    kind: DownSampleKind = "random"
    per: Literal["generation", "event"] = "generation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_sample_size(self.size, "size"))
        check_choice(self.kind, "kind", get_args(DownSampleKind))
        check_choice(self.per, "per", ("generation", "event"))

    def parts(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> list[Partition]:
        k = sample_size(self.size, matrix.n_cases)
        return [Partition(None, np.sort(random_permutation(matrix.n_cases, Stream.of(key, 0, Lane.SAMPLE))[:k]))]


@dataclass(frozen=True, slots=True)
class Cohorts:
    """Cohort lexicase selection (Hernandez, Lalejini, Dolson and Ofria, GECCO 2019 Companion).

    Individuals and cases are each split at random into ``n_cohorts`` cohorts of nearly equal size, once per selector or
    generation. Cohort k of the individuals uses cohort k of the cases only, and event e selects from cohort e modulo
    ``n_cohorts``.

    Attributes:
        n_cohorts: Number of cohorts, reduced to the number of individuals or of cases (but at least one) if smaller.

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
        return [Partition(*cohort) for cohort in self.split(matrix.n_individuals, matrix.n_cases, key)]

    def split(self, n_individuals: int, n_cases: int, key: Key) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The individuals and the cases of each cohort, ascending."""
        n = min(self.n_cohorts, n_individuals, max(1, n_cases))
        stream = Stream.of(key, 0, Lane.SAMPLE)
        individuals = np.array_split(random_permutation(n_individuals, stream), n)
        cases = np.array_split(random_permutation(n_cases, stream), n)
        return [(np.sort(i), np.sort(c)) for i, c in zip(individuals, cases, strict=True)]


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


#: When an individual counts as solving a case: see `InformedDownSample`.
SolvedBy: TypeAlias = Literal["zero", "elite", "median"] | float


@dataclass(frozen=True, slots=True)
class InformedDownSample:
    """Informed down-sampling (Boldi et al., "Informed Down-Sampled Lexicase Selection", ECJ 2024).

    Some individuals are drawn at random. The distance of two cases is the number of them that solve exactly one of the
    two. The sample starts with a random case and grows by farthest-first traversal: always the case whose nearest
    neighbour in the sample is farthest, ties decided at random. Cases that all individuals treat alike have distance 0,
    so where no error is ever 0, ``solved_by="zero"`` is random down-sampling.

    Attributes:
        size: As for `DownSample`; by default 0.1, or 1.0 with ``radius``.
        parent_rate: Individuals whose results give the distances: a fraction of all (a float), or how many. The paper's
            rate ρ; 1.0 is full information.
        every: Generations between two updates of the distances in `flexicase.gp.evolve`: the paper's k.
        solved_by: A case is solved by an error of 0 (``"zero"``), by an error up to a number, by the smallest error of
            these individuals on the case (``"elite"``), or by one below their median (``"median"``).
        radius: Makes the size adaptive: the sample is complete once every case is within this distance of it, and
            ``size`` is the largest size. 0 takes one case of each group with equal results.

    Example:
        >>> import flexicase as fx
        >>> errors = [[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]  # cases 0, 1 and 2 are synonymous
        >>> method = fx.Lexicase(sampling=fx.InformedDownSample(2, parent_rate=1.0))
        >>> set(fx.select(errors, 20, method, seed=1).indices.tolist())
        {2}
    """

    size: float | int = None  # type: ignore[assignment]
    parent_rate: float | int = 0.01
    every: int = 10
    solved_by: SolvedBy = "zero"
    radius: int | None = None

    def __post_init__(self) -> None:
        default = 0.1 if self.radius is None else 1.0
        object.__setattr__(self, "size", default if self.size is None else check_sample_size(self.size, "size"))
        object.__setattr__(self, "parent_rate", check_sample_size(self.parent_rate, "parent_rate"))
        object.__setattr__(self, "every", check_count(self.every, "every", 1))
        if isinstance(self.solved_by, str):
            check_choice(self.solved_by, "solved_by", ("zero", "elite", "median"))
        else:
            object.__setattr__(self, "solved_by", check_not_negative(self.solved_by, "solved_by"))
        if self.radius is not None:
            object.__setattr__(self, "radius", check_count(self.radius, "radius"))

    def parts(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> list[Partition]:
        stream = Stream.of(key, 0, Lane.SAMPLE)
        asked = self.informants(matrix.n_individuals, stream)
        if self.solved_by in ("elite", "median"):  # compared with others, not with what counts as solved
            solved = self.solved(matrix.values[asked])
        else:
            errors, blocks = matrix.above_solved.values, row_blocks(len(asked), matrix.n_cases)
            solved = np.concatenate([self.solved(errors[asked[block]]) for block in blocks])
        return [Partition(None, np.sort(self.choose(solved, stream, backend)))]

    def informants(self, n_individuals: int, stream: Stream) -> NDArray[np.int64]:
        """The individuals whose results give the distances, drawn at random."""
        return random_permutation(n_individuals, stream)[: sample_size(self.parent_rate, n_individuals)]

    def solved(self, errors: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each of the informants solves each case, from their (n_informants, n_cases) errors."""
        if not isinstance(self.solved_by, str):
            return np.asarray(errors <= self.solved_by)
        if self.solved_by == "median":
            return np.asarray(errors < np.median(errors, axis=0))
        return np.asarray(errors == (0 if self.solved_by == "zero" else errors.min(axis=0)))

    def choose(self, solved: NDArray[np.bool_], stream: Stream, backend: Backend | None = None) -> NDArray[np.int64]:
        """Choose cases by what individuals solve, in the order chosen."""
        k = sample_size(self.size, solved.shape[1])
        if resolve_backend(backend) == "reference" or self.radius is not None:
            return farthest_first(solved, k, stream, -1 if self.radius is None else self.radius)
        chosen = np.empty(k, dtype=np.int64)
        _native.farthest_first(np.ascontiguousarray(solved).view(np.uint8), stream.state, chosen)
        return chosen


def farthest_first(solved: NDArray[np.bool_], size: int, stream: Stream, radius: int = -1) -> NDArray[np.int64]:
    """Choose up to ``size`` cases by farthest-first traversal, in the Hamming distance of the columns of ``solved``.

    Stops when no case is farther than ``radius`` from those chosen. The first case is a tie among all.
    """
    chosen = np.empty(size, dtype=np.int64)
    nearest = np.full(solved.shape[1], len(solved))
    for i in range(size):
        farthest = nearest.max()
        if i and farthest <= radius:
            return chosen[:i]
        tied = np.flatnonzero(nearest == farthest)
        case = chosen[i] = tied[stream.bounded(len(tied))]
        nearest = np.minimum(nearest, (solved != solved[:, [case]]).sum(axis=0))
        nearest[chosen[: i + 1]] = -1
    return chosen
