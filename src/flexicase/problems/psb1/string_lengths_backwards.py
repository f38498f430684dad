"""String Lengths Backwards: the lengths of strings, the last string first."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, integer, string
from flexicase.push.genome import RandomInteger, RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def some_strings(rng: Rng) -> Inputs:
    """A vector of strings."""
    return ([string(rng, RandomString(0, 50)) for _ in range(integer(rng, 1, 50))],)


PROBLEM = Problem(
    name="string-lengths-backwards",
    description="Given a vector of strings, print their lengths one per line, last string first, no final newline.",
    answer=lambda strings: "\n".join(str(len(given)) for given in reversed(strings)),
    domains=(FixedCases(carried_inputs("string-lengths-backwards")), RandomCases(some_strings, train=90, test=1000)),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "vector_string", "print"),
    generators=(
        RandomInteger(-100, 100),
        RandomTag(("string", "vector_string", "integer", "boolean", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=1200, max_initial_genome=150, steps=600),
    edge=carried_reader("string-lengths-backwards"),
)
