"""The error matrix as every method sees it: checked once, copied only if necessary."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase import _native
from flexicase._checks import EXACT_INTEGERS, as_number_array, check_choice, check_flag, per_case, refusal

BLOCK_ENTRIES = 1 << 20
NanPolicy: TypeAlias = Literal["raise", "worst"]
NAN_HINT = 'nan="worst" counts it as the worst error'
CASES_PER_CHUNK = 256
SOLVED_NEEDED = (
    "solved must be the score that solves a case if maximize=True and the method computes with errors, "
    "as biases do, got None"
)


@dataclass(frozen=True)
class CaseStatistics:
    """Summaries of the errors on each case, computed when first used: the argument of a bias.

    A pool's errors on one case are a matrix of one column. If ``solved`` was given, the errors are those above it.

    Attributes:
        errors: (n_individuals, n_cases) the error matrix.
        zeros: (n_cases,) number of individuals with error exactly 0, which solve the case.

    Example:
        A custom bias weighs cases by how much the population disagrees on them:

        >>> import flexicase as fx
        >>> def disagreement(statistics: fx.CaseStatistics):
        ...     return statistics.variance
        >>> method = fx.Lexicase(order=fx.Weighted(disagreement))
        >>> fx.select([[0, 0], [0, 4]], 3, method, seed=1).indices.tolist()
        [0, 0, 0]
    """

    errors: NDArray[np.generic]
    zeros: NDArray[np.int64]

    @property
    def nonzeros(self) -> NDArray[np.int64]:
        """(n_cases,) number of individuals with an error other than 0."""
        return len(self.errors) - self.zeros

    @cached_property
    def average(self) -> NDArray[np.float64]:
        """(n_cases,) mean error."""
        if self._squares_fit():
            return np.asarray(self.errors.sum(axis=0, dtype=np.int64) / len(self.errors))
        return self._per_case(lambda block: block.sum(axis=1) / block.shape[1])

    @cached_property
    def median(self) -> NDArray[np.float64]:
        """(n_cases,) median error; the mean of the two middle values for an even population."""
        return self._per_case(lambda block: np.median(block, axis=1))

    @cached_property
    def variance(self) -> NDArray[np.float64]:
        """(n_cases,) population variance of the errors."""
        if self._squares_fit():
            errors: NDArray[Any] = self.errors
            n, sums = len(errors), errors.sum(axis=0, dtype=np.int64)
            squares = np.einsum("ij,ij->j", errors, errors, dtype=np.int64)
            return np.asarray((n * squares - sums**2) / n**2)
        return self._per_case(lambda block: block.var(axis=1))

    @property
    def split(self) -> NDArray[np.float64]:
        """(n_cases,) four times the variance of pass and fail: 1 if half of the population passes, 0 if all or none."""
        return 4.0 * (self.zeros * self.nonzeros) / max(len(self.errors), 1) ** 2

    def _per_case(self, summary: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Summarise sorted columns, so that rounding depends on neither memory layout nor the order of individuals."""
        n_cases = self.errors.shape[1]
        out = np.empty(n_cases)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, n_cases, CASES_PER_CHUNK):
                columns = self.errors[:, start : start + CASES_PER_CHUNK].T.astype(np.float64, order="C")
                columns.sort(axis=1)
                out[start : start + CASES_PER_CHUNK] = summary(columns)
        return out

    def _squares_fit(self) -> bool:
        """Whether the errors are integers whose squares can be summed without rounding, so that equal metrics tie."""
        if self.errors.dtype.kind not in "biu" or self.errors.dtype == np.uint64 or not self.errors.size:
            return False
        largest = max(abs(int(self.errors.min())), abs(int(self.errors.max())))
        return (len(self.errors) * largest) ** 2 < 2**63


class ErrorMatrix:
    """(n_individuals, n_cases) errors, lower is better, known to be numbers.

    Errors are discrete if they are of a one-byte type, or all integers from 0 to 255, or from 0 to 254 and one larger
    value (a penalty). Exact lexicase then takes at most one byte per entry beyond ``values``, in uniform, weighted and
    ranked order, with more than 256 individuals and 63 cases.

    ``solved`` has one number per case, at or below which an error counts as solved; NaN where that is unknown. None: an
    error of exactly 0 does.
    """

    __slots__ = ("__dict__", "native", "solved", "values")

    def __init__(self, values: NDArray[Any], native: _native.Matrix, solved: NDArray[np.float64] | None = None) -> None:
        self.values = values
        self.native = native
        self.solved = solved

    @classmethod
    def from_array(
        cls, errors: ArrayLike, nan: NanPolicy = "raise", maximize: bool = False, solved: ArrayLike | None = None
    ) -> ErrorMatrix:
        """Check and wrap (n_individuals, n_cases) numbers: any array, list of lists, data frame or CPU tensor.

        One number per individual is a matrix of one case.
        """
        if type(nan) is not str or nan != "raise":
            check_choice(nan, "nan", ("raise", "worst"))
        values = _as_numeric(errors)
        if values.ndim == 1:
            values = values.reshape(-1, 1)
        if values.ndim != 2:
            raise ValueError(
                "errors must be a matrix (individuals × cases) or one number per individual, "
                f"got {values.ndim} dimension(s), shape {values.shape}"
            )
        if values.shape[0] == 0:
            raise ValueError(f"errors must have at least one individual, got shape {values.shape}")
        if max(values.shape) >= 2**31:
            raise ValueError(f"errors must have fewer than 2**31 individuals and cases, got shape {values.shape}")
        limit = None
        if maximize is not False or solved is not None:
            values, limit = _lower_is_better(values, check_flag(maximize, "maximize"), solved)
        try:
            matrix = _native.Matrix(values)
        except MemoryError:
            raise MemoryError(f"errors must leave room in memory to select from, got shape {values.shape}") from None
        bad = matrix.bad_entry()
        if bad is None:
            return cls(values, matrix, limit)
        row, case = bad
        if nan == "worst":
            found = cls.from_array(np.where(np.isnan(values), np.inf, values))
            found.solved = limit
            return found
        raise ValueError(f"errors {refusal(values[row, case], row, case, NAN_HINT)}")

    @property
    def n_individuals(self) -> int:
        return len(self.values)

    @property
    def n_cases(self) -> int:
        return int(self.values.shape[1])

    @cached_property
    def statistics(self) -> CaseStatistics:
        """Per-case summaries, for biases."""
        return CaseStatistics(self.above_solved.values, self.above_solved.native.zeros())

    @property
    def above_solved(self) -> ErrorMatrix:
        """The errors as distances from what counts as solved, for methods that compute with them: 0 is solved."""
        return self if self.solved is None else self._above_solved  # no cached cycle, which would keep memory

    @cached_property
    def _above_solved(self) -> ErrorMatrix:
        assert self.solved is not None
        if np.isnan(self.solved).any():
            raise ValueError(SOLVED_NEEDED)
        self.check_float64("solved")
        errors = distance_above(self.solved, self.values.astype(np.float64))
        return ErrorMatrix(errors, _native.Matrix(errors))

    @cached_property
    def first_identical_row(self) -> NDArray[np.int64]:
        """(n_individuals,) the first individual with the same error vector."""
        return self.native.groups()

    def check_float64(self, user: str) -> None:
        """Refuse integers beyond 2⁵³, which float64 would round; ``user`` is what computes with float64."""
        found = self.native.inexact_entry()
        if found is not None:
            row, case = found
            raise ValueError(
                f"errors must be exact as float64 for {user}, "
                f"but individual {row}, case {case} has {self.values[row, case]}"
            )

    @cached_property
    def total_errors(self) -> NDArray[np.float64]:
        """(n_individuals,) errors summed case by case, whatever the memory layout; inf where the sum is NaN."""
        self.check_float64("sums")
        totals: NDArray[np.float64] = np.zeros((1, self.n_individuals))
        bounds = np.array([0, self.n_cases], dtype=np.int64)
        _native.batch_sums(self.values, np.arange(self.n_cases, dtype=np.int64), bounds, totals)
        return totals.reshape(-1)

    def submatrix(self, individuals: NDArray[np.int64] | None, cases: NDArray[np.int64] | None) -> ErrorMatrix:
        """The part of the matrix with these rows and columns (None: all)."""
        if individuals is None and cases is None:
            return self
        n_rows = self.n_individuals if individuals is None else len(individuals)
        values = np.empty((n_rows, self.n_cases if cases is None else len(cases)), self.values.dtype)
        for block in row_blocks(*values.shape):
            rows = self.values[block if individuals is None else individuals[block]]
            values[block] = rows if cases is None else rows[:, cases]
        solved = self.solved if self.solved is None or cases is None else self.solved[cases]
        return ErrorMatrix(values, _native.Matrix(values), solved)


def _lower_is_better(
    values: NDArray[Any], maximize: bool, solved: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Errors, and those that count as solved, from errors or from scores, of which no two become equal."""
    n_cases = values.shape[1]
    limit = np.full(n_cases, np.nan) if solved is None else check_solved(solved, n_cases)
    if values.dtype.kind == "f":  # the limit is rounded as the values were, so that a score of 0.9 reaches 0.9
        limit = limit.astype(values.dtype).astype(np.float64)
        return (0.0 - values, 0.0 - limit) if maximize else (values, limit)
    if not maximize or not values.size:
        return values, limit
    largest = int(values.max())
    if solved is not None and abs(largest) > EXACT_INTEGERS:
        raise ValueError(f"errors must not have integers beyond 2**53 if solved is given, got {largest}")
    unsigned = values.view(f"u{values.dtype.itemsize}")  # where the difference of any two values fits
    return np.array(largest, values.dtype).view(unsigned.dtype) - unsigned, largest - limit


def distance_above(limit: NDArray[np.float64], errors: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far errors are above what counts as solved, 0 if they are not."""
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(errors <= limit, 0.0, errors - limit)


def check_solved(solved: Any, n_cases: int) -> NDArray[np.float64]:
    """(n_cases,) what counts as solved, from a number or one per case."""
    limit = per_case(solved, n_cases, "solved")
    if np.isnan(limit).any():
        raise ValueError("solved must be a number or one number per case, got NaN")
    return limit


def _as_numeric(errors: Any) -> NDArray[Any]:
    values = as_number_array(errors, "errors")
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return values.astype(np.float32) if dtype.itemsize == 2 else _as_float64(values)
    flags = values.flags
    even = flags.c_contiguous or flags.f_contiguous or not any(stride % dtype.itemsize for stride in values.strides)
    return values if dtype.isnative and flags.aligned and even else values.astype(dtype.newbyteorder("="))


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows, each so short that Ctrl-C need not wait for NumPy."""
    step = max(1, BLOCK_ENTRIES // max(n_columns, 1))
    for start in range(0, n_rows, step):
        yield slice(start, start + step)


def _as_float64(values: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers of a wider type, none of which may be rounded."""
    with np.errstate(over="ignore"):
        converted = values.astype(np.float64)
    rounded = (converted != values) & ~np.isnan(values)
    if rounded.any():
        at = tuple(int(i[0]) for i in np.nonzero(rounded))
        raise ValueError(f"errors must be exact as float64, but {values.dtype} {values[at]!r} is at {at}")
    return converted
