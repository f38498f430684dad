"""Double Letters: letters twice, exclamation marks three times."""

from __future__ import annotations

import string as letters

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import string
from flexicase.push.genome import RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Char, Symbol


def answer(given: str) -> str:
    """The text to print."""
    times = {"!": 3} | dict.fromkeys(letters.ascii_letters, 2)
    return "".join(c * times.get(c, 1) for c in given)


PROBLEM = Problem(
    name="double-letters",
    description="Print a string with every letter doubled and every `!` tripled.",
    answer=answer,
    domains=(
        FixedCases(carried_inputs("double-letters")),
        RandomCases(lambda rng: (string(rng, RandomString(1, 20)),), train=68, test=1000),
    ),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    generators=(
        Char("!"),
        RandomTag(("exec", "integer", "boolean", "string", "char")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=3200, max_initial_genome=400, steps=1600),
    edge=carried_reader("double-letters"),
)
