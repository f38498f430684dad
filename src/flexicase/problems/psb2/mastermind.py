"""Mastermind: white and black pegs for a guess."""

from collections import Counter

from flexicase.problems.psb2._suite import Inputs, RandomCases, Rng, fixed, slots, suite_problem
from flexicase.problems.random_inputs import text
from flexicase.push import Char

COLOURS = "BRWYOG"


def answer(guess: str, code: str) -> tuple[int, int]:
    """White pegs, then black pegs."""
    black = sum(a == b for a, b in zip(guess, code, strict=True))
    return (Counter(guess) & Counter(code)).total() - black, black


def right(rng: Rng) -> Inputs:
    """The guess is the code."""
    return (text(rng, 4, COLOURS),) * 2


PROBLEM = suite_problem(
    name="mastermind",
    description="Given a guess and a code of four colours each, return the number of white pegs (right colour, wrong "
    "place) and of black pegs (right colour and place).",
    answer=answer,
    sources=(
        fixed("mastermind"),
        RandomCases(right, train=10, test=200),
        RandomCases(lambda rng: (text(rng, 4, COLOURS), text(rng, 4, COLOURS)), train=170, test=1800),
    ),
    measures=slots(2, "absolute", penalty=1_000_000),
    stacks=("integer", "exec", "boolean", "string", "char"),
    extra_instructions=("output_integer1", "output_integer2"),
    constants=(0, 1, *map(Char, COLOURS)),
)
