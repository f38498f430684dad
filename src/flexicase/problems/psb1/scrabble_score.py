"""Scrabble Score: the values of the letters of a string."""

from __future__ import annotations

import string as letters

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import string
from flexicase.push.genome import RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol

POINTS = {1: "aeilnorstu", 2: "dg", 3: "bcmp", 4: "fhvwy", 5: "k", 8: "jx", 10: "qz"}
SCORES = {letter: points for points, group in POINTS.items() for letter in group}
#: The value of the character with each code from 0 to 126.
VALUES = [SCORES.get(chr(code).lower(), 0) for code in range(127)]

PROBLEM = Problem(
    name="scrabble-score",
    description="Return the sum of the Scrabble values of the letters in a string, whether upper or lower case.",
    answer=lambda given: sum(VALUES[ord(c)] for c in given),
    domains=(
        FixedCases(carried_inputs("scrabble-score")),
        FixedCases([(letter,) for letter in letters.ascii_uppercase], test=True),
        RandomCases(lambda rng: (string(rng, RandomString(2, 20)),), train=150, test=974),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1000),),
    stacks=("exec", "integer", "boolean", "string", "char", "vector_integer"),
    generators=(
        VALUES,
        RandomTag(("string", "char", "integer", "boolean", "vector_integer", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=4000, max_initial_genome=500, steps=2000),
    edge=carried_reader("scrabble-score"),
)
