"""How far an answer is from the right one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from flexicase import _native
from flexicase.checks import nearest
from flexicase.push.values import Value

#: Errors that the engine measures.
#:
#: Of values: ``mismatch`` (0 or 1), ``absolute`` (difference of numbers), ``rounded`` (the same, to some decimals),
#: ``levenshtein`` (edits between texts or vectors), ``vector_difference`` (sum of differences, lengths included),
#: ``rounded_answer`` (difference of the rounded answer, in single precision), ``rounded_text`` (edits of its text).
#:
#: Of what a text says: ``last_character`` (difference of character codes), ``letter`` (the same for the ``*`` of the
#: label), ``number`` (the text as a number), ``last_integer`` (its last word), ``integer_after`` and ``decimal_after``
#: (the number after the label), ``newlines`` (how many), ``difference_lines`` (how many lines such as ``3 a b``),
#: ``integer_lines`` (how many lines are integers, and how many are not), ``integer_line_values`` (what they say),
#: ``words_per_line`` (on all lines but the last, and on the last).
ErrorName = Literal[
    "mismatch",
    "absolute",
    "rounded",
    "levenshtein",
    "vector_difference",
    "rounded_answer",
    "rounded_text",
    "last_character",
    "letter",
    "number",
    "last_integer",
    "integer_after",
    "decimal_after",
    "newlines",
    "difference_lines",
    "integer_lines",
    "integer_line_values",
    "words_per_line",
]
#: The error of an answer, given the target; not called for runs without an answer.
CaseError = Callable[[Value, Value], float]
#: The target of a measure from the inputs and the right answer of a case.
Target = Callable[[Sequence[Value], Value], Value]

MOST_DECIMALS = 15


@dataclass(frozen=True)
class Measure:
    """One error of each case.

    Attributes:
        stack: Stack whose top is the answer; ``output`` for what was printed.
        error: Name of an error, or a function of an answer and its target.
        penalty: Error of a run without an answer, or one that says nothing.
        decimals: Decimals that rounding keeps.
        per_element: What ``vector_difference`` adds for each element too many or too few.
        label: ASCII text before the number (``integer_after``, ``decimal_after``), or the whole text (``letter``), with
            ``*`` for the letter that counts and ``?`` for any other.
        target: What the answer is compared with; the right answer if None.

    >>> Measure("integer", "absolute", penalty=1000)
    Measure(stack='integer', error='absolute', penalty=1000, ...)
    """

    stack: str
    error: ErrorName | CaseError = "absolute"
    penalty: float = 1.0
    decimals: int = 4
    per_element: float = 10_000.0
    label: str = ""
    target: Target | None = None

    def __post_init__(self) -> None:
        names = get_args(ErrorName)
        if isinstance(self.error, str) and self.error not in names:
            raise ValueError(
                f"error must be a function or the name of one, got {self.error!r}: no error is named so"
                f"{nearest(self.error, names)}"
            )
        if not isinstance(self.error, str) and not callable(self.error):
            raise TypeError(f"error must be a function or the name of one, got {self.error!r}")
        if not (math.isfinite(self.penalty) and self.penalty >= 0):
            raise ValueError(f"penalty must be finite and not negative, got {self.penalty}")
        if not 0 <= self.decimals <= MOST_DECIMALS:
            raise ValueError(f"decimals must be between 0 and {MOST_DECIMALS}, got {self.decimals}")
        if not self.label.isascii():
            raise ValueError(f"label must be ASCII text, got {self.label!r}")

    @property
    def is_native(self) -> bool:
        """Whether the engine measures it, on several threads."""
        return isinstance(self.error, str)

    def native(self) -> _native.PushQuestion:
        """The form that the engine reads."""
        name = self.error if isinstance(self.error, str) else "custom"
        return _native.PushQuestion(self.stack, name, self.penalty, self.per_element, self.decimals, self.label)
