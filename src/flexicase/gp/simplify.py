"""Automatic simplification: remove what a program does not need."""

from __future__ import annotations

import numpy as np

from flexicase import _native
from flexicase._checks import check_count
from flexicase.push.evaluator import Evaluator
from flexicase.push.program import Program, check_type
from flexicase.rng import Key, key_from_seed


def simplify(program: Program, evaluator: Evaluator, steps: int = 5000, key: Key | None = None) -> Program:
    """Make a smaller program with the same errors.

    Each step deletes one or two random points (four times in five) or one pair of parentheses, and keeps the result
    if no error changes. Removing parentheses also replaces a vector by its elements.

    Args:
        program: The program to simplify.
        evaluator: Evaluator of the cases whose errors must not change.
        steps: Number of attempts.
        key: Random bits; the same ones each time if None.

    >>> evaluator = Evaluator([[1], [2]], [2, 4], stack="integer")
    >>> print(simplify(Program("(5 in1 (in1 true) integer_add)"), evaluator, steps=200))
    (in1 in1 integer_add)
    """
    check_type(program, "program", Program)
    check_type(evaluator, "evaluator", Evaluator)
    check_count(steps, "steps")
    key = key_from_seed(0) if key is None else check_type(key, "key", Key)
    errors = evaluator.errors([program], 1)
    rejected: set[str] = set()
    for step in range(steps):
        candidate = Program.from_native(_native.gp_smaller(program.native, key.k0, key.k1, step))
        text = str(candidate)
        if text in rejected:
            continue
        if np.array_equal(evaluator.errors([candidate], 1), errors):
            program = candidate
        else:
            rejected.add(text)
    return program
