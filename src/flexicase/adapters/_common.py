"""What the adapters share: from fitness values in a host's direction to the indices of parents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import as_number_array, check_choice, check_threads, per_case, shown
from flexicase.rng import Seed
from flexicase.selection.matrix import NanPolicy
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method
from flexicase.selection.select import Selector


class ValueSelector:
    """Selects from fitness values, of which a host maximises some and minimises others, case by case.

    Arguments as for `flexicase.select`; a value that is as good as ``solved``, or better, solves a case. By default an
    error of 0 does if all cases are minimised; otherwise methods that need to know refuse.
    """

    def __init__(self, method: str | Method, *, solved: ArrayLike | None, nan: NanPolicy, threads: int = 1) -> None:
        self.method = resolve_method(method)
        if solved is not None:
            check_solved(solved, max(np.size(as_number_array(solved, "solved")), 1))
        self.solved = solved
        self.nan: NanPolicy = "raise" if check_choice(nan, "nan", ("raise", "worst")) == "raise" else "worst"
        self.threads = check_threads(threads)

    def prepare(
        self,
        values: Any,
        maximize: ArrayLike,
        seed: Seed,
        *,
        solved: ArrayLike | None = None,
        worst: NDArray[np.bool_] | None = None,
    ) -> Selector:
        """A selector of (n_individuals, n_cases) values; ``maximize`` is one flag for all cases or one per case.

        ``solved`` replaces the one given before. ``worst`` individuals are so on every case, whatever their values.
        """
        array = as_number_array(values, "fitness values")
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2:
            raise ValueError(f"fitness values must have one row per individual, got an array of shape {array.shape}")
        n_cases = array.shape[1]
        sign = np.where(np.broadcast_to(np.asarray(maximize, dtype=bool), (n_cases,)), -1.0, 1.0)
        errors = array * sign + 0.0  # float64; no error is -0.0
        if worst is not None:
            if worst.shape != errors.shape[:1]:
                raise ValueError(f"fitness values must have one row per individual, {worst.size}, got {len(errors)}")
            errors[worst] = np.inf
        solved = self.solved if solved is None else solved
        limit = None if solved is None else check_solved(solved, n_cases) * sign
        if limit is not None or (sign > 0).all():
            return Selector(errors, self.method, seed=seed, nan=self.nan, solved=limit)
        return Selector(-errors, self.method, seed=seed, nan=self.nan, maximize=True)

    def draw(
        self, values: Any, maximize: ArrayLike, n: int | tuple[int, int], seed: Seed, **options: Any
    ) -> NDArray[np.int64]:
        """The indices of ``n`` parents; arguments as for `prepare`."""
        return self.prepare(values, maximize, seed, **options).draw_indices(n, threads=self.threads)


def check_solved(solved: ArrayLike, n_cases: int) -> NDArray[np.float64]:
    """(n_cases,) the fitness values of solved cases."""
    values = per_case(solved, n_cases, "solved")
    if not np.isfinite(values).all():
        raise ValueError(f"solved must be finite, got {shown(solved)}")
    return values
