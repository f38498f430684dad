"""The error matrix as every method sees it: checked once, never copied unless it must be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase import _native
from flexicase._checks import as_number_array, check_choice, refusal
from flexicase.selection.weights import CaseStatistics

BLOCK_ENTRIES = 1 << 20
NanPolicy: TypeAlias = Literal["raise", "worst"]
NAN_HINT = 'nan="worst" counts it as the worst error'


class ErrorMatrix:
    """(n_individuals, n_cases) errors, lower is better, known to be numbers.

    Errors are discrete if they are of a one-byte type, or all integers from 0 to 255, or from 0 to 254 and one
    larger value (a penalty). Exact lexicase then takes no more than one byte per entry beyond
    ``values``, in uniform, weighted and ranked order, with more than 256 individuals and 63 cases.

    Attributes:
        values: The errors as a NumPy array of a type the kernels read.
    """

    __slots__ = ("__dict__", "native", "values")

    def __init__(self, values: NDArray[Any], native: _native.Matrix) -> None:
        """Wrap an array that has been checked; use `as_error_matrix`."""
        self.values = values
        self.native = native

    @property
    def n_individuals(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def n_cases(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @cached_property
    def statistics(self) -> CaseStatistics:
        """Per-case summaries, for biases."""
        return CaseStatistics(self.values, self.native.zeros())

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """(n_individuals,) the first individual with the same error vector."""
        return self.native.groups()

    def check_float64(self, user: str) -> None:
        """Refuse errors that are not exactly float64 numbers.

        Args:
            user: What computes with float64, for the message.

        Raises:
            ValueError: An int64 or uint64 error beyond 2⁵³ would be rounded.
        """
        found = self.native.inexact_entry()
        if found is not None:
            row, case = found
            raise ValueError(
                f"errors must be exactly float64 numbers for {user}, "
                f"but individual {row}, case {case} has {self.values[row, case]}"
            )

    def take(self, individuals: NDArray[np.int64] | None, cases: NDArray[np.int64] | None) -> ErrorMatrix:
        """The part of the matrix with these rows and columns (None: all)."""
        if individuals is None and cases is None:
            return self
        n_rows = self.n_individuals if individuals is None else len(individuals)
        values = np.empty((n_rows, self.n_cases if cases is None else len(cases)), self.values.dtype)
        for block in row_blocks(*values.shape):
            rows = self.values[block if individuals is None else individuals[block]]
            values[block] = rows if cases is None else rows[:, cases]
        return ErrorMatrix(values, _native.Matrix(values))


def as_error_matrix(errors: ArrayLike, nan: NanPolicy = "raise") -> ErrorMatrix:
    """Check and wrap an error matrix.

    Args:
        errors: (n_individuals, n_cases) numbers: any array, list of lists, data frame or CPU tensor.
        nan: What to do with NaN: refuse it, or count it as the worst error.

    Raises:
        TypeError: ``errors`` holds something other than real numbers (`flexicase._checks.as_number_array`).
        ValueError: Wrong shape, no individuals, NaN (unless ``nan="worst"``) or -inf.
        MemoryError: What selection needs beside the errors does not fit into memory.
    """
    if type(nan) is not str or nan != "raise":
        check_choice(nan, "nan", ("raise", "worst"))
    values = _as_numeric(errors)
    if values.ndim != 2:
        raise ValueError(
            f"errors must be a matrix (individuals × cases), got {values.ndim} dimension(s), shape {values.shape}"
        )
    if values.shape[0] == 0:
        raise ValueError(f"errors must have at least one individual, got shape {values.shape}")
    if max(values.shape) >= 2**31:
        raise ValueError(f"errors must have fewer than 2**31 individuals and cases, got shape {values.shape}")
    try:
        matrix = _native.Matrix(values)
    except MemoryError:
        raise MemoryError(f"errors must leave room in memory to select from, got shape {values.shape}") from None
    bad = matrix.bad_entry()
    if bad is None:
        return ErrorMatrix(values, matrix)
    row, case = bad
    if nan == "worst" and np.isnan(values).any():
        return as_error_matrix(np.where(np.isnan(values), np.inf, values))
    raise ValueError(f"errors {refusal(values[row, case], row, case, NAN_HINT)}")


def _as_numeric(errors: Any) -> NDArray[Any]:
    values = as_number_array(errors, "errors")
    dtype = values.dtype
    if dtype.kind == "f" and dtype.itemsize not in (4, 8):
        return values.astype(np.float32) if dtype.itemsize == 2 else _as_float64(values)
    flags = values.flags
    if dtype.isnative and flags.aligned and (flags.c_contiguous or flags.f_contiguous):
        return values
    if not dtype.isnative or not flags.aligned or any(stride % dtype.itemsize for stride in values.strides):
        return values.astype(dtype.newbyteorder("="))
    return values


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
        raise ValueError(f"errors must be exactly float64 numbers, but {values.dtype} {values[at]!r} is at {at}")
    return converted
