"""`Lexicase`: the family of lexicase filters, put together from small parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import as_number_array, check_choice, check_count, check_fraction, shown
from flexicase.rng import Key, Lane, Stream, case_keys
from flexicase.selection._reference import ReferenceKernel
from flexicase.selection.epsilon import Epsilon, MadEpsilon, median_absolute_deviation, resolve_epsilon
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.orders import Order, Ranked, Uniform, Weighted
from flexicase.selection.protocol import Backend, Ended, EpsilonKind, Events, Kernel, ResolvedLexicase
from flexicase.selection.sampling import PartitionKernel, Sample, check_sample
from flexicase.selection.weights import case_weights, given_weights, is_given

ORDER_NAMES: dict[str, type[Order]] = {"uniform": Uniform, "weighted": Weighted, "ranked": Ranked}

MIN_RELATIVE_WEIGHT = 1e-305  # relative to the largest; exponential clocks of this rate stay finite


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicase:
    """Lexicase selection and its variants (Spector 2012; Helmuth, Spector and Matheson 2015).

    Attributes:
        order: In which sequence cases are looked at: `Uniform`, `Weighted` or `Ranked`.
        epsilon: How far from the best a survivor may be: None (exactly the best), a number, one
            number per case, or `MadEpsilon` (``"mad"`` is semi-dynamic). Fixed numbers are added to the
            best error of the pool.
        sample: Which part of the matrix is used: `DownSample`, `InformedDownSample`, `Cohorts`.
        batch: Cases whose errors are summed before each filtering: batch lexicase selection
            (Aenugu and Spector, GECCO 2019). Fixed and MAD epsilons are summed likewise.
        depth: Cases looked at, at most: truncated lexicase selection (Spector, La Cava,
            Shanabrook, Helmuth and Pantridge, GPTP XV, 2018); ``"random"`` draws the depth from
            1 … n_cases anew for every event.
        slippage: Probability, before each case, of ending with a random member of the pool.
        elitism: The first so many events return the individuals with the lowest total error.

    Example:
        >>> import flexicase as fx
        >>> method = fx.Lexicase(order=fx.Ranked("num_nonzeros"), epsilon="mad")
        >>> fx.select([[0.0, 1.0], [0.5, 0.0]], 3, method, seed=1).indices.shape
        (3,)
    """

    order: Order | str = field(default_factory=Uniform)
    epsilon: Epsilon = None
    sample: Sample | None = None
    batch: int = 1
    depth: int | Literal["random"] | None = None
    slippage: float = 0.0
    elitism: int = 0

    def __post_init__(self) -> None:
        """Check what can be checked without a matrix."""
        checked = {
            "order": resolve_order(self.order),
            "epsilon": resolve_epsilon(self.epsilon),
            "sample": check_sample(self.sample),
            "batch": check_count(self.batch, "batch", 1),
            "depth": _check_depth(self.depth),
            "slippage": check_fraction(self.slippage, "slippage"),
            "elitism": check_count(self.elitism, "elitism", 0),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        """A kernel that draws events from ``matrix``."""
        self._check_lengths(matrix.n_cases)
        if self.sample is None:
            kernel: Kernel = self._kernel(matrix, None, backend)
        else:
            parts = self.sample.parts(matrix, key, backend)
            kernels = [self._kernel(matrix.take(p.individuals, p.cases), p.cases, backend) for p in parts]
            kernel = PartitionKernel(parts, kernels)
        return Elitist(matrix, key, self.elitism, kernel) if self.elitism else kernel

    def spec(self, matrix: ErrorMatrix, cases: NDArray[np.int64] | None = None) -> tuple[ErrorMatrix, ResolvedLexicase]:
        """Resolve everything that depends on the errors.

        Args:
            matrix: The (part of the) error matrix to select from.
            cases: The part's columns in the whole matrix; None if it is the whole.

        Returns:
            The matrix to filter (pass/fail for static epsilon) and the filter.
        """
        weights = self._weights(matrix, cases)
        tolerance, fixed = EpsilonKind.NONE, None
        if self.batch > 1:
            matrix.check_float64("batch")
        if isinstance(self.epsilon, MadEpsilon):
            matrix.check_float64("epsilon")
            if self.epsilon.mode == "static":
                matrix = static_epsilon_matrix(matrix)
            else:
                tolerance = EpsilonKind.DYNAMIC_MAD if self.epsilon.mode == "dynamic" else EpsilonKind.MAD
        elif self.epsilon is not None:
            fixed = self._fixed_epsilon(matrix.n_cases, cases)
            if fixed.any():
                matrix.check_float64("epsilon")
                tolerance = EpsilonKind.FIXED
        return matrix, ResolvedLexicase(
            weights=weights,
            ranked=isinstance(self.order, Ranked),
            tolerance=tolerance,
            epsilon=fixed,
            batch=self.batch,
            depth=self.depth if isinstance(self.depth, int) else 2**31 - 1,
            random_depth=self.depth == "random",
            slippage=self.slippage,
        )

    def _check_lengths(self, n_cases: int) -> None:
        """Refuse given weights and epsilons that do not fit the whole matrix, before a sample takes part of them."""
        if isinstance(self.epsilon, np.ndarray):
            self._fixed_epsilon(n_cases, None)
        if not isinstance(self.order, Uniform | str) and is_given(self.order.bias):
            given_weights(self.order.bias, n_cases)

    def _kernel(self, matrix: ErrorMatrix, cases: NDArray[np.int64] | None, backend: Backend) -> Kernel:
        return make_kernel(*self.spec(matrix, cases), backend)

    def _weights(self, matrix: ErrorMatrix, cases: NDArray[np.int64] | None) -> NDArray[np.float64] | None:
        if isinstance(self.order, Uniform) or matrix.n_cases == 0:
            return None
        assert not isinstance(self.order, str)
        bias = self.order.bias
        if cases is not None and is_given(bias):
            given = as_number_array(bias, "bias").astype(np.float64)
            weights = np.full(len(cases), given) if given.ndim == 0 else given[cases]
        else:
            weights = case_weights(bias, matrix.statistics)
        if isinstance(self.order, Ranked):
            return weights
        return normalize_weights(weights)

    def _fixed_epsilon(self, n_cases: int, cases: NDArray[np.int64] | None) -> NDArray[np.float64]:
        values = np.asarray(self.epsilon, dtype=np.float64)
        if values.ndim == 0:
            return np.full(n_cases, values)
        if cases is None and values.shape != (n_cases,):
            raise ValueError(f"epsilon must have one value per case: expected shape ({n_cases},), got {values.shape}")
        return values if cases is None else values[cases]


def normalize_weights(weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Scale weights so that the largest is 1, and no positive one becomes 0.

    Args:
        weights: (n_cases,) finite, non-negative.

    Returns:
        (n_cases,) the scaled weights; None if all are 0, which is the uniform order.
    """
    heaviest = weights.max()
    if heaviest == 0:
        return None
    return np.where(weights > 0, np.maximum(weights / heaviest, MIN_RELATIVE_WEIGHT), 0.0)


def resolve_order(order: Order | str) -> Order:
    """An order from its name, or as it is."""
    if isinstance(order, str):
        return ORDER_NAMES[check_choice(order, "order", ORDER_NAMES)]()
    if not isinstance(order, Uniform | Weighted | Ranked):
        raise TypeError(f"order must be Uniform, Weighted, Ranked or the name of one, got {shown(order)}")
    return order


def _check_depth(depth: Any) -> int | str | None:
    """A number of cases, ``"random"`` or None."""
    if isinstance(depth, str):
        return check_choice(depth, "depth", ("random",))
    return None if depth is None else check_count(depth, "depth")


def static_epsilon_matrix(matrix: ErrorMatrix) -> ErrorMatrix:
    """0 where an error is within its case's MAD of the best of all, 1 elsewhere."""
    from flexicase.selection.matrix import as_error_matrix

    errors = matrix.values.astype(np.float64)
    epsilon = np.array([median_absolute_deviation(column) for column in errors.T])
    best = errors.min(axis=0) if matrix.n_cases else np.empty(0)
    return as_error_matrix((errors > best + epsilon).astype(np.uint8))


class NativeKernel:
    """Draws selection events from one error matrix."""

    __slots__ = ("_kernel",)

    def __init__(self, matrix: ErrorMatrix, spec: ResolvedLexicase) -> None:
        """Hand the matrix and the resolved filter to the extension."""
        self._kernel = _native.Kernel(
            matrix.native,
            spec.weights,
            spec.ranked,
            spec.tolerance.value,
            spec.epsilon,
            spec.batch,
            spec.depth,
            spec.random_depth,
            spec.slippage,
        )

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Events:
        """Run these events on ``threads`` threads; the outcome does not depend on their number."""
        out = Events.empty(len(events), counts)
        self._kernel.draw(
            key.k0,
            key.k1,
            events.start,
            events.step,
            threads,
            out.block,
            out.ended,
        )
        return out


def total_errors(matrix: ErrorMatrix) -> NDArray[np.float64]:
    """(n_individuals,) errors summed case by case, whatever the memory layout."""
    matrix.check_float64("elitism")
    totals = np.zeros(matrix.n_individuals)
    with np.errstate(over="ignore", invalid="ignore"):
        for column in matrix.values.T:
            totals += column
    return totals


class Elitist:
    """A kernel whose events 0 … k-1 are the k individuals with the lowest total error.

    Equal totals are put in random order. Elite events look at no case.
    """

    def __init__(self, matrix: ErrorMatrix, key: Key, k: int, kernel: Kernel) -> None:
        """Find the elite of ``matrix``."""
        n = matrix.n_individuals
        totals = total_errors(matrix)
        ties = case_keys(Stream.of(key, 1, Lane.SAMPLE).word(), n)
        self.elite = np.lexsort((ties, totals))[: min(k, n)]
        self.kernel = kernel

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Events:
        """Run the events with these numbers."""
        out = self.kernel.draw(key, events, counts, threads)
        for i, event in enumerate(events[: len(self.elite)]):
            if event >= len(self.elite):
                break
            out.indices[i] = self.elite[event]
            if counts:
                out.evaluations[i] = out.evaluations_distinct[i] = out.cases_used[i] = 0
                out.ended[i] = Ended.ELITE
        return out


def make_kernel(matrix: ErrorMatrix, spec: ResolvedLexicase, backend: Backend) -> Kernel:
    """A kernel of the asked-for kind."""
    return NativeKernel(matrix, spec) if backend == "native" else ReferenceKernel(matrix, spec)
