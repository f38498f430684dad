"""One run of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flexicase import _native
from flexicase._checks import check_choice
from flexicase.push.descriptions import STACKS
from flexicase.push.limits import Limits, check_limits
from flexicase.push.program import Program, as_program
from flexicase.push.values import Value, check_sequence

_DEFAULT = Limits()


class State(NamedTuple):
    """What a run leaves behind.

    Attributes:
        stacks: The items of each stack that is not empty, top first; ``tag`` holds pairs of number and item. A vector
            that the run has shared between places is one list in all of them.
        termination: ``normal``, or which limit ended the run: ``step_limit``, ``stack_limit``, ``memory_limit``,
            ``code_limit``; ``unknown_instruction`` or ``missing_input`` for a program that is in error;
            ``python_error`` if an instruction written in Python failed.
        steps: Steps made.
        error: The exception of that instruction.

    >>> run("(1 2)").stacks
    {'integer': [2, 1], 'output': ['']}
    """

    stacks: Mapping[str, list[Any]]
    termination: str
    steps: int
    error: Exception | None = None

    def top(self, stack: str) -> Value:
        """The top of a stack, or None.

        >>> run("(1.5 true)").top("float")
        1.5
        """
        items = self.stacks.get(check_choice(stack, "stack", (*STACKS, "output", "tag")))
        return items[0] if items else None

    @property
    def output(self) -> str:
        """What was printed.

        >>> run('("a" print_string 7 2 integer_div print_integer)').output
        'a3N'
        """
        return str(self.top("output") or "")


def native_arguments(
    program: Program | str, inputs: Sequence[Value], limits: Limits
) -> tuple[_native.PushCode, list[Value], _native.PushLimits]:
    """What a run needs, checked."""
    values = check_sequence(inputs, "inputs", "values")
    return as_program(program).native, values, check_limits(limits).native


def run(program: Program | str, inputs: Sequence[Value] = (), limits: Limits = _DEFAULT) -> State:
    """Run a program.

    Args:
        program: The program, or its text.
        inputs: What ``in1``, ``in2`` … stand for.
        limits: What it may use.

    Other threads go on while the program runs, and a signal such as Ctrl-C ends it.

    Raises:
        MemoryError: The state would take more than 64 MiB and eight times ``limits.memory``.

    >>> run("(in1 in2 integer_sub)", [7, 3]).top("integer")
    4
    """
    return State._make(_native.push_run_on(*native_arguments(program, inputs, limits)))
