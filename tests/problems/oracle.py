"""Right answers of the problems in plain Python: a second reading of their descriptions, apart from the package's.

Each function gives the right answer of a problem by stack; ``output`` stands for what is printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

Answer = dict[str, Any]
ANSWERS: dict[str, Callable[..., Answer]] = {}
LETTER_VALUES = {
    1: "aeioulnstr",
    2: "dg",
    3: "bcmp",
    4: "fhvwy",
    5: "k",
    8: "jx",
    10: "qz",
}


def answers(problem: Callable[..., Answer]) -> Callable[..., Answer]:
    """Keep a function under its problem's name."""
    ANSWERS[problem.__name__.replace("_", "-")] = problem
    return problem


def rounded(value: float, decimals: int) -> float:
    """The nearest multiple of a power of ten, ties upwards."""
    return math.floor(Fraction(value) * 10**decimals + Fraction(1, 2)) / 10**decimals


def float_text(value: float) -> str:
    """A float as text: shortest digits, an exponent below 0.001 and from 10^7 on."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    mantissa, exponent = f"{Decimal(repr(value)).normalize():E}".split("E")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}E{int(exponent)}"


def printed_float(value: float) -> str:
    """A float as Push prints it, for magnitudes below 10^5."""
    return float_text(math.floor(value * 1e10 + 0.5) / 1e10)


def lines(parts: Iterable[object]) -> str:
    return "\n".join(map(str, parts))


@answers
def simple_regression(x: int) -> Answer:
    return {"integer": x**3 - 2 * x**2 - x}


@answers
def mirror_image(first: list[int], second: list[int]) -> Answer:
    return {"boolean": first == second[::-1]}


@answers
def last_index_of_zero(vector: list[int]) -> Answer:
    return {"integer": max(i for i, x in enumerate(vector) if x == 0)}


@answers
def checksum(text: str) -> Answer:
    return {"output": "Check sum is " + chr(sum(map(ord, text)) % 64 + 32)}


@answers
def collatz_numbers(n: int) -> Answer:
    terms = 1
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        terms += 1
    return {"integer": terms}


@answers
def compare_string_lengths(a: str, b: str, c: str) -> Answer:
    return {"boolean": len(a) < len(b) < len(c)}


@answers
def count_odds(vector: list[int]) -> Answer:
    return {"integer": sum(x % 2 for x in vector)}


@answers
def digits(x: int) -> Answer:
    parts = list(str(abs(x))[::-1])
    if x < 0:
        parts[-1] = "-" + parts[-1]
    return {"output": lines(parts)}


@answers
def double_letters(text: str) -> Answer:
    return {"output": "".join(c * (3 if c == "!" else 2 if c.isalpha() else 1) for c in text)}


@answers
def even_squares(n: int) -> Answer:
    return {"output": lines([k * k for k in range(2, n, 2) if k * k < n])}


@answers
def for_loop_index(start: int, finish: int, step: int) -> Answer:
    return {"output": lines(range(start, finish, step))}


@answers
def grade(a: int, b: int, c: int, d: int, score: int) -> Answer:
    letter = next((letter for letter, least in zip("ABCD", (a, b, c, d), strict=True) if score >= least), "F")
    return {"output": f"Student has a {letter} grade."}


@answers
def median(a: int, b: int, c: int) -> Answer:
    return {"output": str(sorted((a, b, c))[1])}


@answers
def negative_to_zero(vector: list[int]) -> Answer:
    return {"vector_integer": [max(0, x) for x in vector]}


@answers
def number_io(x: float, n: int) -> Answer:
    return {"output": printed_float(x + n)}


@answers
def pig_latin(text: str) -> Answer:
    words = (word if word[0] in "aeiou" else word[1:] + word[0] for word in text.split())
    return {"output": " ".join(word + "ay" for word in words)}


@answers
def replace_space_with_newline(text: str) -> Answer:
    return {"output": text.replace(" ", "\n"), "integer": len(text) - text.count(" ")}


@answers
def scrabble_score(text: str) -> Answer:
    return {"integer": sum(value for c in text.lower() for value, letters in LETTER_VALUES.items() if c in letters)}


@answers
def small_or_large(n: int) -> Answer:
    return {"output": "small" if n < 1000 else "large" if n >= 2000 else ""}


@answers
def smallest(a: int, b: int, c: int, d: int) -> Answer:
    return {"output": str(min(a, b, c, d))}


@answers
def string_differences(first: str, second: str) -> Answer:
    pairs = enumerate(zip(first, second, strict=False))
    return {"output": lines([f"{i} {a} {b}" for i, (a, b) in pairs if a != b])}


@answers
def string_lengths_backwards(strings: list[str]) -> Answer:
    return {"output": lines([len(text) for text in reversed(strings)])}


@answers
def sum_of_squares(n: int) -> Answer:
    return {"integer": sum(k * k for k in range(1, n + 1))}


@answers
def super_anagrams(x: str, y: str) -> Answer:
    return {"boolean": all(x.count(c) <= y.count(c) for c in x)}


@answers
def syllables(text: str) -> Answer:
    return {"output": f"The number of syllables is {sum(c in 'aeiouy' for c in text)}"}


@answers
def vector_average(vector: list[float]) -> Answer:
    return {"float": math.fsum(vector) / len(vector)}


@answers
def vectors_summed(first: list[int], second: list[int]) -> Answer:
    return {"vector_integer": [a + b for a, b in zip(first, second, strict=True)]}


@answers
def wallis_pi(n: int) -> Answer:
    factors = (Fraction(k + 1, k + 2) if k % 2 else Fraction(k + 2, k + 1) for k in range(1, n + 1))
    return {"float": rounded(float(math.prod(factors)), 5)}


@answers
def word_stats(text: str, _: str) -> Answer:
    lengths = [len(word) for word in text.split()]
    sentences = sum(c in ".!?" for c in text)
    counts = [f"words of length {k}: {lengths.count(k)}" for k in range(1, max(lengths) + 1)]
    average = printed_float(len(lengths) / sentences)
    return {"output": lines([*counts, f"number of sentences: {sentences}", f"average sentence length: {average}"])}


@answers
def x_word_lines(text: str, x: int) -> Answer:
    words = text.split()
    return {"output": lines([" ".join(words[i : i + x]) for i in range(0, len(words), x)])}


def right(name: str, answer: Answer, found: Answer) -> bool:
    """Whether what a program left on the stacks is the right answer of a problem.

    Args:
        name: The problem.
        answer: The right answer.
        found: What was found on the same stacks; None for nothing.
    """
    if not all(isinstance(found[stack], type(value)) for stack, value in answer.items()):
        return False
    if name == "vector-average":
        return rounded(abs(found["float"] - answer["float"]), 4) == 0
    if name == "wallis-pi":
        return rounded(found["float"], 5) == answer["float"]
    return all(found[stack] == value for stack, value in answer.items())
