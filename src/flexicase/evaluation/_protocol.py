"""The contract between selection and the evaluators of (individual, case) pairs."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import EXACT_INTEGERS, as_number_array, check_indices, check_text, first_invalid, refusal

SHOWN = 6
ANSWER = "errors from the evaluator"


@runtime_checkable
class CaseEvaluator(Protocol):
    """Anything that gives the errors of some individuals on some cases.

    Example:
        A plain function that takes index arrays is one:

        >>> import numpy as np
        >>> from flexicase.evaluation import CaseEvaluator
        >>> errors = np.array([[0, 1], [1, 0]])
        >>> def evaluate(individuals, cases):
        ...     return errors[np.ix_(individuals, cases)]
        >>> isinstance(evaluate, CaseEvaluator)
        True
    """

    def __call__(self, individuals: NDArray[np.int64], cases: NDArray[np.int64], /) -> ArrayLike:
        """The (m, b) errors of (m,) individuals on (b,) cases: lower is better, -inf is best; integers up to 2**53.

        They are scores, of which higher is better, for a `FastLexicase` with ``maximize=True``.
        """
        ...


class EvaluationError(RuntimeError):
    """An evaluator failed; the message and the attributes name the request.

    Attributes:
        individuals: (m,) int64, the individuals.
        cases: (b,) int64, the cases.

    Example:
        >>> import flexicase as fx
        >>> from flexicase.evaluation import EvaluationError
        >>> try:
        ...     fx.FastLexicase(4, seed=1).select(lambda individuals, cases: [[0.0]], 3)
        ... except EvaluationError as error:
        ...     error.individuals.tolist(), len(error.cases)
        ([0, 1, 2], 1)
    """

    def __init__(self, problem: str, individuals: ArrayLike, cases: ArrayLike) -> None:
        self.problem = check_text(problem, "problem")
        self.individuals: NDArray[np.int64] = check_indices(individuals, "individuals")
        self.cases: NDArray[np.int64] = check_indices(cases, "cases")
        rows, columns = (format_indices(indices.tolist()) for indices in (self.individuals, self.cases))
        super().__init__(f"{problem} (individuals {rows}; cases {columns})")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the arguments, so that it crosses processes."""
        return type(self), (self.problem, self.individuals, self.cases)


def format_indices(numbers: list[int]) -> str:
    """A list of indices for a message: all of a few, the ends of many."""
    if len(numbers) <= SHOWN:
        return ", ".join(map(str, numbers))
    return f"{', '.join(map(str, numbers[: SHOWN - 1]))}, … {numbers[-1]}, {len(numbers)} in all"


def evaluate_block(
    evaluate: CaseEvaluator, individuals: NDArray[np.int64], cases: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Call an evaluator, which may overwrite (m,) individuals and (b,) cases, and check its (m, b) errors."""
    try:
        found = evaluate(individuals, cases)
    except Exception as cause:
        raise_evaluation_error(cause, individuals, cases)
    return check_block(found, individuals, cases)


def raise_evaluation_error(cause: Exception, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NoReturn:
    """Raise an exception of an evaluator as an `EvaluationError` that names the request, if it is not one already."""
    if isinstance(cause, EvaluationError):
        raise cause
    raise EvaluationError(f"the evaluator raised {type(cause).__name__}: {cause}", individuals, cases) from cause


def check_block(found: Any, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[np.float64]:
    """Check the errors that an evaluator returned; give (m, b) float64, C-contiguous."""
    shape = (len(individuals), len(cases))
    try:
        errors = as_number_array(found, ANSWER)
        if errors.shape != shape:
            raise ValueError(f"{ANSWER} must have shape {shape}, got {errors.shape}")
        bad = first_invalid(errors)
        if bad is not None:
            raise ValueError(f"{ANSWER} {refusal(errors[bad], int(individuals[bad[0]]), int(cases[bad[1]]))}")
        return as_doubles(errors, ANSWER)
    except (TypeError, ValueError, MemoryError) as cause:
        raise EvaluationError(str(cause), individuals, cases) from None


def as_doubles(errors: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Errors as float64, C-contiguous; refuses integers that are not exactly one."""
    if errors.dtype.kind in "iu" and errors.dtype.itemsize == 8 and errors.size:
        widest = max(int(errors.max()), -int(errors.min()))
        if widest > EXACT_INTEGERS:
            raise ValueError(f"{name} must not have integers beyond 2**53, found {widest}")
    return np.ascontiguousarray(errors, dtype=np.float64)


def check_known(known: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
    """(n_individuals, n_cases) known errors, NaN where unknown."""
    errors = as_number_array(known, "known")
    if errors.shape != shape:
        raise ValueError(f"known must be n_individuals × n_cases: expected shape {shape}, got {errors.shape}")
    return as_doubles(errors, "known")


class ClosingEvaluator:
    """An evaluator as a context manager: leaving the context closes it."""

    def __call__(self, individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.float64]:
        rows, columns = check_indices(individuals, "individuals"), check_indices(cases, "cases")
        errors = np.empty((len(rows), len(columns)))
        self._fill(errors, rows, columns)
        return errors

    def _fill(self, errors: NDArray[np.float64], individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> None:
        """Write the (m, b) errors of (m,) individuals on (b,) cases."""
        raise NotImplementedError

    def close(self) -> None:
        """Free what it holds; it may be used again afterwards."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()
