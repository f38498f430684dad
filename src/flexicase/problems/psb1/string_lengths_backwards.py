"""String Lengths Backwards: the lengths of strings, the last string first."""

from flexicase.problems import ErrorMeasure, RandomCases
from flexicase.problems.psb1._suite import Inputs, Rng, fixed, inputs, suite_problem, suite_settings, tags
from flexicase.problems.random_inputs import integer, string
from flexicase.push import RandomInteger, RandomString


def some_strings(rng: Rng) -> Inputs:
    """A vector of strings."""
    return ([string(rng, RandomString(0, 50)) for _ in range(integer(rng, 1, 50))],)


PROBLEM = suite_problem(
    name="string-lengths-backwards",
    description="Given a vector of strings, print their lengths one per line, last string first, no final newline.",
    answer=lambda strings: "\n".join(str(len(given)) for given in reversed(strings)),
    sources=(fixed("string-lengths-backwards"), RandomCases(some_strings, train=90, test=1000)),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "vector_string", "print"),
    generators=(RandomInteger(-100, 100), *tags("string", "vector_string", "integer", "boolean", "exec"), *inputs(1)),
    settings=suite_settings(max_points=1200, steps=600),
)
