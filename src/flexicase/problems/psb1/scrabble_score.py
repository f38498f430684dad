"""Scrabble Score: the values of the letters of a string."""

import string as letters

from flexicase.problems.psb1._suite import ErrorMeasure, FixedCases, fixed, string_cases, suite_problem, suite_settings
from flexicase.push import RandomString

POINTS = {1: "aeilnorstu", 2: "dg", 3: "bcmp", 4: "fhvwy", 5: "k", 8: "jx", 10: "qz"}
SCORES = {letter: points for points, group in POINTS.items() for letter in group}
#: The value of the character with each code from 0 to 126.
VALUES = [SCORES.get(chr(code).lower(), 0) for code in range(127)]

PROBLEM = suite_problem(
    name="scrabble-score",
    description="Return the sum of the Scrabble values of the letters in a string, whether upper or lower case.",
    answer=lambda given: sum(VALUES[ord(c)] for c in given),
    sources=(
        fixed("scrabble-score"),
        FixedCases([(letter,) for letter in letters.ascii_uppercase], test=True),
        string_cases(RandomString(2, 20), train=150, test=974),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1000),),
    stacks=("string", "char", "integer", "boolean", "vector_integer", "exec"),
    constants=(VALUES,),
    settings=suite_settings(max_points=4000, steps=2000),
)
