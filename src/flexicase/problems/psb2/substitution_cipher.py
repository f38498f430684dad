"""Substitution Cipher: from one alphabet to another."""

import string as letters

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import integer, shuffled, text


def answer(message: str, to: str, of: str) -> str:
    """Each letter of the message that the first alphabet has, replaced."""
    table = dict(zip(of, to, strict=False))
    return "".join(table.get(letter, "") for letter in message)


def cipher(rng: Rng) -> Inputs:
    """Two alphabets of some letters and a message in the first one."""
    size = integer(rng, 1, 26)
    of, to = ("".join(shuffled(rng, letters.ascii_lowercase)[:size]) for _ in range(2))
    return text(rng, integer(rng, 0, 26), of), to, of


PROBLEM = suite_problem(
    name="substitution-cipher",
    description="Given a message and two alphabets, of which the message uses the second, replace each letter by the "
    "one at its place in the first.",
    answer=answer,
    sources=(fixed("substitution-cipher"), RandomCases(cipher, train=190, test=2000)),
    measures=(ErrorMeasure("string", "levenshtein", penalty=10_000),),
    stacks=("integer", "boolean", "exec", "char", "string"),
    constants=("", 0),
)
