"""Word Stats: lengths of words, number and length of sentences.

The text is read with the file instructions: the first input is the working copy that they consume, the second the
original that `file_begin` goes back to. Three of the four are registered for this problem besides being listed, so that
each is drawn twice as often as another instruction.
"""

from __future__ import annotations

from collections import Counter

from flexicase.problems import edge
from flexicase.problems.cases import Cases, Drawn, Fixed, Inputs
from flexicase.problems.decimals import float_text, rounded
from flexicase.problems.draws import Rng, integer, pick
from flexicase.problems.problem import Problem
from flexicase.problems.settings import Settings
from flexicase.push.generators import (
    RandomInteger,
    RandomTag,
    RandomTagged,
)
from flexicase.push.measures import Measure
from flexicase.push.values import Char, Symbol

ENDS = ".!?"


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
    lines.append(f"average sentence length: {float_text(average(given))}")
    return "\n".join(lines)


def character(rng: Rng) -> str:
    """A tab, newline, space, end of a sentence or other character, the probabilities drawn anew."""
    tab, newline, space, end = (
        low + (high - low) * rng.random() for low, high in ((0.01, 0.03), (0.02, 0.07), (0.05, 0.35), (0.01, 0.20))
    )
    place = rng.random()
    for probability, drawn in ((tab, "\t"), (newline, "\n"), (space, " "), (end, ENDS)):
        if place < probability:
            return pick(rng, drawn)
        place -= probability
    return chr(integer(rng, 33, 126))


def passage(rng: Rng) -> Inputs:
    """A text with at least one sentence."""
    characters = [character(rng) for _ in range(integer(rng, 1, 100))]
    if not set(characters) & set(ENDS):
        characters[integer(rng, 0, len(characters) - 1)] = pick(rng, ENDS)
    return ("".join(characters),) * 2


def edge_cases() -> Cases:
    """The fixed cases, with a working copy of each text."""
    carried = edge.read("word-stats")
    return Cases([(given, given) for (given,) in carried.inputs], carried.expected)


PROBLEM = Problem(
    name="word-stats",
    description="Given a text, print for k = 1 … length of its longest word `words of length k: count`, then "
    "`number of sentences: s`, then `average sentence length: a`, each on a line of its own, no final newline; words "
    "are separated by white space, sentences end with . ! or ?.",
    answer=answer,
    domains=(Fixed(edge_cases().inputs), Drawn(passage, train=64, test=1000)),
    measures=(
        Measure("output", "levenshtein"),
        Measure(
            "output",
            "integer_after",
            penalty=10_000,
            label="number of sentences: ",
            target=lambda inputs, _: sentences(inputs[0]),
        ),
        Measure(
            "output",
            "decimal_after",
            penalty=10_000,
            decimals=4,
            label="average sentence length: ",
            target=lambda inputs, _: average(inputs[0]),
        ),
    ),
    stacks=(
        "exec",
        "integer",
        "boolean",
        "float",
        "char",
        "string",
        "vector_integer",
        "vector_float",
        "vector_string",
        "print",
    ),
    generators=(
        Char("."),
        Char("?"),
        Char("!"),
        Char(" "),
        Char("\t"),
        Char("\n"),
        [],
        "words of length ",
        ": ",
        "number of sentences: ",
        "average sentence length: ",
        RandomInteger(-100, 100),
        RandomTag(("string", "char", "integer", "boolean", "exec")),
        RandomTagged(),
        Symbol("file_readchar"),
        Symbol("file_readline"),
        Symbol("file_EOF"),
        Symbol("file_begin"),
    ),
    extra_instructions=("file_readchar", "file_readline", "file_EOF"),
    settings=Settings(max_points=3200, max_initial_genome=400, steps=6000, error_threshold=0.02),
    edge=edge_cases,
)
