"""A selection operator for pymoo: ``GA(selection=LexicaseSelection(key="cases"))``.

pymoo is not imported: a population is anything with ``get(name)`` that gives one row per individual, lower is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from flexicase._checks import check_count, check_text, shown
from flexicase.adapters._common import ValueSelector
from flexicase.selection.matrix import NanPolicy
from flexicase.selection.protocol import Method
from flexicase.selection.select import MAX_EVENTS

__all__ = ["LexicaseSelection"]


class LexicaseSelection:
    """Select the parents of a mating by lexicase selection.

    The seed comes from the generator of the algorithm, so ``minimize(..., seed=1)`` repeats a run. Infeasible
    individuals are the worst on every case. Only mating changes; the algorithm's survival stays as it is.

    Args:
        method: A method's name (`flexicase.methods` lists them) or object.
        key: What to read the errors from: ``"F"``, the objectives, or a name that ``_evaluate`` puts into ``out``, such
            as ``out["cases"] = errors``.
        solved: The value of a solved case, one for all or one per case; None is 0.
        nan: ``"worst"`` counts NaN as the worst error, ``"raise"`` refuses it.
        threads: Number of threads; the outcome does not depend on it.

    Example:
        >>> import numpy as np
        >>> from flexicase.adapters.pymoo import LexicaseSelection
        >>> class Population:
        ...     def get(self, name):
        ...         return {"F": np.array([[1.0, 1.0], [0.0, 0.0]]), "feas": np.array([True, True])}[name]
        >>> LexicaseSelection().do(None, Population(), 2, 2, to_pop=False).tolist()
        [[1, 1], [1, 1]]
    """

    def __init__(
        self,
        method: str | Method = "lexicase",
        *,
        key: str = "F",
        solved: ArrayLike | None = None,
        nan: NanPolicy = "worst",
        threads: int = 1,
    ) -> None:
        self._select = ValueSelector(method, solved=solved, nan=nan, threads=threads)
        self._key = check_text(key, "key")

    def do(
        self,
        problem: Any,
        pop: Any,
        n_select: int,
        n_parents: int,
        to_pop: bool = True,
        *_: Any,
        random_state: Any = None,
        **__: Any,
    ) -> Any:
        """(n_select, n_parents) individuals, or their indices if ``to_pop`` is False."""
        n_select = check_count(n_select, "n_select", 0, MAX_EVENTS)
        n_parents = check_count(n_parents, "n_parents", 0, MAX_EVENTS)
        try:
            values, feasible = pop.get(self._key), np.asarray(pop.get("feas"), dtype=bool).reshape(-1)
        except Exception:
            values = None
        if values is None:
            raise TypeError(f"pop must be a population with {self._key!r} and 'feas', got {shown(pop)}")
        indices = self._select.draw(values, False, (n_select, n_parents), random_state, worst=~feasible)
        return pop[indices] if to_pop else indices

    __call__ = do
