"""The package and a second reading of the problems' descriptions say the same."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from flexicase import problems
from flexicase.problems import Cases, Problem
from flexicase.push import Limits, Program, RunState, run
from flexicase.push.program import Value

from .oracle import ANSWERS, Answer, printed_float, right
from .oracle_errors import ERRORS
from .oracle_inputs import INPUTS
from .oracle_settings import SETTINGS
from .solutions import pieces_left, solution

SEED = 20_15

every_problem = pytest.mark.parametrize("name", problems.names())


def as_printed(value: Value) -> str:
    return value if isinstance(value, str) else printed_float(value) if isinstance(value, float) else str(value)


def by_stack(answer: Answer, expected: Value) -> Answer:
    """The package's answer by stack, like the oracle's."""
    parts = expected if isinstance(expected, tuple) else (expected,)
    pairs = zip(answer, parts, strict=True)
    return {stack: as_printed(part) if stack == "output" else part for stack, part in pairs}


def found_by(answer: Answer, state: RunState) -> Answer:
    """What a run left on the stacks of an answer."""
    return {stack: state.output if stack == "output" else state.top(stack) for stack in answer}


def disagreements(name: str, cases: Cases) -> list[tuple[object, ...]]:
    """Cases to which the oracle has another answer."""
    asked = ((inputs, expected, ANSWERS[name](*inputs)) for inputs, expected in cases)
    return [case for case in asked if not right(name, case[2], by_stack(case[2], case[1]))]


def short_cases(name: str, problem: Problem) -> Cases:
    """A few cases whose printed answer is short, for errors are slow in Python."""
    rng = Random(SEED)
    edge = list(problem.edge_cases())
    cases = rng.sample(edge, min(6, len(edge))) + list(problem.fresh(30, seed=SEED))
    short = [(inputs, expected) for inputs, expected in cases if len(str(expected)) <= 200][:10]
    return Cases([inputs for inputs, _ in short], [expected for _, expected in short])


@every_problem
def test_oracle_agrees_on_the_edge_cases(name: str) -> None:
    assert disagreements(name, problems.load(name).edge_cases()) == []


@every_problem
def test_oracle_agrees_on_a_sample(name: str) -> None:
    for cases in problems.load(name).sample(seed=SEED):
        assert disagreements(name, Cases(cases.inputs[::3], cases.expected[::3])) == []


@every_problem
def test_package_answers_the_oracles_own_inputs(name: str) -> None:
    rng = Random(SEED)
    cases = problems.load(name).cases([INPUTS[name](rng) for _ in range(300)])
    assert disagreements(name, cases) == []


@every_problem
def test_solution_is_right_in_the_oracles_own_reading(name: str) -> None:
    """No part of the package but the engine has a say here."""
    rng = Random(SEED)
    settings = SETTINGS.get(name)
    limits = Limits(steps=settings.steps, points=settings.points) if settings else Limits()
    program = solution(name)
    wrong = []
    for inputs in (INPUTS[name](rng) for _ in range(300)):
        answer = ANSWERS[name](*inputs)
        found = found_by(answer, run(program, inputs, limits))
        if not right(name, answer, found):
            wrong.append((inputs, answer, found))
    assert wrong == []


@every_problem
def test_errors_of_broken_programs_agree(name: str) -> None:
    """Not only nought must be right: selection lives on how wrong a program is."""
    problem = problems.load(name)
    cases = short_cases(name, problem)
    broken = [Program("()"), *(Program(code) for code in pieces_left(solution(name).code))]
    measured = problem.evaluator(cases).errors(broken)
    for program, errors in zip(broken, measured, strict=True):
        expected: list[float] = []
        for inputs in cases.inputs:
            answer = ANSWERS[name](*inputs)
            expected += ERRORS[name](answer, found_by(answer, run(program, inputs, problem.limits())), *inputs)
        np.testing.assert_allclose(errors, expected, rtol=1e-6, atol=1e-9, err_msg=str(program))


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_agree(name: str) -> None:
    problem = problems.load(name)
    settings = SETTINGS[name]
    assert set(problem.stacks) == set(settings.stacks.split())
    assert (problem.settings.max_points, problem.settings.steps) == (settings.points, settings.steps)
    assert len(problem.genes()) == settings.genes


def test_settings_are_those_of_the_whole_suite() -> None:
    assert {*SETTINGS, "simple-regression"} == set(problems.names())
