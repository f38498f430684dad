"""Error measures: how far an answer is from the right one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from flexicase import _native
from flexicase._checks import check_choice, check_count, check_not_negative, check_text, did_you_mean, shown
from flexicase.push.instructions import SLOTS, STACKS
from flexicase.push.program import Value

#: Error measures of the engine.
#:
#: Of values: ``mismatch`` (0 or 1), ``absolute`` (difference of numbers), ``rounded`` (the same, to some decimals),
#: ``levenshtein`` (edits between texts or vectors), ``vector_difference`` (sum of differences, lengths included),
#: ``rounded_answer`` (difference of the rounded answer, in single precision), ``rounded_text`` (edits of its text).
#:
#: Of a text: ``last_character`` (difference of character codes), ``letter`` (the same for the ``*`` of the
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

MAX_DECIMALS = 15


@dataclass(frozen=True)
class ErrorMeasure:
    """One error of each case.

    Attributes:
        stack: Stack whose top is the answer; ``output`` for the printed text, ``output1`` … ``output4`` for a slot.
        error: Name of an error measure, or a function of an answer and its target.
        penalty: Error of a run without an answer, or with one that cannot be read.
        decimals: Number of decimals that rounding keeps.
        per_element: Error that ``vector_difference`` adds for each missing or extra element.
        label: ASCII text before the number (``integer_after``, ``decimal_after``), or the whole text (``letter``), with
            ``*`` for the letter that counts and ``?`` for any other.
        target: Computes the value that the answer is compared with; the right answer if None.

    >>> ErrorMeasure("integer", "absolute", penalty=1000)
    ErrorMeasure(stack='integer', error='absolute', penalty=1000, ...)
    """

    stack: str
    error: ErrorName | CaseError = "absolute"
    penalty: float = 1.0
    decimals: int = 4
    per_element: float = 10_000.0
    label: str = ""
    target: Target | None = None

    def __post_init__(self) -> None:
        check_stack(self.stack)
        check_error(self.error)
        for name in ("penalty", "per_element"):
            check_not_negative(getattr(self, name), name)
        object.__setattr__(self, "decimals", check_count(self.decimals, "decimals", 0, MAX_DECIMALS))
        if not check_text(self.label, "label").isascii():
            raise ValueError(f"label must be ASCII text, got {shown(self.label)}")
        if self.target is not None and not callable(self.target):
            raise TypeError(f"target must be None or a function of inputs and answer, got {shown(self.target)}")

    def native(self) -> _native.PushQuestion:
        name = self.error if isinstance(self.error, str) else "custom"
        return _native.PushQuestion(
            self.stack, name, float(self.penalty), float(self.per_element), self.decimals, self.label
        )


def check_stack(stack: Any) -> str:
    """Refuse an argument that is not the name of a stack that answers are read from."""
    return check_choice(stack, "stack", (*STACKS, "output", *SLOTS))


def check_error(error: Any) -> None:
    """Refuse an argument that is neither the name of an error measure nor a function."""
    names = get_args(ErrorName)
    if isinstance(error, str) and error not in names:
        raise ValueError(f"unknown error measure {shown(error)}{did_you_mean(error, names)}")
    if not isinstance(error, str) and not callable(error):
        raise TypeError(f"error must be a function or the name of an error measure, got {shown(error)}")
