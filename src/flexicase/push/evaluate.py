"""Errors of many programs on many cases."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase import _native
from flexicase.push.limits import Limits
from flexicase.push.measures import CaseError, ErrorName, Measure
from flexicase.push.program import Program
from flexicase.push.values import Value

#: Errors of one program from its answers (None where there is none) and the expected ones.
ErrorFunction = Callable[[list[Value], list[Value]], ArrayLike]
#: Errors of pairs of an individual and an error column.
LazyErrors = Callable[[ArrayLike, ArrayLike], NDArray[np.float64]]

#: Errors of a function that an evaluator keeps.
MOST_KNOWN = 200_000

_DEFAULT = Limits()
_KEPT_FAILURES = 100


class Failure(NamedTuple):
    """A run that an instruction written in Python ended by an error.

    Attributes:
        individual: Index of the program.
        case: Index of the case.
        error: The exception.

    >>> Failure(0, 3, ValueError("too small"))
    Failure(individual=0, case=3, error=ValueError('too small'))
    """

    individual: int
    case: int
    error: Exception


class Evaluator:
    """Runs programs on fixed cases and measures their errors.

    The errors of a program are those of the first case, measure after measure, then those of the second case, and so
    on. All errors of a case come from one run.

    Args:
        inputs: The inputs of each case.
        expected: The right answer of each case.
        stack: Stack whose top is the answer; ``output`` for what was printed.
        error: Name of an error, or a function of all answers of one program.
        penalty: Error of a run without an answer.
        decimals: Decimals that ``rounded`` keeps.
        per_element: What ``vector_difference`` adds for each element too many or too few.
        measures: The errors of each case, instead of the one that ``stack``, ``error`` and the others describe.
        limits: What a run may use.

    However a run ends, its answer is read from the stack as it was left. Errors of instructions written in Python end
    just the run they happen in and are told as a warning.

    Attributes:
        n_cases: Number of cases.
        n_errors: Number of errors of a program: cases times measures.
        targets: What each measure compares answers with, case by case.
        steps: Steps that all runs so far have made.
        failed: Runs so far that ended by an error of an instruction written in Python.
        failures: The first 100 of them.

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
        measures: Sequence[Measure] | None = None,
        limits: Limits = _DEFAULT,
    ) -> None:
        """Prepare the cases."""
        if len(inputs) != len(expected):
            raise ValueError(f"inputs and expected must be of one length, got {len(inputs)} and {len(expected)}")
        if (stack is None) == (measures is None):
            raise ValueError("either stack or measures must be given")
        self._of_all_answers = None if isinstance(error, str) else error
        if measures is None:
            name = error if isinstance(error, str) else "mismatch"
            measures = [Measure(str(stack), name, penalty, decimals, per_element)]
        if not measures:
            raise ValueError("measures must not be empty")
        self.expected = list(expected)
        self.measures = tuple(measures)
        self.stack = self.measures[0].stack
        self.limits = limits
        self.n_cases = len(self.expected)
        self.n_errors = self.n_cases * len(self.measures)
        self.steps = 0
        self.failed = 0
        self.failures: list[Failure] = []
        self.targets = [
            [answer if measure.target is None else measure.target(case, answer) for measure in self.measures]
            for case, answer in zip(inputs, self.expected, strict=True)
        ]
        self._refuse_nan()
        self._cases = _native.push_cases([list(case) for case in inputs], self.targets)
        self._questions = [measure.native() for measure in self.measures]
        self._functions = [
            (column, measure.error, measure.penalty)
            for column, measure in enumerate(self.measures)
            if not isinstance(measure.error, str)
        ]
        self._known: dict[tuple[int, int, str], float] = {}

    def _refuse_nan(self) -> None:
        for case, targets in enumerate(self.targets):
            if any(isinstance(target, float) and math.isnan(target) for target in targets):
                raise ValueError(f"expected must not hold NaN, but case {case} does")

    def outputs(self, program: Program, stack: str | None = None) -> list[Value]:
        """The answer of a program on each case, from the first measure's stack or another; None where it gives none.

        >>> Evaluator([[1], [2]], [1, 4], stack="integer").outputs(Program("(in1 integer_dup integer_mult)"))
        [1, 4]
        """
        answers, (failed, first) = self._answers(program, stack or self.stack)
        self._report(failed, [Failure(0, case, error) for case, error in first], stacklevel=3)
        return answers

    def errors(self, programs: Sequence[Program], threads: int | None = None) -> NDArray[np.float64]:
        """The errors of all programs on all cases.

        Args:
            programs: The programs.
            threads: Threads to run on; all processors if None. The errors do not depend on it.

        Returns:
            (programs, n_errors) array.
        """
        if self._of_all_answers is not None:
            return self._judged(self._of_all_answers, programs)
        n, m = len(programs), self.n_cases
        individuals = np.repeat(np.arange(n, dtype=np.int64), m)
        cases = np.tile(np.arange(m, dtype=np.int64), n)
        return self._runs([program.native for program in programs], individuals, cases, threads).reshape(
            n, self.n_errors
        )

    def lazy(self, programs: Sequence[Program], threads: int | None = None) -> LazyErrors:
        """A function ``errors(individuals, columns)`` that runs just the pairs asked for, each at most once.

        >>> evaluator = Evaluator([[1], [2], [3]], [1, 2, 4], stack="integer")
        >>> errors = evaluator.lazy([Program("(in1)"), Program("(7)")])
        >>> errors([0, 1], [2, 0]).tolist()
        [1.0, 6.0]
        """
        if self._of_all_answers is not None:
            raise ValueError("error must be a name for lazy evaluation, got a function of all answers of a program")
        natives = [program.native for program in programs]
        if len(self.measures) > 1:
            return self._remembering(natives, threads)

        def errors(individuals: ArrayLike, columns: ArrayLike) -> NDArray[np.float64]:
            rows, cases = np.broadcast_arrays(
                np.asarray(individuals, dtype=np.int64), np.asarray(columns, dtype=np.int64)
            )
            return self._runs(natives, rows.ravel(), cases.ravel(), threads).reshape(rows.shape)

        return errors

    def _remembering(self, programs: list[_native.PushCode], threads: int | None) -> LazyErrors:
        """Pairs of a program and a case keep all their errors once one of them was asked for."""
        n, width = len(programs), len(self.measures)
        known = np.zeros((n, self.n_cases), dtype=bool)
        table = np.empty((n, self.n_cases, width), dtype=np.float64)

        def errors(individuals: ArrayLike, columns: ArrayLike) -> NDArray[np.float64]:
            rows, wanted = np.broadcast_arrays(
                np.asarray(individuals, dtype=np.int64), np.asarray(columns, dtype=np.int64)
            )
            self._check_pairs(rows, wanted, n)
            asked = np.zeros_like(known)
            asked[rows, wanted // width] = True
            new = np.nonzero(asked & ~known)
            table[new] = self._runs(programs, new[0], new[1], threads).reshape(-1, width)
            known[new] = True
            found: NDArray[np.float64] = table[rows, wanted // width, wanted % width]
            return found

        return errors

    def _check_pairs(self, individuals: NDArray[np.int64], columns: NDArray[np.int64], n: int) -> None:
        for values, limit, name in ((individuals, n, "individuals"), (columns, self.n_errors, "columns")):
            if values.size and not (values.min() >= 0 and values.max() < limit):
                raise IndexError(f"{name} must be between 0 and {limit - 1}, got {values.min()} … {values.max()}")

    def _answers(self, program: Program, stack: str) -> tuple[list[Value], tuple[int, list[tuple[int, Exception]]]]:
        return _native.push_outputs(program.native, self._cases, stack, self.limits.native)

    def _judged(self, function: ErrorFunction, programs: Sequence[Program]) -> NDArray[np.float64]:
        rows: list[ArrayLike] = []
        failed = 0
        failures: list[Failure] = []
        for individual, program in enumerate(programs):
            answers, (count, first) = self._answers(program, self.stack)
            failed += count
            failures += [Failure(individual, case, error) for case, error in first][: _KEPT_FAILURES - len(failures)]
            rows.append(function(answers, self.expected))
        self._report(failed, failures)
        return np.asarray(rows, dtype=np.float64).reshape(len(programs), self.n_errors)

    def _report(self, failed: int, first: list[Failure], stacklevel: int = 4) -> None:
        if not failed:
            return
        self.failed += failed
        self.failures += first[: _KEPT_FAILURES - len(self.failures)]
        individual, case, error = first[0]
        warnings.warn(
            f"{failed} run(s) ended by an error in a Python instruction, first program {individual} on case {case}: "
            f"{type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=stacklevel,
        )

    def _runs(
        self,
        programs: list[_native.PushCode],
        individuals: NDArray[np.int64],
        cases: NDArray[np.int64],
        threads: int | None,
    ) -> NDArray[np.float64]:
        out = np.empty(individuals.size * len(self.measures), dtype=np.float64)
        individuals, cases = np.ascontiguousarray(individuals), np.ascontiguousarray(cases)
        limits = self.limits.native
        if not self._functions:
            count = threads if threads is not None else os.cpu_count() or 1
            steps, failures = _native.push_errors(
                programs, self._cases, individuals, cases, limits, self._questions, count, out
            )
        else:
            steps, answers, failures = _native.push_errors_and_answers(
                programs, self._cases, individuals, cases, limits, self._questions, out
            )
            self._judge_answers(answers, cases, out.reshape(individuals.size, len(self.measures)))
        self.steps += steps
        failed, first = failures
        self._report(failed, [Failure(int(individuals[pair]), int(cases[pair]), error) for pair, error in first])
        return out

    def _judge_answers(self, answers: list[Value], cases: NDArray[np.int64], table: NDArray[np.float64]) -> None:
        """Fill the columns of the measures that are functions."""
        for place, (column, function, penalty) in enumerate(self._functions):
            given = answers[place :: len(self._functions)]
            table[:, column] = [
                penalty if answer is None else self._measured(column, function, case, answer)
                for case, answer in zip(cases.tolist(), given, strict=True)
            ]

    def _measured(self, column: int, function: CaseError, case: int, answer: Value) -> float:
        """What a function says of an answer; most programs give one of a few answers, so that it is asked once."""
        key = (column, case, repr(answer))
        if key not in self._known:
            error = float(function(answer, self.targets[case][column]))
            if not error >= 0.0:
                raise ValueError(f"errors must not be negative or NaN, got {error} for the answer {answer!r:.60}")
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key] = error
        return self._known[key]
