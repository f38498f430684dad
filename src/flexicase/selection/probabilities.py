"""`probabilities` and `estimate_probabilities`: how likely each individual is to be selected."""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase import _native
from flexicase._checks import as_number_array, check_count, check_threads, room_for
from flexicase.rng import Key, Seed, key_from_seed, mix64
from flexicase.selection._reference import ResolvedLexicase
from flexicase.selection.lexicase import Lexicase, NativeKernel
from flexicase.selection.matrix import ErrorMatrix, NanPolicy
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method, resolve_backend
from flexicase.selection.sampling import DownSample, Partition, sample_size
from flexicase.selection.select import MAX_EVENTS

INSTEAD = "use estimate_probabilities, which draws events"
Z_95 = 1.959963984540054
MAX_SUBSETS = 20_000
MAX_STATES_OF_SAMPLES = 500_000


class TooManyStatesError(ValueError):
    """Exact probabilities would take too many states.

    Attributes:
        explored: States visited before giving up.
        estimate: Estimated number of states (on random matrices with up to two million, between half of them and all;
            it may be lower on larger ones), or the number of samples of a `DownSample` if there are too many of these.

    Example:
        >>> import flexicase as fx
        >>> import numpy as np
        >>> errors = np.random.default_rng(1).integers(0, 2, (60, 60))
        >>> try:
        ...     fx.probabilities(errors, max_states=1000)
        ... except fx.TooManyStatesError as refusal:
        ...     print(refusal.explored > 1000, refusal.estimate > refusal.explored)
        True True
    """

    def __init__(self, message: str, explored: int, estimate: float) -> None:
        super().__init__(message)
        self.explored = explored
        self.estimate = estimate


@dataclass(frozen=True, slots=True, eq=False)
class ProbabilityEstimate:
    """Selection probabilities estimated from draws.

    Attributes:
        probabilities: (n_individuals,) float64, the fraction of draws that selected each.
        low: (n_individuals,) float64, lower end of the 95 % confidence intervals (Wilson).
        high: (n_individuals,) float64, upper end.
        n_draws: Number of selection events drawn.

    Example:
        >>> import flexicase as fx
        >>> estimate = fx.estimate_probabilities([[0, 1], [1, 0]], n_draws=1000, seed=1)
        >>> bool((estimate.low < 0.5).all() and (estimate.high > 0.5).all())
        True
    """

    probabilities: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_draws: int


def probabilities(
    errors: ArrayLike,
    method: str | Method = "lexicase",
    *,
    nan: NanPolicy = "raise",
    maximize: bool = False,
    solved: ArrayLike | None = None,
    max_states: int | None = None,
) -> NDArray[np.float64]:
    """The exact probability of each individual to be selected by one event, (n_individuals,) float64.

    Follows all courses of an event at once, as a flow of probability through sets of survivors. Elites are ignored.
    With a `DownSample`, the mean over all samples.

    Gives up beyond ``max_states`` states (sets of survivors; with some methods also cases used), by default as many as
    take a few seconds and less than a gigabyte. The other arguments are those of `flexicase.select`.

    Raises:
        TooManyStatesError: There are more than ``max_states``; use `estimate_probabilities`.
        TypeError: The method has no exact probabilities.

    Example:
        >>> import flexicase as fx
        >>> fx.probabilities([[0, 0, 3], [1, 0, 0], [2, 2, 2]]).tolist()
        [0.5, 0.5, 0.0]
    """
    chosen = resolve_method(method)
    budget = _Budget(None if max_states is None else check_count(max_states, "max_states", 1))
    matrix = ErrorMatrix.from_array(errors, nan, maximize, solved)
    if callable(getattr(chosen, "probabilities", None)):
        return _own_probabilities(chosen, matrix)
    if not isinstance(chosen, Lexicase):
        raise TypeError(f"{type(chosen).__name__} has no exact probabilities; {INSTEAD}")
    chosen = chosen.without_event_samples(matrix.n_cases)
    if chosen.sampling is None:
        return budget.solve(*chosen.resolve(matrix))
    return _mean_over_samples(chosen, matrix, budget)


def estimate_probabilities(
    errors: ArrayLike,
    method: str | Method = "lexicase",
    n_draws: int = 100_000,
    *,
    seed: Seed = None,
    threads: int = 1,
    nan: NanPolicy = "raise",
    maximize: bool = False,
    solved: ArrayLike | None = None,
) -> ProbabilityEstimate:
    """Estimate how likely each individual is to be selected by one event, from draws.

    Elites are ignored, and a method with sampling draws a new sample for every event. The arguments are those of
    `flexicase.select`; ``n_draws`` is the number of events.

    Example:
        >>> import flexicase as fx
        >>> estimate = fx.estimate_probabilities([[0, 1], [1, 0]], n_draws=1000, seed=1)
        >>> estimate.probabilities.shape
        (2,)
    """
    chosen, threads = resolve_method(method), check_threads(threads)
    n_draws = check_count(n_draws, "n_draws", 1, MAX_EVENTS)
    matrix = ErrorMatrix.from_array(errors, nan, maximize, solved)
    if isinstance(chosen, Lexicase):
        chosen = dataclasses.replace(chosen, elitism=0).without_event_samples(matrix.n_cases)
    key = key_from_seed(seed)
    if getattr(chosen, "sampling", None) is None:
        drawn = chosen.prepare(matrix, key, resolve_backend(None)).draw(key, range(n_draws), False, threads).indices
    else:
        drawn = _draw_with_fresh_samples(matrix, chosen, n_draws, key)
    counts = np.bincount(drawn, minlength=matrix.n_individuals)
    return ProbabilityEstimate(counts / n_draws, *wilson_interval(counts, n_draws), n_draws)


def _own_probabilities(method: Any, matrix: ErrorMatrix) -> NDArray[np.float64]:
    """What a method's ``probabilities(matrix)`` gives, checked."""
    name = f"{type(method).__name__}.probabilities()"
    found = as_number_array(method.probabilities(matrix), name).astype(np.float64)
    if found.shape != (matrix.n_individuals,):
        raise ValueError(
            f"{name} must give one number per individual: expected shape ({matrix.n_individuals},), got {found.shape}"
        )
    return found


class _Budget:
    """The states that may still be met."""

    def __init__(self, max_states: int | None) -> None:
        self.max_states = max_states
        self.explored = 0
        self.problems = 1
        self.solved = 0

    def solve(self, matrix: ErrorMatrix, spec: ResolvedLexicase) -> NDArray[np.float64]:
        """Exact probabilities of one filter on one matrix."""
        allowed = 0 if self.max_states is None else max(1, self.max_states - self.explored)
        kernel = NativeKernel(matrix, spec)
        found, states, estimate = _native.probabilities(kernel.native, min(allowed, 2**32 - 2))
        per_problem = (self.explored + max(estimate, float(states))) / (self.solved + 1)
        self.explored += states
        if found is None or (self.max_states is not None and self.explored > self.max_states):
            total = max(per_problem * self.problems, float(self.explored))
            raise TooManyStatesError(
                f"errors of shape ({matrix.n_individuals}, {matrix.n_cases}) are too large a problem: stopped at "
                f"{self.explored:,} states of an estimated {total:.2g}; use a larger max_states, "
                f"or {INSTEAD}",
                self.explored,
                total,
            )
        self.solved += 1
        return found


def _mean_over_samples(method: Lexicase, matrix: ErrorMatrix, budget: _Budget) -> NDArray[np.float64]:
    if not isinstance(method.sampling, DownSample):
        raise TypeError(f"sampling={type(method.sampling).__name__} has no exact probabilities; {INSTEAD}")
    size = sample_size(method.sampling.size, matrix.n_cases)
    subsets = math.comb(matrix.n_cases, size)
    if subsets > MAX_SUBSETS:
        raise TooManyStatesError(
            f"there are {_about(subsets)} samples of {size} of {matrix.n_cases} cases, more than {MAX_SUBSETS:,}; "
            f"{INSTEAD}",
            0,
            float(min(subsets, 10**300)),
        )
    if budget.max_states is None:
        budget.max_states = MAX_STATES_OF_SAMPLES
    budget.problems = subsets
    total = np.zeros(matrix.n_individuals)
    for subset in itertools.combinations(range(matrix.n_cases), size):
        cases = np.array(subset, dtype=np.int64)
        total += budget.solve(*method.resolve(matrix, Partition(None, cases)))
    return total / subsets


def _about(n: int) -> str:
    return f"{n:,}" if n < 10**6 else f"about 10^{len(str(n)) - 1}"


def _draw_with_fresh_samples(matrix: ErrorMatrix, method: Method, draws: int, key: Key) -> NDArray[np.int64]:
    """One event each from many selectors, since a selector keeps its sample."""
    chosen = room_for(draws, np.int64, "n_draws")
    for i in range(draws):
        fresh = Key(mix64(key.k0 ^ mix64(i)), key.k1)
        chosen[i] = method.prepare(matrix, fresh, "native").draw(fresh, range(1), False, 1).indices[0]
    return chosen


def wilson_interval(counts: NDArray[Any], draws: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """95 % confidence intervals of (k,) counts out of ``draws``, lower and upper ends (Wilson, JASA 1927)."""
    seen = counts / draws
    shrink = 1.0 + Z_95**2 / draws
    centre = (seen + Z_95**2 / (2 * draws)) / shrink
    half = Z_95 / shrink * np.sqrt(seen * (1.0 - seen) / draws + Z_95**2 / (4.0 * draws**2))
    return np.where(counts == 0, 0.0, centre - half), np.where(counts == draws, 1.0, centre + half)
