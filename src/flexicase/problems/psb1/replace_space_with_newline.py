"""Replace Space with Newline: print one, count the other characters."""

from flexicase.problems.psb1._suite import ErrorMeasure, fixed, string_cases, suite_problem, suite_settings
from flexicase.push import Char, RandomChar, RandomString

GROUPS = ((0.2, " "), (0.8, "".join(map(chr, range(32, 127)))))


def answer(given: str) -> tuple[str, int]:
    """The text to print and the number to return."""
    return given.replace(" ", "\n"), sum(c != " " for c in given)


PROBLEM = suite_problem(
    name="replace-space-with-newline",
    title="Replace Space with Newline",
    description="Print a string with spaces turned into newlines, and return the number of its other characters.",
    answer=answer,
    sources=(fixed("replace-space-with-newline"), string_cases(RandomString(2, 20, GROUPS), train=70, test=1000)),
    measures=(
        ErrorMeasure("output", "levenshtein", target=lambda _, expected: expected[0]),
        ErrorMeasure("integer", "absolute", penalty=1000, target=lambda _, expected: expected[1]),
    ),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    constants=(*map(Char, " \n"), RandomChar(), RandomString(0, 20, GROUPS)),
    settings=suite_settings(max_points=3200, steps=1600),
)
