"""Solve Boolean: an expression from left to right."""

from itertools import product

from flexicase.problems.psb2._suite import ErrorMeasure, FixedCases, Inputs, RandomCases, Rng, suite_problem
from flexicase.problems.random_inputs import integer, pick
from flexicase.push import Char

SHORT = ("t", "f", *(f"{a}{operator}{b}" for operator, a, b in product("&|", "ft", "ft")))


def answer(expression: str) -> bool:
    """Its value, without precedence."""
    value = expression[0] == "t"
    for operator, term in zip(expression[1::2], expression[2::2], strict=True):
        value = (value and term == "t") if operator == "&" else (value or term == "t")
    return value


def expression(rng: Rng) -> Inputs:
    """Two to twenty terms."""
    return (pick(rng, "tf") + "".join(pick(rng, "&|") + pick(rng, "tf") for _ in range(integer(rng, 1, 19))),)


PROBLEM = suite_problem(
    name="solve-boolean",
    description="Given an expression of t, f, & and |, evaluate it from left to right and return the result.",
    answer=answer,
    sources=(FixedCases([(short,) for short in SHORT]), RandomCases(expression, train=190, test=2000)),
    measures=(ErrorMeasure("boolean", "mismatch"),),
    stacks=("integer", "boolean", "exec", "string", "char"),
    constants=(True, False, *map(Char, "tf&|")),
)
