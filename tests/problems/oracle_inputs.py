"""Fresh inputs of the problems, drawn as their descriptions say, apart from the package's own generators."""

from __future__ import annotations

import string
from collections.abc import Callable
from random import Random
from typing import Any

Inputs = tuple[Any, ...]
INPUTS: dict[str, Callable[[Random], Inputs]] = {}
VISIBLE = "".join(map(chr, range(33, 127)))
PRINTABLE = " " + VISIBLE
ANY = "\n\t" + PRINTABLE


def inputs(problem: Callable[[Random], Inputs]) -> Callable[[Random], Inputs]:
    """Keep a function under its problem's name."""
    INPUTS[problem.__name__.replace("_", "-")] = problem
    return problem


def text(rng: Random, length: int, characters: str = ANY) -> str:
    return "".join(rng.choices(characters, k=length))


def spaced_text(rng: Random, length: int, characters: str) -> str:
    """Each character a space with probability 0.2."""
    return "".join(" " if rng.random() < 0.2 else rng.choice(characters) for _ in range(length))


def integers(rng: Random, length: int, least: int = -1000, most: int = 1000) -> list[int]:
    return [rng.randint(least, most) for _ in range(length)]


def share(rng: Random) -> float:
    """A probability: nought, one, or anything between in nine of ten cases."""
    return rng.choice([0.0, 1.0]) if rng.random() < 0.1 else rng.random()


def equal_but_one(rng: Random, count: int) -> list[int]:
    values = [rng.randint(-100, 100)] * (count - 1) + [rng.randint(-100, 100)]
    rng.shuffle(values)
    return values


def few_integers(rng: Random, count: int) -> Inputs:
    """Independent, all but one equal, or all equal."""
    kind = rng.random()
    if kind < 0.6:
        return tuple(integers(rng, count, -100, 100))
    return tuple(equal_but_one(rng, count)) if kind < 0.9 else (rng.randint(-100, 100),) * count


@inputs
def simple_regression(rng: Random) -> Inputs:
    return (rng.randint(-1000, 1000),)


@inputs
def mirror_image(rng: Random) -> Inputs:
    first = integers(rng, rng.randint(1, 50))
    kind = rng.choices(["true", "equal", "close", "random"], [5, 1, 2, 2])[0]
    second = {"equal": first[:], "random": integers(rng, len(first))}.get(kind, first[::-1])
    if kind == "close":
        for _ in range(rng.randint(1, 5)):
            second[rng.randrange(len(second))] = rng.randint(-1000, 1000)
    return first, second


@inputs
def last_index_of_zero(rng: Random) -> Inputs:
    vector = [0] * (1 + rng.randint(0, 5)) + integers(rng, rng.randint(0, 44), -50, 50)
    rng.shuffle(vector)
    return (vector,)


@inputs
def checksum(rng: Random) -> Inputs:
    return (text(rng, rng.choice([2, 3, rng.randint(2, 50)])),)


@inputs
def collatz_numbers(rng: Random) -> Inputs:
    return (rng.randint(11, 9998),)


@inputs
def compare_string_lengths(rng: Random) -> Inputs:
    kind = rng.random()
    if kind < 0.1:
        return (text(rng, rng.randint(0, 49)),) * 3
    three = [text(rng, rng.randint(0, 49)) for _ in range(3)]
    return tuple(sorted(three, key=len) if kind < 0.3 else three)


@inputs
def count_odds(rng: Random) -> Inputs:
    odd = share(rng)
    length = rng.randint(1, 50)
    return (
        [rng.randrange(-999, 1000, 2) if rng.random() < odd else rng.randrange(-1000, 1001, 2) for _ in range(length)],
    )


@inputs
def digits(rng: Random) -> Inputs:
    count = rng.randint(1, 10)
    return (rng.choice([-1, 1]) * rng.randint(10 ** (count - 1) if count > 1 else 0, 10**count - 1),)


@inputs
def double_letters(rng: Random) -> Inputs:
    return (text(rng, rng.randint(1, 20)),)


@inputs
def even_squares(rng: Random) -> Inputs:
    return (rng.randint(20, 9999),)


@inputs
def for_loop_index(rng: Random) -> Inputs:
    step = rng.randint(1, 10)
    if rng.random() < 0.1:
        return -1 - rng.randrange(10 * step), rng.randrange(10 * step), step
    start = rng.randint(-500, 499)
    return start, start + 1 + rng.randrange(20 * step), step


@inputs
def grade(rng: Random) -> Inputs:
    return (*sorted(rng.sample(range(101), 4), reverse=True), rng.randint(0, 100))


@inputs
def median(rng: Random) -> Inputs:
    return few_integers(rng, 3)


@inputs
def negative_to_zero(rng: Random) -> Inputs:
    negative = share(rng)
    length = rng.randint(1, 50)
    return ([rng.randint(-1000, -1) if rng.random() < negative else rng.randint(0, 1000) for _ in range(length)],)


@inputs
def number_io(rng: Random) -> Inputs:
    return 200 * rng.random() - 100, rng.randint(-100, 100)


@inputs
def pig_latin(rng: Random) -> Inputs:
    return (" ".join(spaced_text(rng, rng.randint(3, 50), string.ascii_lowercase).split()),)


@inputs
def replace_space_with_newline(rng: Random) -> Inputs:
    return (spaced_text(rng, rng.randint(2, 20), PRINTABLE),)


@inputs
def scrabble_score(rng: Random) -> Inputs:
    return (text(rng, rng.randint(2, 20)),) if rng.random() < 0.9 else (rng.choice(string.ascii_letters),)


@inputs
def small_or_large(rng: Random) -> Inputs:
    near = rng.choice([1000, 2000]) + rng.randint(-20, 19)
    return (near,) if rng.random() < 0.1 else (rng.randint(-10000, 10000),)


@inputs
def smallest(rng: Random) -> Inputs:
    return few_integers(rng, 4)


@inputs
def string_differences(rng: Random) -> Inputs:
    first = text(rng, rng.randint(rng.choice([1, 2]), 10), VISIBLE)
    second = "".join(rng.choice(VISIBLE) if rng.random() < 0.4 else c for c in first)
    second = second[: len(second) - rng.choice([0, 0, 0, 1, 1, rng.randint(0, len(second))])]
    return (first, second) if rng.random() < 0.5 else (second, first)


@inputs
def string_lengths_backwards(rng: Random) -> Inputs:
    return ([text(rng, rng.randint(0, 50)) for _ in range(rng.randint(1, 50))],)


@inputs
def sum_of_squares(rng: Random) -> Inputs:
    return (rng.randint(1, 100),)


@inputs
def super_anagrams(rng: Random) -> Inputs:
    s = text(rng, rng.randint(1, 20), string.ascii_lowercase)
    t = [rng.choice(string.ascii_lowercase) if rng.random() < 0.1 else c for c in s]
    rng.shuffle(t)
    shorter = "".join(t[rng.randrange(len(s)) :])
    return (s, shorter) if rng.random() < 0.2 else (shorter, s)


@inputs
def syllables(rng: Random) -> Inputs:
    others = "".join(map(chr, [*range(32, 65), *range(91, 127)]))
    return ("".join(rng.choice("aeiouy" if rng.random() < 0.2 else others) for _ in range(rng.randint(1, 20))),)


@inputs
def vector_average(rng: Random) -> Inputs:
    length = rng.choice([1, 2, rng.randint(3, 5), 50, rng.randint(1, 50)])
    return ([2000 * rng.random() - 1000 for _ in range(length)],)


@inputs
def vectors_summed(rng: Random) -> Inputs:
    length = 50 if rng.random() < 0.1 else rng.randint(1, 50)
    return integers(rng, length), integers(rng, length)


@inputs
def wallis_pi(rng: Random) -> Inputs:
    return (rng.randint(1, 200),)


def stats_character(rng: Random) -> str:
    chances = {"\t": (0.01, 0.03), "\n": (0.02, 0.07), " ": (0.05, 0.35), "end": (0.01, 0.20)}
    weights = [rng.uniform(*bounds) for bounds in chances.values()]
    kind = rng.choices([*chances, "other"], [*weights, 1 - sum(weights)])[0]
    return rng.choice(".!?") if kind == "end" else rng.choice(VISIBLE) if kind == "other" else kind


@inputs
def word_stats(rng: Random) -> Inputs:
    characters = [stats_character(rng) for _ in range(rng.randint(1, 100))]
    if not set(".!?") & set(characters):
        characters[rng.randrange(len(characters))] = rng.choice(".!?")
    return ("".join(characters),) * 2  # what the file instructions consume, and the whole text


@inputs
def x_word_lines(rng: Random) -> Inputs:
    kinds = rng.choices([" ", "\n", ""], [0.15, 0.05, 0.8], k=rng.randint(1, 100))
    words = rng.choices(range(1, 11), [3] * 3 + [2] * 2 + [1] * 5)[0]
    return "".join(kind or rng.choice(PRINTABLE) for kind in kinds), words
