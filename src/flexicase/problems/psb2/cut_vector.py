"""Cut Vector: two parts whose sums differ least."""

from flexicase.problems.psb2._suite import Inputs, RandomCases, Rng, fixed, slots, suite_problem
from flexicase.problems.random_inputs import integer, integers


def answer(vector: list[int]) -> tuple[list[int], list[int]]:
    """Both parts: at the first cut with equal sums, or else at the last one of the best."""
    if len(vector) == 1:
        return vector, []
    differences = {cut: abs(sum(vector[:cut]) - sum(vector[cut:])) for cut in range(1, len(vector))}
    least = min(differences.values())
    best = [cut for cut, difference in differences.items() if difference == least]
    cut = best[-1] if least else best[0]
    return vector[:cut], vector[cut:]


def of_length(rng: Rng, least: int, most: int) -> Inputs:
    """A vector of positive integers."""
    return (integers(rng, integer(rng, least, most), 0, 10000),)


PROBLEM = suite_problem(
    name="cut-vector",
    description="Given a vector of integers, cut it in two where the sums of the parts differ least, and return both "
    "parts.",
    answer=answer,
    sources=(
        fixed("cut-vector", 0, 5),
        RandomCases(lambda rng: of_length(rng, 1, 1), train=20, test=250),
        fixed("cut-vector", 5),
        RandomCases(lambda rng: of_length(rng, 2, 2), train=20, test=250),
        RandomCases(lambda rng: of_length(rng, 3, 5), train=50, test=500),
        RandomCases(lambda rng: of_length(rng, 20, 20), train=5, test=50),
        RandomCases(lambda rng: of_length(rng, 1, 20), train=95, test=950),
    ),
    measures=slots(2, "vector_difference", penalty=1_000_000, per_element=10_000),
    stacks=("vector_integer", "integer", "boolean", "exec"),
    extra_instructions=("output_vector_integer1", "output_vector_integer2"),
    constants=(0, []),
)
