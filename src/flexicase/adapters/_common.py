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
    """Selects from fitness values that a host maximises or minimises; arguments as for `flexicase.select`.

    Biases such as Num-Zeros count the individuals whose value on a case is ``solved``, so an error is the distance
    from it, not the negated score.
    """

    def __init__(self, method: str | Method, *, solved: ArrayLike, nan: NanPolicy, threads: int = 1) -> None:
        self.method = resolve_method(method)
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
        """A selector of (n_individuals, n_cases) values.

        Args:
            values: The fitness values.
            maximize: Whether higher is better: one flag for all cases or one per case.
            seed: As for `flexicase.select`.
            solved: Replaces the value given before.
            worst: (n_individuals,) which individuals are the worst on every case, whatever their values.
        """
        errors = errors_from(values, maximize, self.solved if solved is None else solved)
        if worst is not None:
            if worst.shape != errors.shape[:1]:
                raise ValueError(f"fitness values must have one row per individual, {worst.size}, got {len(errors)}")
            errors[worst] = np.inf
        return Selector(errors, self.method, seed=seed, nan=self.nan)

    def draw(self, values: Any, maximize: ArrayLike, n: int, seed: Seed, **options: Any) -> NDArray[np.int64]:
        """The indices of ``n`` parents; arguments as for `prepare`."""
        return self.prepare(values, maximize, seed, **options).draw_indices(n, threads=self.threads)


def errors_from(values: Any, maximize: ArrayLike, solved: ArrayLike) -> NDArray[np.float64]:
    """(n_individuals, n_cases) errors: how much worse than ``solved`` each value is; missing values become NaN."""
    array = as_number_array(values, "fitness values")
    if array.ndim != 2:
        raise ValueError(f"fitness values must have one row per individual, got an array of shape {array.shape}")
    numbers, n_cases = array.astype(np.float64), array.shape[1]
    sign = np.where(np.broadcast_to(np.asarray(maximize, dtype=bool), (n_cases,)), 1.0, -1.0)
    with np.errstate(invalid="ignore"):
        return (check_solved(solved, n_cases) - numbers) * sign + 0.0  # no error is -0.0


def check_solved(solved: ArrayLike, n_cases: int) -> NDArray[np.float64]:
    """(n_cases,) the fitness values of solved cases."""
    values = per_case(solved, n_cases, "solved")
    if not np.isfinite(values).all():
        raise ValueError(f"solved must be finite, got {shown(solved)}")
    return values
