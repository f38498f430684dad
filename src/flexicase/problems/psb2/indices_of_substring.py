"""Indices of Substring: everywhere that a target occurs."""

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import chance, integer, pick, text

PRINTABLE = "".join(map(chr, range(32, 127)))
#: Lengths of targets, each as often as it is listed.
LENGTHS = (1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 6)


def of_length(rng: Rng, least: int, most: int) -> Inputs:
    """A text in which the target occurs more or less often."""
    size = integer(rng, least, most)
    target = text(rng, pick(rng, LENGTHS), PRINTABLE)
    share = 0.8 * rng.random()
    pieces = (target if chance(rng, share) else pick(rng, PRINTABLE) for _ in range(size))
    return "".join(pieces)[:size], target


PROBLEM = suite_problem(
    name="indices-of-substring",
    title="Indices of Substring",
    description="Given a text and a target string, return the indices at which the target occurs in the text, overlaps "
    "included.",
    answer=lambda given, target: [i for i in range(len(given)) if given.startswith(target, i)],
    sources=(
        fixed("indices-of-substring"),
        RandomCases(lambda rng: of_length(rng, 1, 10), train=40, test=1000),
        RandomCases(lambda rng: of_length(rng, 11, 20), train=140, test=1000),
    ),
    measures=(ErrorMeasure("vector_integer", "levenshtein", penalty=1_000_000),),
    stacks=("vector_integer", "string", "char", "integer", "boolean", "exec"),
    constants=(0, 1, [], ""),
)
