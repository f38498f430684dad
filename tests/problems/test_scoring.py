"""Programs that other people wrote, tried on a problem."""

from __future__ import annotations

import pytest

from flexicase import problems
from flexicase.problems import read_program, score
from flexicase.push import Program


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("(in1 in2 integer_add)", "(in1 in2 integer_add)"),
        ("in1 in2 integer_add", "(in1 in2 integer_add)"),
        ("in1", "(in1)"),
        ("()", "()"),
        ("((in1))", "((in1))"),
        ("(in1) (in2)", "((in1) (in2))"),
        ("; by hand\n(tag_exec_5 (1) tagged_5 tag_vector_integer_3 untag_4)", None),
        ('(1 ; one\n \\space "a" [1 2] [])', '(1 \\space "a" [1 2] [])'),
    ],
)
def test_programs_are_read(text: str, program: str | None) -> None:
    found = read_program(text, n_inputs=2)
    assert program is None or str(found) == program


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "text must hold a program"),
        ("(in3)", r"the program reads in3, but there are 2 input\(s\)"),
        ("((1 (integer_ad)))", "unknown instruction 'integer_ad'; did you mean 'integer_add'"),
        ("(integer_add", "not closed"),
        ("([1 [2]])", "must be a vector of ints, floats, bools or strs .* got list"),
        ("([1 2.0])", "must be a vector of values of one kind .* got float"),
        ("(99999999999999999999)", "64 bits"),
    ],
)
def test_what_cannot_run_is_refused_before_it_runs(text: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        read_program(text, n_inputs=2)


def test_a_score_says_what_went_wrong() -> None:
    problem = problems.load("replace-space-with-newline")
    outcome = score(problem, Program("(in1 print_string in1 string_length)"), n_random_cases=10, seed=1)
    assert (outcome.n_fixed, len(outcome.cases)) == (30, 40)
    assert not outcome.passed
    assert outcome.failing == [i for i, (text,) in enumerate(outcome.cases.inputs) if " " in text]
    first = outcome.failing[0]
    (text,) = outcome.cases.inputs[first]
    assert outcome.answer(first) == (text, len(text))
    assert outcome.expected(first) == (text.replace(" ", "\n"), len(text) - text.count(" "))
    assert outcome.total == outcome.errors.sum() > 0


def test_scores_repeat_with_their_seed() -> None:
    problem = problems.load("smallest")
    program = Program("(in1 print_integer)")
    assert score(problem, program, seed=4).errors.tolist() == score(problem, program, seed=4).errors.tolist()
    assert score(problem, program, seed=4).cases.inputs != score(problem, program, seed=5).cases.inputs


def test_a_problem_without_fixed_cases_needs_fresh_ones() -> None:
    with pytest.raises(ValueError, match="n_random_cases must be at least 1, because median has no fixed cases"):
        score(problems.load("median"), Program("()"), n_random_cases=0)
