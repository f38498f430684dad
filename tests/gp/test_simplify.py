"""Simplification makes programs smaller and leaves their errors alone."""

from __future__ import annotations

import numpy as np
import pytest

from flexicase import _native, problems
from flexicase.gp import OffspringGenerator, Variation, simplify
from flexicase.push import Evaluator, Program
from flexicase.rng import key_from_seed
from tests.gp._helpers import is_rate

KEY = key_from_seed(1)


def candidates(text, n=20_000):
    native = Program(text).native
    return [_native.gp_smaller(native, KEY.k0, KEY.k1, step).text() for step in range(n)]


def test_one_or_two_points_are_deleted_or_a_pair_of_parentheses():
    """(1 (2)): one deletion gives (1), ((2)) or (1 ()) a third each; a second one goes on from there."""
    n = 20_000
    found = candidates("(1 (2))", n)
    assert set(found) == {"(1)", "((2))", "(1 ())", "(1 2)", "()", "(())"}
    assert is_rate(found.count("(1 2)"), n, 1 / 5)
    # once: (1) 1/3; twice: ((2)) or (1 ()) first, never back to (1) but by deleting the list of (1 ())
    assert is_rate(found.count("(1)"), n, 4 / 5 * (1 / 2 / 3 + 1 / 2 * (1 / 3 * 1 / 2)))
    assert is_rate(found.count("((2))"), n, 4 / 5 * (1 / 2 / 3))
    assert is_rate(found.count("()"), n, 4 / 5 * (1 / 2 * (1 / 3 + 1 / 3 * 1 / 2)))


def test_the_outermost_parentheses_stay():
    assert is_rate(candidates("(1 2)").count("(1 2)"), 20_000, 1 / 5)
    assert set(candidates("()", 100)) == {"()"}
    assert set(candidates("5", 100)) == {"5"}


def test_removing_parentheses_dissolves_vectors():
    found = candidates('([1 2] (3) [] ["a"])', 3000)
    assert '(1 2 3 "a")' in found
    assert '([1 2] 3 [] ["a"])' not in found


def test_errors_stay_as_they_are():
    problem = problems.load("mirror-image")
    evaluator = problem.evaluator(problem.sample(1)[0])
    breeder = OffspringGenerator(problem.genes(), Variation())
    programs, _ = breeder.random(20, KEY).translate(1200)
    for program in programs:
        smaller = simplify(program, evaluator, 300, KEY)
        assert np.array_equal(evaluator.errors([smaller]), evaluator.errors([program]))
        assert smaller.points <= program.points


def test_what_is_not_needed_goes():
    evaluator = Evaluator([[1], [5]], [2, 6], stack="integer", penalty=100)
    program = Program("(exec_dup (true) (in1 (7 integer_pop) exec_if (1) (2)) integer_add)")
    assert simplify(program, evaluator, 2000).points < program.points
    assert simplify(program, evaluator, 0).points == program.points


@pytest.mark.parametrize("seed", [1, 2])
def test_same_key_same_result(seed):
    evaluator = Evaluator([[1], [5]], [2, 6], stack="integer", penalty=100)
    program = Program("(1 in1 true false (3 4 (5)) integer_pop integer_pop integer_pop integer_add)")
    key = key_from_seed(seed)
    assert str(simplify(program, evaluator, 200, key)) == str(simplify(program, evaluator, 200, key))
