"""Syllables: how many vowels has a string?"""

from flexicase.problems.psb1._suite import ErrorMeasure, fixed, string_cases, suite_problem, suite_settings
from flexicase.push import Char, RandomChar, RandomString

VOWELS = "aeiouy"
GROUPS = ((0.2, VOWELS), (0.8, "".join(map(chr, (*range(32, 65), *range(91, 127))))))


def count(given: str) -> int:
    """The number of vowels."""
    return sum(c in VOWELS for c in given)


PROBLEM = suite_problem(
    name="syllables",
    description="Print `The number of syllables is X`, where X is the number of characters a e i o u y in a string.",
    answer=lambda given: f"The number of syllables is {count(given)}",
    sources=(fixed("syllables"), string_cases(RandomString(1, 20, GROUPS), train=83, test=1000)),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure("output", "last_integer", penalty=1000, target=lambda inputs, _: count(*inputs)),
    ),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    constants=("The number of syllables is ", *map(Char, VOWELS), VOWELS, RandomChar(), RandomString(0, 20, GROUPS)),
    settings=suite_settings(max_points=3200, steps=1600),
)
