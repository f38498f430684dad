"""Fizz Buzz: words for the multiples of 3 and 5."""

from flexicase.problems.psb2._suite import ErrorMeasure, FixedCases, integer_cases, suite_problem

PROBLEM = suite_problem(
    name="fizz-buzz",
    description='Given an integer, return "Fizz" if 3 divides it, "Buzz" if 5 does, "FizzBuzz" if both do, else the '
    "integer as a string.",
    answer=lambda n: "Fizz" * (n % 3 == 0) + "Buzz" * (n % 5 == 0) or str(n),
    sources=(
        FixedCases([(n,) for n in (*range(1, 21), 49995, 49998, 49999, 50000)]),
        integer_cases(1, 1_000_000, train=176, test=2000),
    ),
    measures=(ErrorMeasure("string", "levenshtein", penalty=10_000),),
    stacks=("integer", "exec", "string", "boolean"),
    constants=("Fizz", "Buzz", "FizzBuzz", 0, 3, 5),
)
