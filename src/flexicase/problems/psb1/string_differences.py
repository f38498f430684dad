"""String Differences: where two strings differ."""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import chance, integer, pick, string
from flexicase.push import Char, RandomInteger, RandomString

NO_SPACE = "".join(map(chr, range(33, 127)))


def differences(first: str, second: str) -> list[str]:
    """The lines to print."""
    return [f"{i} {a} {b}" for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b]


def related(rng: Rng, least: int) -> Inputs:
    """A string and a changed, often shortened copy, in either order."""
    first = string(rng, RandomString(least, 10, ((1.0, NO_SPACE),)))
    second = "".join(pick(rng, NO_SPACE) if chance(rng, 0.4) else c for c in first)
    dropped = pick(rng, (0, 0, 0, 1, 1, integer(rng, 0, len(second))))
    second = second[: len(second) - dropped]
    return (second, first) if chance(rng, 0.5) else (first, second)


PROBLEM = suite_problem(
    name="string-differences",
    description="Given two strings without white space, print a line `index c1 c2` for each index below both lengths "
    "where they differ; no final newline.",
    answer=lambda first, second: "\n".join(differences(first, second)),
    sources=(
        fixed("string-differences"),
        RandomCases(lambda rng: related(rng, 2), train=170, test=0),
        RandomCases(lambda rng: related(rng, 1), train=0, test=2000),
    ),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure("output", "difference_lines", target=lambda inputs, _: len(differences(*inputs))),
    ),
    stacks=("integer", "boolean", "string", "char", "exec", "print"),
    constants=(*map(Char, " \n"), RandomInteger(-10, 10)),
    settings=suite_settings(max_points=4000, steps=2000),
)
