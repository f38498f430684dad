"""Every problem can be solved: a program written by hand has no error on it, and no piece of that program is idle."""

from __future__ import annotations

import pytest

from flexicase import problems
from flexicase.problems import Cases, Problem
from flexicase.push import Program, RandomBoolean, RandomChar, RandomInteger, Symbol, run
from flexicase.push.program import Value

from .solutions import FOLDER, atoms, pieces_left, solution

SEED = 20_15
FRESH = 300

every_problem = pytest.mark.parametrize("name", problems.names())


def trial_cases(problem: Problem) -> Cases:
    """The edge cases and fresh ones."""
    return problem.edge_cases() + problem.fresh(FRESH, seed=SEED)


def can_make(generator: object, literal: Value) -> bool:
    """Whether a generator of random genes can give a literal."""
    match generator:
        case RandomBoolean():
            return isinstance(literal, bool)
        case RandomInteger():
            return type(literal) is int and generator.low <= literal <= generator.high
        case RandomChar():
            return literal in generator.characters
        case _:
            return type(generator) is type(literal) and generator == literal


def test_each_problem_has_a_solution() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.push")) == sorted(problems.names())


@every_problem
def test_solution_has_no_error(name: str) -> None:
    problem = problems.load(name)
    cases = trial_cases(problem)
    errors = problem.evaluator(cases).errors([solution(name)])[0].reshape(len(cases), -1)
    assert [(cases.inputs[i], cases.expected[i], errors[i].tolist()) for i in errors.any(axis=1).nonzero()[0]] == []


@every_problem
def test_solution_ends_by_itself_within_the_step_limit(name: str) -> None:
    problem = problems.load(name)
    program = solution(name)
    states = [run(program, inputs, problem.limits()) for inputs in trial_cases(problem).inputs]
    assert {state.termination for state in states} == {"normal"}


@every_problem
def test_solution_is_made_of_what_evolution_has(name: str) -> None:
    """Instructions and inputs of the problem's set, constants that its generators can give, size within its limit."""
    problem = problems.load(name)
    program = solution(name)
    genes = problem.genes()
    assert {atom for atom in atoms(program.code) if isinstance(atom, Symbol)} <= {
        gene for gene in genes if isinstance(gene, Symbol)
    }
    literals = [atom for atom in atoms(program.code) if not isinstance(atom, Symbol)]
    assert [literal for literal in literals if not any(can_make(gene, literal) for gene in genes)] == []
    assert len(list(atoms(program.code))) <= problem.settings.max_genome


@every_problem
def test_a_solution_without_any_one_piece_has_errors(name: str) -> None:
    """Cases or errors that let a broken program pass would make the other tests worthless."""
    problem = problems.load(name)
    broken = [Program(code) for code in pieces_left(solution(name).code)]
    errors = problem.evaluator(trial_cases(problem)).errors(broken, threads=1)
    assert [str(program) for program, total in zip(broken, errors.sum(axis=1), strict=True) if total == 0] == []
