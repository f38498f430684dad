"""Find Pair: two elements with a given sum."""

from itertools import product

from flexicase.problems.psb2._suite import Inputs, RandomCases, Rng, fixed, slots, suite_problem
from flexicase.problems.random_inputs import integer, integers, pick
from flexicase.push import RandomInteger


def pairs(vector: list[int], target: int) -> list[tuple[int, int]]:
    """All ordered pairs with the sum, an element with itself included."""
    return [(x, y) for x, y in product(vector, repeat=2) if x + y == target]


def of_length(rng: Rng, size: int) -> Inputs:
    """Different integers and the sum of two of them that no other two have."""
    while True:
        vector = list(dict.fromkeys(integers(rng, size, -10000, 10000)))
        first, second = pick(rng, vector), pick(rng, vector)
        if first != second and len(pairs(vector, first + second)) <= 2:
            return vector, first + second


PROBLEM = suite_problem(
    name="find-pair",
    description="Given a vector of different integers and a target, return the two elements that add up to the target, "
    "in their order.",
    answer=lambda vector, target: pairs(vector, target)[0],
    sources=(
        fixed("find-pair"),
        RandomCases(lambda rng: of_length(rng, 4), train=25),
        RandomCases(lambda rng: of_length(rng, 5), train=25),
        RandomCases(lambda rng: of_length(rng, integer(rng, 2, 20)), train=125, test=2000),
    ),
    measures=slots(2, "absolute", penalty=1_000_000),
    stacks=("integer", "vector_integer", "boolean", "exec"),
    extra_instructions=("output_integer1", "output_integer2"),
    constants=(0, 1, 2, -1, RandomInteger(-1000, 1000)),
)
