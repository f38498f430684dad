"""Errors of many programs on many cases."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

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

_DEFAULT = Limits()


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

    Attributes:
        n_cases: Number of cases.
        n_errors: Number of errors of a program: cases times measures.
        steps: Steps that all runs so far have made.

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
        self.limits = limits
        self.n_cases = len(self.expected)
        self.n_errors = self.n_cases * len(self.measures)
        self.steps = 0
        self._targets = [
            [answer if measure.target is None else measure.target(case, answer) for measure in self.measures]
            for case, answer in zip(inputs, self.expected, strict=True)
        ]
        self._cases = _native.push_cases([list(case) for case in inputs], self._targets)
        self._questions = [measure.native() for measure in self.measures]
        self._functions = [
            (column, measure.error, measure.penalty)
            for column, measure in enumerate(self.measures)
            if not isinstance(measure.error, str)
        ]
        self._known: dict[tuple[int, int, str], float] = {}

    def outputs(self, program: Program, stack: str | None = None) -> list[Value]:
        """The answer of a program on each case, from the first measure's stack or another; None where it gives none.

        >>> Evaluator([[1], [2]], [1, 4], stack="integer").outputs(Program("(in1 integer_dup integer_mult)"))
        [1, 4]
        """
        return _native.push_outputs(program.native, self._cases, stack or self.measures[0].stack, self.limits.native)

    def errors(self, programs: Sequence[Program], threads: int | None = None) -> NDArray[np.float64]:
        """The errors of all programs on all cases.

        Args:
            programs: The programs.
            threads: Threads to run on; all processors if None. The errors do not depend on it.

        Returns:
            (programs, n_errors) array.
        """
        if self._of_all_answers is not None:
            rows = [self._of_all_answers(self.outputs(program), self.expected) for program in programs]
            return np.asarray(rows, dtype=np.float64).reshape(len(programs), self.n_errors)
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
        if len(self.measures) == 1:
            return lambda individuals, columns: self._pairs(natives, individuals, columns, threads)
        return self._remembering(natives, threads)

    def _pairs(
        self, programs: list[_native.PushCode], individuals: ArrayLike, cases: ArrayLike, threads: int | None
    ) -> NDArray[np.float64]:
        rows, columns = np.broadcast_arrays(np.asarray(individuals, dtype=np.int64), np.asarray(cases, dtype=np.int64))
        return self._runs(programs, rows.ravel(), columns.ravel(), threads).reshape(rows.shape)

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
            self.steps += _native.push_errors(
                programs, self._cases, individuals, cases, limits, self._questions, count, out
            )
            return out
        steps, answers = _native.push_errors_and_answers(
            programs, self._cases, individuals, cases, limits, self._questions, out
        )
        self.steps += steps
        table = out.reshape(individuals.size, len(self.measures))
        for place, (column, function, penalty) in enumerate(self._functions):
            given = answers[place :: len(self._functions)]
            table[:, column] = [
                penalty if answer is None else self._measured(column, function, case, answer)
                for case, answer in zip(cases.tolist(), given, strict=True)
            ]
        return out

    def _measured(self, column: int, function: CaseError, case: int, answer: Value) -> float:
        """What a function says of an answer; most programs give one of a few answers, so that it is asked once."""
        key = (column, case, repr(answer))
        if key not in self._known:
            error = float(function(answer, self._targets[case][column]))
            if not error >= 0.0:
                raise ValueError(f"errors must not be negative or NaN, got {error} for the answer {answer!r:.60}")
            self._known[key] = error
        return self._known[key]
