"""Reading a program, and scoring it on the cases of a problem."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import check_count
from flexicase.problems.cases import MAX_CASES, Cases
from flexicase.problems.problem import Problem
from flexicase.push.evaluator import Evaluator
from flexicase.push.instructions import check_symbols
from flexicase.push.program import Program, Value, check_type, parse_all
from flexicase.rng import Seed


def read_program(text: str, n_inputs: int) -> Program:
    r"""Read a program as Clojush prints it; its outer parentheses may be missing.

    Args:
        text: The program, with or without comments.
        n_inputs: Number of inputs of the problem.

    >>> print(read_program("in1 ; twice\n in1 integer_add", n_inputs=1))
    (in1 in1 integer_add)
    """
    check_count(n_inputs, "n_inputs")
    values = parse_all(text)
    if not values:
        raise ValueError("text must hold a program, found none")
    code = values[0] if len(values) == 1 and isinstance(values[0], tuple) else tuple(values)
    check_symbols(code, n_inputs)
    return Program(code)


@dataclass(frozen=True, eq=False)
class ProgramScore:
    """The errors of a program on a problem.

    Attributes:
        problem: The problem.
        program: The program.
        cases: The cases, the fixed ones first.
        n_fixed: Number of fixed cases.
        errors: (cases, measures) its errors.

    >>> from flexicase import problems
    >>> result = problems.score(problems.load("smallest"), Program("(in1 print_integer)"), n_random_cases=10, seed=1)
    >>> result.n_fixed, result.passed
    (5, False)
    """

    problem: Problem
    program: Program
    cases: Cases
    n_fixed: int
    errors: NDArray[np.float64]

    @property
    def total(self) -> float:
        """The sum of all errors."""
        return float(self.errors.sum())

    @property
    def failing(self) -> list[int]:
        """Indices of the cases with an error that is not zero."""
        return [int(i) for i in np.flatnonzero(self.errors.any(axis=1))]

    @property
    def passed(self) -> bool:
        """Whether all errors are zero."""
        return not self.errors.any()

    @cached_property
    def _evaluator(self) -> Evaluator:
        return self.problem.evaluator(self.cases)

    @cached_property
    def _answers(self) -> list[list[Value]]:
        return [self._evaluator.outputs(self.program, stack) for stack in self._columns]

    @cached_property
    def _columns(self) -> dict[str, int]:
        """The first measure of each stack."""
        stacks = [measure.stack for measure in self.problem.measures]
        return {stack: stacks.index(stack) for stack in stacks}

    def expected(self, case: int) -> Value:
        """The expected answer to a case; a tuple if there are several, None if the problem has none."""
        if self.problem.answer is None:
            return None
        targets = [self._evaluator.targets[case][column] for column in self._columns.values()]
        return targets[0] if len(targets) == 1 else tuple(targets)

    def answer(self, case: int) -> Value:
        """The program's answer to a case; a tuple if there are several, None if a function evaluates the program."""
        if self.problem.evaluate is not None:
            return None
        given = [answers[case] for answers in self._answers]
        return given[0] if len(given) == 1 else tuple(given)


def score(problem: Problem, program: Program, n_random_cases: int = 300, seed: Seed = 0) -> ProgramScore:
    """Run a program on the fixed cases of a problem and on random ones, which are the same for the same seed.

    >>> from flexicase import problems
    >>> mirror = Program("(in1 in2 vector_integer_reverse vector_integer_eq)")
    >>> score(problems.load("mirror-image"), mirror).passed
    True
    """
    check_type(problem, "problem", Problem)
    check_type(program, "program", Program)
    check_count(n_random_cases, "n_random_cases", maximum=MAX_CASES)
    fixed = problem.fixed_cases()
    cases = fixed + problem.draw_cases(n_random_cases, seed)
    if not len(cases):
        raise ValueError(f"n_random_cases must be at least 1, because {problem.name} has no fixed cases, got 0")
    errors = problem.evaluator(cases).errors([program]).reshape(len(cases), problem.errors_per_case)
    return ProgramScore(problem, program, cases, len(fixed), errors)
