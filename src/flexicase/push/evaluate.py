"""Errors of many programs on many cases."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase import _native
from flexicase.push.limits import Limits
from flexicase.push.program import Program
from flexicase.push.values import Value

#: How far an answer is from the expected one:
#: ``mismatch`` (0 or 1), ``absolute`` (difference of numbers), ``rounded`` (the same, to some decimals),
#: ``levenshtein`` (edits between texts or vectors), ``vector_difference`` (sum of differences, lengths included).
ErrorName = Literal["mismatch", "absolute", "rounded", "levenshtein", "vector_difference"]
#: Errors of one program from its answers (None where there is none) and the expected ones.
ErrorFunction = Callable[[list[Value], list[Value]], ArrayLike]

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

    Args:
        inputs: The inputs of each case.
        expected: The right answer of each case.
        stack: Stack whose top is the answer; ``output`` for what was printed.
        error: Name of an error, or a function of all answers of one program.
        penalty: Error of a run without an answer.
        decimals: Decimals that ``rounded`` keeps.
        per_element: What ``vector_difference`` adds for each element too many or too few.
        limits: What a run may use.

    However a run ends, its answer is read from the stack as it was left. Errors of instructions written in Python end
    just the run they happen in and are told as a warning.

    Attributes:
        steps: Steps made so far.
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
        stack: str,
        error: ErrorName | ErrorFunction = "absolute",
        penalty: float = 1.0,
        decimals: int = 4,
        per_element: float = 10_000.0,
        limits: Limits = _DEFAULT,
    ) -> None:
        """Prepare the cases."""
        if len(inputs) != len(expected):
            raise ValueError(f"inputs and expected must be of one length, got {len(inputs)} and {len(expected)}")
        self.expected = list(expected)
        self.stack = stack
        self.limits = limits
        self.steps = 0
        self.failed = 0
        self.failures: list[Failure] = []
        self._cases = _native.push_cases([list(case) for case in inputs], self.expected)
        self._function = None if isinstance(error, str) else error
        scale = per_element if error == "vector_difference" else 10.0**decimals
        name = error if isinstance(error, str) else "mismatch"
        self._question = _native.PushQuestion(stack, name, penalty, scale)

    def outputs(self, program: Program) -> list[Value]:
        """The answer of a program on each case; None where it gives none.

        >>> Evaluator([[1], [2]], [1, 4], stack="integer").outputs(Program("(in1 integer_dup integer_mult)"))
        [1, 4]
        """
        answers, (failed, first) = self._answers(program)
        self._report(failed, [Failure(0, case, error) for case, error in first], stacklevel=3)
        return answers

    def errors(self, programs: Sequence[Program], threads: int | None = None) -> NDArray[np.float64]:
        """The errors of all programs on all cases.

        Args:
            programs: The programs.
            threads: Threads to run on; all processors if None. The errors do not depend on it.

        Returns:
            (programs, cases) array.
        """
        if self._function is not None:
            return self._judged(self._function, programs)
        n, m = len(programs), len(self.expected)
        individuals = np.repeat(np.arange(n, dtype=np.int64), m)
        cases = np.tile(np.arange(m, dtype=np.int64), n)
        return self._pairs([program.native for program in programs], individuals, cases, threads).reshape(n, m)

    def lazy(
        self, programs: Sequence[Program], threads: int | None = None
    ) -> Callable[[ArrayLike, ArrayLike], NDArray[np.float64]]:
        """A function ``errors(individuals, cases)`` that runs just the pairs asked for.

        >>> evaluator = Evaluator([[1], [2], [3]], [1, 2, 4], stack="integer")
        >>> errors = evaluator.lazy([Program("(in1)"), Program("(7)")])
        >>> errors([0, 1], [2, 0]).tolist()
        [1.0, 6.0]
        """
        if self._function is not None:
            raise ValueError("error must be a name for lazy evaluation, got a function of all answers of a program")
        natives = [program.native for program in programs]

        def errors(individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.float64]:
            rows, columns = np.broadcast_arrays(
                np.asarray(individuals, dtype=np.int64), np.asarray(cases, dtype=np.int64)
            )
            return self._pairs(natives, rows.ravel(), columns.ravel(), threads).reshape(rows.shape)

        return errors

    def _answers(self, program: Program) -> tuple[list[Value], tuple[int, list[tuple[int, Exception]]]]:
        return _native.push_outputs(program.native, self._cases, self.stack, self.limits.native)

    def _judged(self, function: ErrorFunction, programs: Sequence[Program]) -> NDArray[np.float64]:
        rows: list[ArrayLike] = []
        failed = 0
        failures: list[Failure] = []
        for individual, program in enumerate(programs):
            answers, (count, first) = self._answers(program)
            failed += count
            failures += [Failure(individual, case, error) for case, error in first][: _KEPT_FAILURES - len(failures)]
            rows.append(function(answers, self.expected))
        self._report(failed, failures)
        return np.asarray(rows, dtype=np.float64).reshape(len(programs), len(self.expected))

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

    def _pairs(
        self,
        programs: list[_native.PushCode],
        individuals: NDArray[np.int64],
        cases: NDArray[np.int64],
        threads: int | None,
    ) -> NDArray[np.float64]:
        out = np.empty(individuals.size, dtype=np.float64)
        count = threads if threads is not None else os.cpu_count() or 1
        steps, (failed, first) = _native.push_errors(
            programs,
            self._cases,
            np.ascontiguousarray(individuals),
            np.ascontiguousarray(cases),
            self.limits.native,
            self._question,
            count,
            out,
        )
        self.steps += steps
        self._report(failed, [Failure(int(individuals[pair]), int(cases[pair]), error) for pair, error in first])
        return out
