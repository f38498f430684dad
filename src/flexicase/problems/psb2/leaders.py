"""Leaders: elements that none to their right exceeds."""

from flexicase.problems.psb2._suite import ErrorMeasure, RandomCases, fixed, suite_problem
from flexicase.problems.random_inputs import integer, integers
from flexicase.push import RandomInteger, RandomVector

PROBLEM = suite_problem(
    name="leaders",
    description="Given a vector of positive integers, return those that are at least as large as every element to "
    "their right.",
    answer=lambda vector: [element for i, element in enumerate(vector) if element == max(vector[i:])],
    sources=(
        fixed("leaders"),
        RandomCases(lambda rng: (integers(rng, integer(rng, 1, 20), 0, 1000),), train=190, test=2000),
    ),
    measures=(ErrorMeasure("vector_integer", "vector_difference", penalty=1_000_000, per_element=1000),),
    stacks=("integer", "vector_integer", "exec", "boolean"),
    constants=([], RandomVector(0, 20, RandomInteger(0, 1000))),
)
