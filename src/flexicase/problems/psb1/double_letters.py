"""Double Letters: letters twice, exclamation marks three times."""

import string as letters

from flexicase.problems.psb1._suite import ErrorMeasure, fixed, string_cases, suite_problem, suite_settings
from flexicase.push import Char, RandomString


def answer(given: str) -> str:
    """The text to print."""
    times = {"!": 3} | dict.fromkeys(letters.ascii_letters, 2)
    return "".join(c * times.get(c, 1) for c in given)


PROBLEM = suite_problem(
    name="double-letters",
    description="Print a string with every letter doubled and every `!` tripled.",
    answer=answer,
    sources=(fixed("double-letters"), string_cases(RandomString(1, 20), train=68, test=1000)),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    constants=(Char("!"),),
    settings=suite_settings(max_points=3200, steps=1600),
)
