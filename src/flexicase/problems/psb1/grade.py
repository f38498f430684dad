"""Grade: the letter that a score earns."""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer, integers
from flexicase.push import RandomInteger


def letter(a: int, b: int, c: int, d: int, score: int) -> str:
    """The grade of a score, given the least scores of A, B, C and D."""
    return next((name for name, least in zip("ABCD", (a, b, c, d), strict=True) if score >= least), "F")


def thresholds_and_score(rng: Rng) -> Inputs:
    """Four different thresholds, descending, and a score."""
    thresholds: list[int] = []
    while len(set(thresholds)) < 4:
        thresholds = integers(rng, 4, 0, 100)
    return (*sorted(thresholds, reverse=True), integer(rng, 0, 100))


PROBLEM = suite_problem(
    name="grade",
    description="Given the least scores of the grades A, B, C and D, descending, and a score, print "
    "`Student has a X grade.`, where X is A, B, C, D or F.",
    answer=lambda *inputs: f"Student has a {letter(*inputs)} grade.",
    sources=(fixed("grade"), RandomCases(thresholds_and_score, train=159, test=2000)),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure(
            "output", "letter", penalty=1000, label="Student has a * grade?", target=lambda inputs, _: letter(*inputs)
        ),
    ),
    stacks=("exec", "integer", "string", "boolean", "print"),
    constants=("Student has a ", " grade.", *"ABCDF", RandomInteger(0, 100)),
    settings=suite_settings(max_points=1600, steps=800),
)
