"""`verify`: whether a selector, in any language, selects with the exact probabilities of a method.

A fixed battery of small error matrices (``data/battery.json``) covers ties, duplicates, dominated rows, constant cases
and values near the best. On each matrix, Pearson's chi-squared test compares the selected parents with exact
probabilities. The p-value is Bonferroni's over all matrices, so a correct selector fails with probability 0.001.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_choice, check_count, check_function, check_indices, shown
from flexicase.rng import Seed, key_from_seed
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.methods import resolve_method
from flexicase.selection.probabilities import probabilities
from flexicase.selection.protocol import Method

ALPHA = 0.001
MIN_EXPECTED = 5.0  # of a cell of the test; rarer individuals share one
MIN_DRAWS = 100
PARENTS_PER_CALL = 50
MAX_DRAWS = 10**7

Values: TypeAlias = NDArray[np.float64]
Select: TypeAlias = Callable[[NDArray[np.float64], int, np.random.Generator], ArrayLike]


@dataclass(frozen=True, slots=True, eq=False)
class VerificationFailure:
    """A matrix on which a selector has other probabilities than the method.

    Attributes:
        matrix: The name of the matrix in the battery.
        expected: (n_individuals,) the method's probabilities.
        observed: (n_individuals,) the selector's frequencies.
        p_value: Of the test on this matrix; 0 if the selector chose an individual of probability 0.
        cause: The likely cause.

    Example:
        >>> import flexicase as fx
        >>> found = fx.verify(lambda errors, n, rng: fx.select_indices(errors[:-1] if len(errors) > 1 else errors, n))
        >>> failure = next(failure for failure in found.failures if failure.matrix == "penalties")
        >>> isinstance(failure, fx.VerificationFailure), failure.cause
        (True, 'individual 5 is never selected: it is left out, or some cases are')
    """

    matrix: str
    expected: NDArray[np.float64]
    observed: NDArray[np.float64]
    p_value: float
    cause: str


@dataclass(frozen=True, slots=True, eq=False)
class Verification:
    """What `verify` found; prints as one line per failure.

    Attributes:
        passed: Whether the frequencies agree with the exact probabilities on all matrices.
        p_value: Over all matrices; ``passed`` means at least 0.001.
        n_draws: Number of parents selected from each matrix; the smallest if they differ.
        failures: The matrices on which they disagree, the worst first.

    Example:
        >>> import flexicase as fx
        >>> found = fx.verify(lambda errors, n, rng: rng.integers(len(errors), size=n))
        >>> found.passed, found.failures[0].p_value
        (False, 0.0)
    """

    passed: bool
    p_value: float
    n_draws: int
    failures: tuple[VerificationFailure, ...]

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "failed"
        lines = [f"{verdict}: p = {self.p_value:.2g} from {self.n_draws} parents of each matrix"]
        for failure in self.failures:
            lines.append(f"  {failure.matrix} (p = {failure.p_value:.2g}): {failure.cause}")
            for name, values in (("expected", failure.expected), ("observed", failure.observed)):
                lines.append(f"    {name} " + " ".join(f"{value:.3f}" for value in values))
        return "\n".join(lines)


def read_battery() -> dict[str, Any]:
    """The battery: ``"matrices"`` by name, and their exact ``"probabilities"`` by method."""
    found: dict[str, Any] = json.loads(resources.files("flexicase.data").joinpath("battery.json").read_text("utf-8"))
    return found


def verify(select: Select, method: str | Method = "lexicase", seed: Seed = 0, *, n_draws: int = 4000) -> Verification:
    """Test a selector against the exact probabilities of a method on a fixed battery of small matrices.

    Args:
        select: ``select(errors, n, rng)`` gives the indices of ``n`` parents, from (n_individuals, n_cases) float64
            errors, lower is better, and a `numpy.random.Generator`. It is called with n = 50.
        method: The method that it should implement: any with exact probabilities whose events are independent.
        seed: Seed of ``rng``; the same seed repeats the test of a selector that uses no other randomness.
        n_draws: Number of parents to select from each matrix, at least 100.

    Example:
        >>> import flexicase as fx
        >>> fx.verify(lambda errors, n, rng: fx.select_indices(errors, n, seed=rng)).passed
        True
        >>> print(fx.verify(lambda errors, n, rng: errors.sum(axis=1).argsort()[:1].repeat(n)))
        failed: p = 0 from 4000 parents of each matrix
        ...
    """
    check_function(select, "select", 3)
    chosen, rng = _independent(method), np.random.default_rng(list(key_from_seed(seed)))
    calls = math.ceil(check_count(n_draws, "n_draws", MIN_DRAWS, MAX_DRAWS) / PARENTS_PER_CALL)
    draws = {}
    for name, rows in read_battery()["matrices"].items():
        errors = np.array(rows, dtype=np.float64)
        found = [_parents(select(errors.copy(), PARENTS_PER_CALL, rng), len(errors)) for _ in range(calls)]
        draws[name] = np.array(found)
    return _compare(draws, chosen)


def verify_draws(draws: Mapping[str, ArrayLike], method: str | Method = "lexicase") -> Verification:
    """Test recorded parents, as `verify` does.

    Args:
        draws: The indices of at least 100 parents for each matrix of the battery, by its name; from independent events.
        method: As for `verify`.

    Example:
        >>> import flexicase as fx
        >>> from flexicase.selection.verify import read_battery
        >>> matrices = read_battery()["matrices"]
        >>> fx.verify_draws({name: fx.select_indices(e, 1000, seed=1) for name, e in matrices.items()}).passed
        True
    """
    chosen, matrices = _independent(method), read_battery()["matrices"]
    if not isinstance(draws, Mapping):
        raise TypeError(f"draws must be a mapping from the names of matrices to indices, got {shown(draws)}")
    for name in draws:
        check_choice(name, "a name in draws", matrices)
    if missing := [name for name in matrices if name not in draws]:
        raise ValueError(f"draws must have parents for every matrix of the battery, got none for {missing[0]!r}")
    checked = {}
    for name, rows in matrices.items():
        found = check_indices(draws[name], f"draws of {name!r}", len(rows))
        if len(found) < MIN_DRAWS:
            raise ValueError(f"draws of {name!r} must be at least {MIN_DRAWS} parents, got {len(found)}")
        checked[name] = found[None]
    return _compare(checked, chosen)


def _independent(method: str | Method) -> Method:
    chosen = resolve_method(method)
    if type(chosen).__name__ == "BatchTournament" or (
        isinstance(chosen, Lexicase)
        and (chosen.elitism or (chosen.sampling is not None and not chosen.samples_each_event))
    ):
        raise ValueError(f"method must draw its events independently, without sampling or elitism, got {shown(method)}")
    return chosen


def _parents(found: ArrayLike, n_individuals: int) -> NDArray[np.int64]:
    indices = check_indices(found, "indices from select", n_individuals)
    if len(indices) != PARENTS_PER_CALL:
        raise ValueError(f"select must return {PARENTS_PER_CALL} indices, as requested, got {len(indices)}")
    return indices


def _compare(draws: dict[str, NDArray[np.int64]], method: Method) -> Verification:
    """Test the (calls, parents) of each matrix."""
    matrices = read_battery()["matrices"]
    p_values, failures = [], []
    for name, parents in draws.items():
        errors = np.array(matrices[name], dtype=np.float64)
        expected = probabilities(errors, method)
        expected[expected < 1e-12] = 0.0  # rounding
        counts = np.bincount(parents.reshape(-1), minlength=len(errors))
        p_value, observed = chi_squared_test(counts, expected), counts / parents.size
        p_values.append(p_value)
        if p_value < ALPHA / len(draws):
            cause = _cause(expected, observed, errors, parents)
            failures.append(VerificationFailure(name, expected, observed, p_value, cause))
    failures.sort(key=lambda failure: failure.p_value)
    n_draws = min(parents.size for parents in draws.values())
    return Verification(not failures, min(1.0, min(p_values) * len(draws)), n_draws, tuple(failures))


def chi_squared_test(counts: NDArray[Any], expected: NDArray[np.float64]) -> float:
    """P-value of Pearson's test of (k,) counts against (k,) probabilities; 0 if the impossible was counted."""
    if counts[expected == 0].any():
        return 0.0
    wanted = expected * counts.sum()
    rare = wanted < MIN_EXPECTED
    observed = np.append(counts[~rare], counts[rare].sum())
    wanted = np.append(wanted[~rare], wanted[rare].sum())
    if wanted[-1] < MIN_EXPECTED:  # not even together: joined with the largest
        largest = int(np.argmax(wanted))
        observed[largest] += observed[-1]
        wanted[largest] += wanted[-1]
        observed, wanted = observed[:-1], wanted[:-1]
    return _chi_squared_tail(float(((observed - wanted) ** 2 / wanted).sum()), len(wanted) - 1)


def _chi_squared_tail(x: float, freedom: int) -> float:
    """The probability that a chi-squared variable exceeds x, by the finite sum for whole degrees of freedom."""
    if freedom == 0:
        return 1.0
    half, odd = x / 2, freedom % 2
    tail = math.erfc(math.sqrt(half)) if odd else 0.0
    for i in range(freedom // 2):
        power = i + odd / 2
        tail += math.exp(-half + power * math.log(half) - math.lgamma(power + 1)) if half else float(power == 0)
    return min(1.0, tail)


def _cause(expected: Values, observed: Values, errors: Values, parents: NDArray[np.int64]) -> str:
    """The likely cause of a mismatch, the most specific first."""
    never = np.flatnonzero((observed == 0) & (expected > 0.01))
    impossible = np.flatnonzero((observed > 0) & (expected == 0))
    uniform_calls = (parents == parents[:, :1]).all(axis=1)
    if uniform_calls.sum() > 1 and np.count_nonzero(expected) > 1 and observed.max() < 0.9:
        return "all parents of a call are the same: the order of the cases is drawn once per call, not per parent"
    for one in never:
        twins = np.flatnonzero((errors == errors[one]).all(axis=1) & (observed > 0))
        if len(twins):
            copy = f"individual {one} is never selected, but its copy {twins[0]} is"
            return f"{copy}: ties are not broken at random, or it is left out"
    if len(impossible):
        return (
            f"individual {impossible[0]} is selected, which the method never does: events end before all cases are "
            "used (cases drawn with replacement, or used up by earlier parents), or another individual is left out"
        )
    if len(never):
        return f"individual {never[0]} is never selected: it is left out, or some cases are"
    return "other frequencies: check the order of the cases, their weights and epsilon"
