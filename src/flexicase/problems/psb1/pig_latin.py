"""Pig Latin: words with their first consonant moved to the end, and -ay."""

from __future__ import annotations

import string as letters

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import string
from flexicase.push.genome import RandomChar, RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Char, Symbol

GROUPS = ((0.2, " "), (0.8, letters.ascii_lowercase))


def latin(word: str) -> str:
    """A word in pig Latin."""
    return word + "ay" if word[0] in "aeiou" else word[1:] + word[0] + "ay"


PROBLEM = Problem(
    name="pig-latin",
    description="Given lower-case words separated by single spaces, print each in pig Latin, separated by single "
    "spaces: a word that begins with a vowel gets `ay`, another one first moves its first letter to the end.",
    answer=lambda words: " ".join(map(latin, words.split())),
    domains=(
        FixedCases(carried_inputs("pig-latin")),
        RandomCases(lambda rng: (string(rng, RandomString(3, 50, GROUPS, words=True)),), train=167, test=1000),
    ),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    generators=(
        "ay",
        Char(" "),
        Char("a"),
        Char("e"),
        Char("i"),
        Char("o"),
        Char("u"),
        "aeiou",
        RandomChar(),
        RandomString(0, 20, GROUPS, words=True),
        RandomTag(("string", "char", "integer", "boolean", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=4000, max_initial_genome=500, steps=2000),
    edge=carried_reader("pig-latin"),
)
