"""A selection operator for LEAP's pipelines: ``pipeline=[lexicase_selection, ops.clone, ...]``.

leap_ec is not imported: an individual is anything with a ``fitness``, one value per case, and a ``problem`` that says
what to ``maximize``.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import shown
from flexicase.adapters._common import ValueSelector
from flexicase.selection.matrix import NanPolicy
from flexicase.selection.protocol import Method
from flexicase.selection.select import Selector

__all__ = ["lexicase_selection"]


def lexicase_selection(
    population: list[Any] | None = None,
    *,
    method: str | Method = "lexicase",
    solved: ArrayLike | None = None,
    nan: NanPolicy = "worst",
    threads: int = 1,
) -> Any:
    """Yield individuals selected by lexicase selection, without end.

    Without a population, return the operator, as LEAP's own do: ``lexicase_selection(method="epsilon-lexicase")``.
    Every call draws one seed from Python's `random` module, as LEAP does.

    Args:
        population: Evaluated individuals. Those whose evaluation failed, with NaN as their fitness, are the worst.
        method: A method's name (`flexicase.methods` lists them) or object.
        solved: The fitness value of a solved case, one for all or one per case. None is 0 if all cases are minimised;
            otherwise methods with a bias need it.
        nan: ``"worst"`` counts NaN as the worst value, ``"raise"`` refuses it.
        threads: Number of threads; the outcome does not depend on it.

    Example:
        >>> from types import SimpleNamespace as Some
        >>> from flexicase.adapters.leap_ec import lexicase_selection
        >>> errors = Some(maximize=False)
        >>> population = [Some(problem=errors, fitness=[2, 3]), Some(problem=errors, fitness=[0, 1])]
        >>> next(lexicase_selection(population)).fitness
        [0, 1]
    """
    select = ValueSelector(method, solved=solved, nan=nan, threads=threads)

    def operator(population: list[Any]) -> Iterator[Any]:
        values, maximize = _fitness(population)
        selector = select.prepare(values, maximize, random.getrandbits(64))
        return _parents(population, selector, threads)

    return operator if population is None else operator(population)


def _fitness(population: Any) -> tuple[list[NDArray[Any]], NDArray[np.bool_]]:
    """One row of values per individual, and which cases are maximised."""
    try:
        values = [np.atleast_1d(individual.fitness) for individual in population]
        maximize = np.asarray(population[0].problem.maximize) > 0  # True and False, or 1 and -1
    except Exception:
        raise TypeError(f"population must be a list of individuals with a fitness, got {shown(population)}") from None
    for i, row in enumerate(values):
        if row.tolist() == [None]:
            raise ValueError(f"population must have been evaluated, but individual {i} has no fitness")
    n_cases = max(map(len, values))
    failed = np.full(n_cases, math.nan)
    return [failed if row.shape == (1,) and row[0] != row[0] else row for row in values], maximize


def _parents(population: list[Any], selector: Selector, threads: int) -> Iterator[Any]:
    while True:
        yield from (population[i] for i in selector.draw_indices(len(population), threads=threads))
