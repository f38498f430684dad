"""Parent selection for PyGAD: ``pygad.GA(parent_selection_type=lexicase_parents(scores), ...)``.

PyGAD is not imported: a GA is anything with ``population`` and ``numpy_random_generator``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import as_number_array, check_count, check_function, shown
from flexicase.adapters._common import ValueSelector
from flexicase.selection.matrix import NanPolicy
from flexicase.selection.protocol import Method
from flexicase.selection.select import MAX_EVENTS

__all__ = ["lexicase_parents"]

ParentSelection = Callable[[Any, int, Any], tuple[NDArray[Any], NDArray[np.int64]]]


def lexicase_parents(
    scores: Callable[[NDArray[Any]], ArrayLike] | None = None,
    *,
    method: str | Method = "lexicase",
    solved: ArrayLike | None = None,
    nan: NanPolicy = "worst",
    threads: int = 1,
) -> ParentSelection:
    """Parent selection by lexicase selection.

    The seed comes from the generator of the GA, so ``random_seed=`` repeats a run.

    Args:
        scores: ``scores(population)`` gives (n_solutions, n_cases) scores, higher is better, as all fitness in PyGAD;
            negate errors. None takes the fitness itself, if it has one value per case. PyGAD then sorts non-dominated
            fronts in every generation, which takes minutes on hundreds of cases: keep the fitness a number instead.
        method: A method's name (`flexicase.methods` lists them) or object.
        solved: The score of a solved case, one for all or one per case; methods with a bias need it.
        nan: ``"worst"`` counts NaN as the worst score, ``"raise"`` refuses it.
        threads: Number of threads; the outcome does not depend on it.

    Example:
        >>> from types import SimpleNamespace as Some
        >>> import numpy as np
        >>> from flexicase.adapters.pygad import lexicase_parents
        >>> ga = Some(population=np.array([[5], [7]]), numpy_random_generator=np.random.RandomState(1))
        >>> parents, indices = lexicase_parents()([[0, 0], [1, 2]], 3, ga)
        >>> parents.tolist(), indices.tolist()
        ([[7], [7], [7]], [1, 1, 1])
    """
    select = ValueSelector(method, solved=solved, nan=nan, threads=threads)
    if scores is not None:
        check_function(scores, "scores", 1)

    def parents(fitness: Any, num_parents: int, ga: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
        n = check_count(num_parents, "num_parents", 0, MAX_EVENTS)
        try:
            population, seed = np.asarray(ga.population), ga.numpy_random_generator
        except Exception:
            raise TypeError(f"ga must be a pygad.GA, got {shown(ga)}") from None
        values = as_number_array(fitness if scores is None else scores(population.copy()), "fitness")
        if len(population) != (len(values) if values.ndim else -1):
            raise ValueError(f"fitness must have {len(population)} rows, one per solution, got {shown(values)}")
        indices = select.draw(values, True, n, seed)
        return population[indices], indices

    return parents
