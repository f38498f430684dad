"""`Evaluator`: the errors of many programs on many cases."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase import _native
from flexicase._checks import check_number, check_threads, shown
from flexicase._provenance import usable_cores
from flexicase.push.interpreter import Limits, check_limits
from flexicase.push.measures import CaseError, ErrorMeasure, ErrorName, check_error, check_stack
from flexicase.push.program import Program, Value, check_sequence, check_type

#: Errors of one program, from its answers (None where a run gave none) and the expected ones.
ErrorFunction = Callable[[list[Value], list[Value]], ArrayLike]
#: Errors of pairs of an individual and an error column.
PairErrors = Callable[[ArrayLike, ArrayLike], NDArray[np.float64]]

#: Number of remembered errors of measures that are Python functions.
MAX_KNOWN_ERRORS = 200_000

_DEFAULT = Limits()
_MAX_FAILURES = 100


class Failure(NamedTuple):
    """A run that ended with an exception in an instruction written in Python.

    Attributes:
        individual: Index of the program.
        case: Index of the case.
        error: The exception.
    """

    individual: int
    case: int
    error: Exception


class Evaluator:
    """Runs programs on fixed cases and measures their errors.

    The errors of a program are ordered by case, then by measure. All errors of a case come from one run.

    Args:
        inputs: The inputs of each case.
        expected: The right answer of each case.
        stack: As for `ErrorMeasure`, also ``penalty``, ``decimals`` and ``per_element``.
        error: Name of an error measure, or a function of all answers of one program.
        measures: The error measures of each case, instead of the one given by ``stack``, ``error`` and so on.
        limits: Limits of a run.

    The answer is read from the stack however the run ended. An exception in an instruction written in Python ends that
    run only and is reported as a warning. Threads may share an evaluator.

    Attributes:
        n_cases: Number of cases.
        errors_per_case: Number of errors of a case, one for each measure.
        n_errors: Number of errors of a program: cases × errors per case.
        targets: For each case, the value that each measure compares the answer with.
        steps: Number of steps of all runs so far.
        failed: Number of runs so far that ended with an exception in an instruction written in Python.
        failures: The first 100 of these runs.

    >>> evaluator = Evaluator([[1, 2], [5, 5]], [3, 10], stack="integer", penalty=1000)
    >>> programs = [Program("(in1 in2 integer_add)"), Program("(in1)"), Program("()")]
    >>> evaluator.errors(programs).tolist()
    [[0.0, 0.0], [2.0, 5.0], [1000.0, 1000.0]]
    """

    def __init__(
        self,
        inputs: Sequence[Sequence[Value]],
        expected: Sequence[Value],
        *,
        stack: str | None = None,
        error: ErrorName | ErrorFunction = "absolute",
        penalty: float = 1.0,
        decimals: int = 4,
        per_element: float = 10_000.0,
        measures: Sequence[ErrorMeasure] | None = None,
        limits: Limits = _DEFAULT,
    ) -> None:
        cases = check_inputs(inputs)
        self.expected = check_sequence(expected, "expected", "values")
        if len(cases) != len(self.expected):
            raise ValueError(
                f"inputs and expected must have the same length, got {len(cases)} and {len(self.expected)}"
            )
        if (stack is None) == (measures is None):
            raise ValueError("either stack or measures must be given")
        check_error(error)
        self._of_all_answers = None if isinstance(error, str) else error
        if measures is None:
            name = error if isinstance(error, str) else "mismatch"
            measures = [ErrorMeasure(check_stack(stack), name, penalty, decimals, per_element)]
        self.measures = _check_all(measures, "measures", ErrorMeasure)
        if not self.measures:
            raise ValueError("measures must not be empty")
        self.stack = self.measures[0].stack
        self.limits = check_limits(limits)
        self.n_cases = len(self.expected)
        self.errors_per_case = len(self.measures)
        self.n_errors = self.n_cases * self.errors_per_case
        self.steps = 0
        self.failed = 0
        self.failures: list[Failure] = []
        self.targets = [
            [answer if measure.target is None else measure.target(case, answer) for measure in self.measures]
            for case, answer in zip(cases, self.expected, strict=True)
        ]
        for i, targets in enumerate(self.targets):
            if any(isinstance(target, float) and math.isnan(target) for target in targets):
                raise ValueError(f"expected must not hold NaN, but case {i} does")
        # As in Clojush, the printed text starts with a marker, which counts for its limit, if nothing reads it.
        self._is_printed = any(measure.stack == "output" for measure in self.measures)
        self._cases = _native.push_cases(cases, self.targets, self._is_printed)
        self._native_measures = [measure.native() for measure in self.measures]
        _native.push_check_kinds(self._native_measures, self._cases)
        self._functions = [
            (column, measure.error, measure.penalty)
            for column, measure in enumerate(self.measures)
            if not isinstance(measure.error, str)
        ]
        self._known: dict[tuple[int, int, str | bytes], float] = {}
        self._lock = threading.Lock()

    def outputs(self, program: Program, stack: str | None = None) -> list[Value]:
        """The answer of a program on each case, from the first measure's stack or another; None where it gives none.

        >>> Evaluator([[1], [2]], [1, 4], stack="integer").outputs(Program("(in1 integer_dup integer_mult)"))
        [1, 4]
        """
        chosen = self.stack if stack is None else check_stack(stack)
        answers, (failed, first) = self._answers(check_type(program, "program", Program), chosen)
        self._report(failed, [Failure(0, case, error) for case, error in first], stacklevel=3)
        return answers

    def errors(self, programs: Sequence[Program], threads: int | None = None) -> NDArray[np.float64]:
        """(programs, n_errors) errors of all programs on all cases.

        Args:
            programs: The programs.
            threads: Threads to run on; all processors if None. The errors do not depend on it.
        """
        programs, threads = _check_all(programs, "programs", Program), _thread_count(threads)
        if self._of_all_answers is not None:
            return self._errors_by_function(self._of_all_answers, programs)
        individuals, cases = np.indices((len(programs), self.n_cases)).reshape(2, -1)
        errors = self._run_pairs([program.native for program in programs], individuals, cases, threads)
        return errors.reshape(len(programs), self.n_errors)

    def on_demand(self, programs: Sequence[Program], threads: int | None = None) -> PairErrors:
        """A function ``errors(individuals, columns)`` that runs only the pairs it is called with.

        With several measures, all errors of a run are kept, so that no pair of program and case runs twice.

        >>> evaluator = Evaluator([[1], [2], [3]], [1, 2, 4], stack="integer")
        >>> errors = evaluator.on_demand([Program("(in1)"), Program("(7)")])
        >>> errors([0, 1], [2, 0]).tolist()
        [1.0, 6.0]
        """
        if self._of_all_answers is not None:
            raise ValueError(
                "error must be a name for evaluation on demand, got a function of all answers of a program"
            )
        natives = [program.native for program in _check_all(programs, "programs", Program)]
        threads = _thread_count(threads)
        if len(self.measures) > 1:
            return self._cached(natives, threads)

        def errors(individuals: ArrayLike, columns: ArrayLike) -> NDArray[np.float64]:
            rows, cases = _pairs(individuals, columns, len(natives), self.n_errors)
            return self._run_pairs(natives, rows.ravel(), cases.ravel(), threads).reshape(rows.shape)

        return errors

    def _cached(self, programs: list[_native.PushCode], threads: int) -> PairErrors:
        """`on_demand` that keeps all errors of a run."""
        n, width = len(programs), len(self.measures)
        known = np.zeros((n, self.n_cases), dtype=bool)
        table = np.empty((n, self.n_cases, width), dtype=np.float64)

        def errors(individuals: ArrayLike, columns: ArrayLike) -> NDArray[np.float64]:
            rows, asked = _pairs(individuals, columns, n, self.n_errors)
            needed = np.zeros_like(known)
            needed[rows, asked // width] = True
            new = np.nonzero(needed & ~known)
            table[new] = self._run_pairs(programs, new[0], new[1], threads).reshape(-1, width)
            known[new] = True
            found: NDArray[np.float64] = table[rows, asked // width, asked % width]
            return found

        return errors

    def _answers(self, program: Program, stack: str) -> tuple[list[Value], tuple[int, list[tuple[int, Exception]]]]:
        answers, failures = _native.push_outputs(program.native, self._cases, stack, self.limits.native)
        if stack == "output" and not self._is_printed:
            answers = [text.removeprefix(":no-stack-item") for text in answers]
        return answers, failures

    def _errors_by_function(self, function: ErrorFunction, programs: Sequence[Program]) -> NDArray[np.float64]:
        rows: list[ArrayLike] = []
        failed = 0
        failures: list[Failure] = []
        for individual, program in enumerate(programs):
            answers, (count, first) = self._answers(program, self.stack)
            failed += count
            failures += [Failure(individual, case, error) for case, error in first][: _MAX_FAILURES - len(failures)]
            rows.append(self._check_row(function(answers, self.expected)))
        self._report(failed, failures)
        return np.asarray(rows, dtype=np.float64).reshape(len(programs), self.n_errors)

    def _check_row(self, errors: Any) -> NDArray[np.float64]:
        """The return value of a function of all answers, checked."""
        try:
            row = np.asarray(errors, dtype=np.float64)
        except (TypeError, ValueError):
            row = None
        if row is None or row.shape != (self.n_errors,):
            raise ValueError(f"error must return one number per case, {self.n_errors} in all, got {shown(errors)}")
        return row

    def _report(self, failed: int, first: list[Failure], stacklevel: int = 4) -> None:
        if not failed:
            return
        with self._lock:
            self.failed += failed
            self.failures += first[: _MAX_FAILURES - len(self.failures)]
        individual, case, error = first[0]
        warnings.warn(
            f"{failed} run(s) ended with an exception in a Python instruction, "
            f"first program {individual} on case {case}: {type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=stacklevel,
        )

    def _run_pairs(
        self, programs: list[_native.PushCode], individuals: NDArray[np.int64], cases: NDArray[np.int64], threads: int
    ) -> NDArray[np.float64]:
        out = np.empty(individuals.size * len(self.measures), dtype=np.float64)
        individuals, cases = np.ascontiguousarray(individuals), np.ascontiguousarray(cases)
        limits = self.limits.native
        if not self._functions:
            steps, failures = _native.push_errors(
                programs, self._cases, individuals, cases, limits, self._native_measures, threads, out
            )
        else:
            steps, answers, failures = _native.push_errors_and_answers(
                programs, self._cases, individuals, cases, limits, self._native_measures, out
            )
            self._fill_function_columns(answers, cases, out.reshape(individuals.size, len(self.measures)))
        with self._lock:
            self.steps += steps
        failed, first = failures
        self._report(failed, [Failure(int(individuals[pair]), int(cases[pair]), error) for pair, error in first])
        return out

    def _fill_function_columns(
        self, answers: list[Value], cases: NDArray[np.int64], table: NDArray[np.float64]
    ) -> None:
        """Fill the columns of the measures that are functions."""
        for position, (column, function, penalty) in enumerate(self._functions):
            given = answers[position :: len(self._functions)]
            table[:, column] = [
                penalty if answer is None else self._function_error(column, function, case, answer)
                for case, answer in zip(cases.tolist(), given, strict=True)
            ]

    def _function_error(self, column: int, function: CaseError, case: int, answer: Value) -> float:
        """The error of an answer by a Python function, remembered because many programs give the same answer."""
        # Code may be nested too deeply for repr.
        text = _native.push_code(answer, "answer").to_bytes() if isinstance(answer, tuple) else repr(answer)
        key = (column, case, text)
        error = self._known.get(key)
        if error is None:
            error = check_number(function(answer, self.targets[case][column]), f"the error of measures[{column}]")
            if error < 0.0:
                raise ValueError(
                    f"the error of measures[{column}] must not be negative, got {error} for the answer {shown(answer)}"
                )
            if len(self._known) >= MAX_KNOWN_ERRORS:
                self._known = {}
            self._known[key] = error
        return error


def check_inputs(inputs: Any) -> list[list[Any]]:
    """The inputs of each case, checked."""
    cases = check_sequence(inputs, "inputs", "cases")
    return [check_sequence(case, f"inputs[{i}]", "values") for i, case in enumerate(cases)]


def _check_all(values: Any, name: str, kind: type) -> tuple[Any, ...]:
    """A sequence whose elements are all of one class."""
    found = check_sequence(values, name, f"{kind.__name__} objects")
    return tuple(check_type(value, f"{name}[{i}]", kind) for i, value in enumerate(found))


def _thread_count(threads: int | None) -> int:
    return usable_cores() if threads is None else check_threads(threads)


def _pairs(
    individuals: ArrayLike, columns: ArrayLike, n: int, n_errors: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of an individual and an error column, checked and broadcast to one shape."""
    rows, asked = _indices(individuals, "individuals", n), _indices(columns, "columns", n_errors)
    try:
        rows, asked = np.broadcast_arrays(rows, asked)
    except ValueError:
        raise ValueError(
            f"individuals and columns must have the same shape, got {rows.shape} and {asked.shape}"
        ) from None
    return rows, asked


def _indices(values: ArrayLike, name: str, limit: int) -> NDArray[np.int64]:
    try:
        array = np.asarray(values)
    except Exception:
        array = None
    if array is None or (array.dtype.kind not in "iu" and array.size):
        raise TypeError(f"{name} must be integers, got {shown(values)}")
    if array.size and not (array.min() >= 0 and array.max() < limit):
        raise IndexError(f"{name} must be between 0 and {limit - 1}, got {array.min()} … {array.max()}")
    return array.astype(np.int64)
