"""Pig Latin: words with their first consonant moved to the end, and -ay."""

import string as letters

from flexicase.problems.psb1._suite import ErrorMeasure, fixed, string_cases, suite_problem, suite_settings
from flexicase.push import Char, RandomChar, RandomString

GROUPS = ((0.2, " "), (0.8, letters.ascii_lowercase))


def latin(word: str) -> str:
    """A word in pig Latin."""
    return word + "ay" if word[0] in "aeiou" else word[1:] + word[0] + "ay"


PROBLEM = suite_problem(
    name="pig-latin",
    description="Given lower-case words separated by single spaces, print each in pig Latin, separated by single "
    "spaces: a word that begins with a vowel gets `ay`, another one first moves its first letter to the end.",
    answer=lambda words: " ".join(map(latin, words.split())),
    sources=(fixed("pig-latin"), string_cases(RandomString(3, 50, GROUPS, words=True), train=167, test=1000)),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("string", "char", "integer", "boolean", "exec", "print"),
    constants=("ay", *map(Char, " aeiou"), "aeiou", RandomChar(), RandomString(0, 20, GROUPS, words=True)),
    settings=suite_settings(max_points=4000, steps=2000),
)
