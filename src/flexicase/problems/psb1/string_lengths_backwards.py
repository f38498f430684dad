"""String Lengths Backwards: the lengths of strings, the last string first."""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
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
    stacks=("string", "vector_string", "integer", "boolean", "exec", "print"),
    constants=(RandomInteger(-100, 100),),
    settings=suite_settings(max_points=1200, steps=600),
)
