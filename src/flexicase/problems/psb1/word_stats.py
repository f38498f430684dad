"""Word Stats: lengths of words, number and length of sentences.

The text is read with the file instructions: the first input is the working copy that they consume, the second the
original that `file_begin` goes back to. Three of the four are registered for this problem besides being listed, so that
each is drawn twice as often as another instruction.
"""

from collections import Counter

import numpy as np

from flexicase.problems import Cases, ErrorMeasure, FixedCases, Problem, RandomCases
from flexicase.problems.files import read_carried
from flexicase.problems.psb1._suite import Inputs, Rng, rounded, suite_settings, tags
from flexicase.problems.random_inputs import integer, pick
from flexicase.push import Char, RandomInteger, Symbol, to_text

ENDS = ".!?"
#: What a random text is made of; the probabilities of all but the last are drawn anew for each character.
CHARACTERS = ("\t", "\n", " ", ENDS, "".join(map(chr, range(33, 127))))
LEAST = np.array([0.01, 0.02, 0.05, 0.01])
MOST = np.array([0.03, 0.07, 0.35, 0.20])


def sentences(given: str) -> int:
    """The number of sentences."""
    return sum(c in ENDS for c in given)


def average(given: str) -> float:
    """Words per sentence, rounded to 10 decimals."""
    return rounded(len(given.split()) / sentences(given), 10)


def answer(given: str, _original: str) -> str:
    """The lines to print."""
    lengths = Counter(map(len, given.split()))
    lines = [f"words of length {k}: {lengths[k]}" for k in range(1, max(lengths) + 1)]
    lines.append(f"number of sentences: {sentences(given)}")
    lines.append(f"average sentence length: {to_text(average(given))}")
    return "\n".join(lines)


def passage(rng: Rng) -> Inputs:
    """A text with at least one sentence."""
    size = integer(rng, 1, 100)
    probabilities = LEAST + (MOST - LEAST) * rng.random((size, len(LEAST)))
    kinds = (rng.random((size, 1)) >= np.cumsum(probabilities, axis=1)).sum(axis=1)
    characters = [pick(rng, CHARACTERS[kind]) for kind in kinds.tolist()]
    if not set(characters) & set(ENDS):
        characters[integer(rng, 0, size - 1)] = pick(rng, ENDS)
    return ("".join(characters),) * 2


def fixed_cases() -> Cases:
    """The fixed cases, with a working copy of each text."""
    carried = read_carried("word-stats")
    return Cases([(given, given) for (given,) in carried.inputs], carried.expected)


PROBLEM = Problem(
    name="word-stats",
    description="Given a text, print for k = 1 … length of its longest word `words of length k: count`, then "
    "`number of sentences: s`, then `average sentence length: a`, each on a line of its own, no final newline; words "
    "are separated by white space, sentences end with . ! or ?.",
    answer=answer,
    sources=(FixedCases(fixed_cases().inputs), RandomCases(passage, train=64, test=1000)),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure(
            "output",
            "integer_after",
            penalty=10_000,
            label="number of sentences: ",
            target=lambda inputs, _: sentences(inputs[0]),
        ),
        ErrorMeasure(
            "output",
            "decimal_after",
            penalty=10_000,
            decimals=4,
            label="average sentence length: ",
            target=lambda inputs, _: average(inputs[0]),
        ),
    ),
    stacks=(
        *("exec", "integer", "boolean", "float", "char", "string"),
        *("vector_integer", "vector_float", "vector_string", "print"),
    ),
    generators=(
        *map(Char, ".?! \t\n"),
        [],
        *("words of length ", ": ", "number of sentences: ", "average sentence length: "),
        RandomInteger(-100, 100),
        *tags("string", "char", "integer", "boolean", "exec"),
        *map(Symbol, ("file_readchar", "file_readline", "file_EOF", "file_begin")),
    ),
    extra_instructions=("file_readchar", "file_readline", "file_EOF"),
    settings=suite_settings(max_points=3200, steps=6000, error_threshold=0.02),
    carried_cases=fixed_cases,
)
