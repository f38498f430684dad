"""`Lexicase`: the family of lexicase methods. ``_reference.py`` defines one selection event."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_choice, check_count, check_fraction, per_case, room_for, shown
from flexicase.rng import Key, Lane, Stream, case_keys
from flexicase.selection._reference import MaxCases, ReferenceKernel, ResolvedLexicase
from flexicase.selection.epsilon import Epsilon, EpsilonKind, MadEpsilon, median_absolute_deviation, resolve_epsilon
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.orders import Order, OrderKind, Ranked, Uniform, Weighted
from flexicase.selection.protocol import Backend, DistinctKernel, Ended, Selection, Taken
from flexicase.selection.sampling import DownSample, Partition, PartitionKernel, Sample, check_sampling, sample_size
from flexicase.selection.weights import check_explicit_weights, is_explicit, resolve_weights

MakeKernel: TypeAlias = Callable[[ErrorMatrix, ResolvedLexicase], DistinctKernel]
WHOLE = Partition()
MIN_RELATIVE_WEIGHT = 1e-305  # relative to the largest; exponential clocks of this rate stay finite
FIRST = {"num_nonzeros": ": hard cases first", "num_zeros": ": easy cases first"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicase:
    """Lexicase selection and its variants (Spector 2012; Helmuth, Spector and Matheson 2015).

    Attributes:
        order: The sequence in which cases are used: `Uniform`, `Weighted` or `Ranked`.
        epsilon: How much worse than the pool's best a survivor may be: None (not at all), a number, one number per
            case, or `MadEpsilon` (``"mad"`` is semi-dynamic).
        sampling: Which part of the matrix is used: `DownSample`, `InformedDownSample`, `Cohorts`.
        batch_size: Cases whose errors are summed before each filtering: batch lexicase selection (Aenugu and Spector,
            GECCO 2019). Fixed and MAD epsilons are summed likewise.
        max_cases: Cases used, at most: truncated lexicase selection (Spector, La Cava, Shanabrook, Helmuth and
            Pantridge, GPTP XV, 2018); ``"random"`` draws the number from 1 … n_cases for every event.
        slippage: Probability, before each case, of ending with a random member of the pool.
        elitism: This many first events return the individuals with the lowest total error; at most as many as there are
            events and individuals.

    Example:
        >>> import flexicase as fx
        >>> method = fx.Lexicase(order=fx.Ranked("num_nonzeros"), epsilon="mad")
        >>> fx.select([[0.0, 1.0], [0.5, 0.0]], 3, method, seed=1).indices.shape
        (3,)
    """

    order: Order = field(default_factory=Uniform)
    epsilon: Epsilon = None
    sampling: Sample | None = None
    batch_size: int = 1
    max_cases: MaxCases = None
    slippage: float = 0.0
    elitism: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.order, Uniform | Weighted | Ranked):
            raise TypeError(f"order must be Uniform(), Weighted(bias) or Ranked(bias), got {shown(self.order)}")
        checked = {
            "epsilon": resolve_epsilon(self.epsilon),
            "sampling": check_sampling(self.sampling),
            "batch_size": check_count(self.batch_size, "batch_size", 1),
            "max_cases": _check_max_cases(self.max_cases),
            "slippage": check_fraction(self.slippage, "slippage"),
            "elitism": check_count(self.elitism, "elitism", 0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.samples_each_event and not (isinstance(self.order, Uniform) and self.max_cases != "random"):
            raise ValueError(
                'sampling must have per="generation" unless order is Uniform() and max_cases is a number or None, '
                f"got {shown(self.sampling)}"
            )

    @property
    def samples_each_event(self) -> bool:
        """Whether every event draws its own sample of the cases."""
        return isinstance(self.sampling, DownSample) and self.sampling.per == "event"

    def without_event_samples(self, n_cases: int) -> Lexicase:
        """The same events, as first cases of an order: those of a uniformly random order are a random sample."""
        if not self.samples_each_event:
            return self
        size = sample_size(self.sampling.size, n_cases)  # type: ignore[union-attr]
        limit = size if self.max_cases is None else min(size, self.max_cases)
        return replace(self, sampling=None, max_cases=limit)

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> DistinctKernel:
        return self.prepare_with(NativeKernel if backend == "native" else ReferenceKernel, matrix, key, backend)

    def prepare_with(self, make: MakeKernel, matrix: ErrorMatrix, key: Key, backend: Backend) -> DistinctKernel:
        """A kernel of which ``make`` makes the part that filters."""
        if self.samples_each_event:
            return self.without_event_samples(matrix.n_cases).prepare_with(make, matrix, key, backend)
        if self.sampling is None:
            kernel = make(*self.resolve(matrix))
        else:
            parts = self.sampling.parts(matrix, key, backend)
            kernel = PartitionKernel(parts, [make(*self.resolve(matrix, part)) for part in parts])
        return Elitist(matrix, key, self.elitism, kernel) if self.elitism else kernel

    def resolve(self, whole: ErrorMatrix, part: Partition = WHOLE) -> tuple[ErrorMatrix, ResolvedLexicase]:
        """The part of the matrix to filter (pass/fail for static epsilon), and the filter."""
        matrix = whole.submatrix(part.individuals, part.cases)
        weights = self._weights(whole, matrix, part)
        kind, fixed = EpsilonKind.NONE, None
        if self.batch_size > 1:
            matrix.check_float64("batch_size")
        if isinstance(self.epsilon, MadEpsilon):
            matrix.check_float64("epsilon")
            if self.epsilon.mode == "static":
                matrix = static_epsilon_matrix(matrix)
            else:
                kind = EpsilonKind.DYNAMIC_MAD if self.epsilon.mode == "dynamic" else EpsilonKind.MAD
        elif self.epsilon is not None:
            fixed = part.of_cases(per_case(self.epsilon, whole.n_cases, "epsilon"))
            if fixed.any():
                matrix.check_float64("epsilon")
                kind = EpsilonKind.FIXED
        return matrix, ResolvedLexicase(
            order=self.order.kind,
            weights=weights,
            epsilon_kind=kind,
            epsilon=fixed,
            batch_size=self.batch_size,
            max_cases=self.max_cases,
            slippage=self.slippage,
        )

    def describe(self) -> str:
        if isinstance(self.order, Uniform):
            parts = ["cases in uniformly random order"]
        else:
            bias = self.order.bias
            name = bias.replace("-", "_") if isinstance(bias, str) else ""
            weight = f"{name}{FIRST.get(name, '')}" if name else "from a custom bias"
            parts = [f"cases by {self.order.kind.name.lower()} shuffle, weight {weight}"]
        if isinstance(self.epsilon, MadEpsilon):
            parts.append(f"epsilon from the median absolute deviation, {self.epsilon.mode}")
        elif self.epsilon is not None:
            parts.append("fixed epsilon")
        if self.batch_size > 1:
            parts.append(f"{self.batch_size} cases summed at a time")
        if self.max_cases is not None:
            parts.append(
                "a random number of cases" if self.max_cases == "random" else f"at most {self.max_cases} cases"
            )
        if self.sampling is not None:
            parts.append(f"on {self.sampling!r}")
        if self.slippage:
            parts.append(f"slippage {self.slippage}")
        if self.elitism:
            parts.append(f"the {self.elitism} best first")
        return "; ".join(parts)

    def _weights(self, whole: ErrorMatrix, matrix: ErrorMatrix, part: Partition) -> NDArray[np.float64] | None:
        if isinstance(self.order, Uniform):
            return None
        bias = self.order.bias
        explicit = check_explicit_weights(bias, whole.n_cases) if is_explicit(bias) else None
        if matrix.n_cases == 0:
            return None
        weights = resolve_weights(bias, matrix.statistics) if explicit is None else part.of_cases(explicit)
        return weights if isinstance(self.order, Ranked) else normalize_weights(weights)


def normalize_weights(weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Scale (n_cases,) weights to a maximum of 1, keeping positive ones positive; None (uniform) if all are 0."""
    heaviest = weights.max()
    if heaviest == 0:
        return None
    return np.where(weights > 0, np.maximum(weights / heaviest, MIN_RELATIVE_WEIGHT), 0.0)


def _check_max_cases(max_cases: Any) -> int | str | None:
    if isinstance(max_cases, str):
        return check_choice(max_cases, "max_cases", ("random",))
    return None if max_cases is None else check_count(max_cases, "max_cases")


def static_epsilon_matrix(matrix: ErrorMatrix) -> ErrorMatrix:
    """0 where an error is within its case's MAD of the best of all, 1 elsewhere."""
    errors = matrix.values.astype(np.float64)
    epsilon = np.array([median_absolute_deviation(column) for column in errors.T])
    best = errors.min(axis=0) if matrix.n_cases else np.empty(0)
    with np.errstate(invalid="ignore"):  # all pass if that is -inf + inf
        return ErrorMatrix.from_array((errors > best + epsilon).astype(np.uint8))


class NativeKernel:
    """Draws selection events from one error matrix, natively."""

    __slots__ = ("native",)

    def __init__(self, matrix: ErrorMatrix, method: ResolvedLexicase) -> None:
        self.native = _native.Kernel(
            matrix.native,
            method.weights,
            method.order is OrderKind.RANKED,
            method.epsilon_kind.value,
            method.epsilon,
            method.batch_size,
            method.max_cases if isinstance(method.max_cases, int) else 2**31 - 1,
            method.max_cases == "random",
            method.slippage,
        )

    def draw(self, key: Key, events: range, counts: bool, threads: int, taken: Taken | None = None) -> Selection:
        n = len(events)
        block = room_for((4 if counts else 1, n), np.int64, "n")
        ended = np.empty(n if counts else 0, np.uint8)
        if taken is None:
            self.native.draw(key.k0, key.k1, events.start, events.step, threads, block, ended)
        else:
            self.native.draw_distinct(key.k0, key.k1, events.start, events.step, taken, block, ended)
        return Selection(block[0], block[1], block[2], block[3], ended) if counts else Selection(block[0])


class Elitist:
    """A kernel whose first events are the individuals with the lowest total error, ties in random order."""

    def __init__(self, matrix: ErrorMatrix, key: Key, k: int, kernel: DistinctKernel) -> None:
        n = matrix.n_individuals
        if k > n:
            raise ValueError(f"elitism must be at most the number of individuals, {n}, got {k}")
        ties = case_keys(Stream.of(key, 1, Lane.SAMPLE).word(), n)
        self.elite = np.lexsort((ties, matrix.total_errors))[:k]
        self.kernel = kernel

    def draw(self, key: Key, events: range, counts: bool, threads: int, taken: Taken | None = None) -> Selection:
        elites = self.elite[[event for event in events[: len(self.elite)] if event < len(self.elite)]]
        if taken is not None:
            taken[elites] = 1
        k, out = len(elites), Selection.empty(len(events), counts)
        none = np.zeros(k, np.int64)
        out.put(slice(k), Selection(elites, none, none, none, np.full(k, Ended.ELITE, np.uint8)))
        out.put(slice(k, None), self.kernel.draw(key, events[k:], counts, threads, taken))
        return out


class WithoutReplacement:
    """A kernel whose events select from the individuals that earlier draws left. Threads take turns."""

    def __init__(self, kernel: DistinctKernel, n_individuals: int) -> None:
        self.kernel, self.taken, self.lock = kernel, np.zeros(n_individuals, np.uint8), threading.Lock()

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Selection:
        with self.lock:
            taken = self.taken.copy()  # so that a draw that fails takes none
            left = int(np.count_nonzero(taken == 0))
            if len(events) > left:
                raise ValueError(
                    f"n must be at most {left} without replacement, the rows of errors that are left, got {len(events)}"
                )
            drawn = self.kernel.draw(key, events, counts, threads, taken)
            self.taken = taken
        return drawn
