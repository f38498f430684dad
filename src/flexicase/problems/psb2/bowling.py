"""Bowling: the score of a card."""

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import integer
from flexicase.push import Char, RandomInteger

PINS = {"X": 10, "/": 10, "-": 0, **{str(n): n for n in range(10)}}


def answer(card: str) -> int:
    """The sum of ten frames."""
    total = at = 0
    for _ in range(10):
        first, second, third = tuple((card[at : at + 3] + "---")[:3])
        if first == "X":
            total += 20 if third == "/" else 10 + PINS[second] + PINS[third]
            at += 1
        else:
            total += 10 + PINS[third] if second == "/" else PINS[first] + PINS[second]
            at += 2
    return total


def card(rng: Rng) -> Inputs:
    """Ten frames, and the rolls that the last one earns."""
    rolls: list[int] = []
    for _ in range(9):
        first = integer(rng, 0, 10)
        rolls += [first] if first == 10 else [first, integer(rng, 0, 10 - first)]
    first = integer(rng, 0, 10)
    second, third, fourth = integer(rng, 0, 10 - first), integer(rng, 0, 10), integer(rng, 0, 10)
    if first == 10:
        rolls += [first, third, fourth]
    else:
        rolls += [first, second, third] if first + second == 10 else [first, second]
    return (written(rolls),)


def written(rolls: list[int]) -> str:
    """The rolls as characters; a spare after no pin at all keeps its 0."""
    text, at = "", 0
    while at < len(rolls):
        frame = rolls[at : at + (1 if rolls[at] == 10 else 2)]
        at += len(frame)
        spare = len(frame) == 2 and sum(frame) == 10
        text += f"{frame[0]}/" if spare else "".join("X" if n == 10 else str(n or "-") for n in frame)
    return text


PROBLEM = suite_problem(
    name="bowling",
    description="Given a complete score card of ten-pin bowling, one character for each roll (X strike, / spare, - no "
    "pin), return the score.",
    answer=answer,
    sources=(fixed("bowling"), RandomCases(card, train=179, test=2000)),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("integer", "exec", "string", "char", "boolean"),
    extra_instructions=("string_bowling_atoi",),
    constants=(*map(Char, "-X/123456789"), 10, RandomInteger(-10, 9)),
)
