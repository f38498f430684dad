"""Middle Character: the one or two in the middle of a string."""

from flexicase.problems.psb2._suite import ErrorMeasure, fixed, string_cases, suite_problem
from flexicase.push import RandomInteger, RandomString

STRINGS = RandomString(1, 100, ((1.0, "".join(map(chr, range(32, 127)))),))

PROBLEM = suite_problem(
    name="middle-character",
    description="Given a string, return its middle character as a string, or the middle two if its length is even.",
    answer=lambda given: given[(len(given) - 1) // 2 : len(given) // 2 + 1],
    sources=(fixed("middle-character"), string_cases(STRINGS, train=185, test=2000)),
    measures=(ErrorMeasure("string", "levenshtein", penalty=1000),),
    stacks=("string", "char", "integer", "boolean", "exec"),
    constants=(0, 1, 2, "", RandomInteger(-100, 100)),
)
