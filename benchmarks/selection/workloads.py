"""The error matrices on which selection is timed, made from fixed seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import did_you_mean


@dataclass(frozen=True, slots=True)
class Workload:
    """An error matrix and how many parents are selected from it.

    Attributes:
        key: Its letter.
        title: What it is, in a few words.
        n: Selections per call.
        epsilon: Whether it is for epsilon lexicase (MAD) instead of exact lexicase.
        build: Makes the (n_individuals, n_cases) matrix.

    Example:
        >>> from selection.workloads import WORKLOADS
        >>> WORKLOADS["a"].build().shape
        (1000, 100)
    """

    key: str
    title: str
    n: int
    epsilon: bool
    build: Callable[[], NDArray[np.float64]]


def discrete_errors(n_individuals: int, n_cases: int, n_ancestors: int, seed: int) -> NDArray[np.float64]:
    """(n_individuals, n_cases) errors as in program synthesis: pass/fail, some counts, many copies.

    Six hidden abilities decide which ancestor passes which case; a fifth of the cases have counts
    for errors. Ancestors that come first have more copies, and 15 % of all individuals differ
    from what they were copied from in one to three cases.

    Args:
        n_individuals: Rows.
        n_cases: Columns.
        n_ancestors: Rows drawn independently of each other; the rest are copies of them.
        seed: Fixes everything.
    """
    rng = np.random.default_rng(seed)
    fails = _ancestors(rng, n_ancestors, n_cases)
    popularity = np.arange(1, n_ancestors + 1) ** -0.7
    copies = rng.choice(n_ancestors, size=n_individuals - n_ancestors, p=popularity / popularity.sum())
    errors = fails[np.concatenate([np.arange(n_ancestors), copies])]
    for individual in np.flatnonzero(rng.random(n_individuals) < 0.15):
        for case in rng.choice(n_cases, size=rng.integers(1, 4), replace=False):
            errors[individual, case] = 0.0 if errors[individual, case] else 1.0
    return np.ascontiguousarray(errors[rng.permutation(n_individuals)])


def _ancestors(rng: np.random.Generator, n_ancestors: int, n_cases: int) -> NDArray[np.float64]:
    ability, loading = rng.normal(size=(n_ancestors, 6)), rng.normal(size=(6, n_cases))
    difficulty = rng.normal(loc=0.8, scale=1.0, size=n_cases)
    passing = 1 / (1 + np.exp(-2.5 * (ability @ loading * 0.9 - difficulty)))
    fails = (rng.random((n_ancestors, n_cases)) > passing).astype(np.float64)
    counted = rng.random(n_cases) < 0.2
    fails[:, counted] *= 1 + rng.poisson(2.0, size=(n_ancestors, int(counted.sum())))
    return fails


def continuous_errors() -> NDArray[np.float64]:
    """(1000, 100) uniform errors, no two alike."""
    return np.random.default_rng(12).random((1000, 100))


def absolute_residuals() -> NDArray[np.float64]:
    """(500, 10000) absolute residuals of noisy linear models of eight features."""
    rng = np.random.default_rng(14)
    rng.normal(size=10_000)  # the targets, which the residuals do not depend on
    features = rng.normal(size=(8, 10_000))
    coefficients = rng.normal(size=(500, 8)) * 0.4
    residuals: NDArray[np.float64] = coefficients @ features + rng.normal(size=(500, 10_000)) * 0.3
    return np.abs(residuals)


WORKLOADS = {
    w.key: w
    for w in (
        Workload(
            "a", "1000 × 100 discrete, 40 % duplicate rows", 1000, False, lambda: discrete_errors(1000, 100, 500, 11)
        ),
        Workload("b", "1000 × 100 continuous", 1000, False, continuous_errors),
        Workload(
            "c", "5000 × 1000 discrete, 39 % duplicate rows", 5000, False, lambda: discrete_errors(5000, 1000, 2500, 13)
        ),
        Workload("d", "500 × 10,000 continuous, MAD epsilon", 500, True, absolute_residuals),
    )
}


def resolve_workloads(keys: Iterable[str]) -> list[Workload]:
    """The workloads with these letters.

    Raises:
        ValueError: A letter is unknown, or there is none.
    """
    chosen = [key.strip() for key in keys if key.strip()]
    if not chosen:
        raise ValueError(f"workloads must name at least one of {', '.join(WORKLOADS)}, got none")
    for key in chosen:
        if key not in WORKLOADS:
            raise ValueError(f"unknown workload {key!r}{did_you_mean(key, WORKLOADS)}")
    return [WORKLOADS[key] for key in dict.fromkeys(chosen)]
