"""One run of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flexicase import _native
from flexicase.push.limits import Limits
from flexicase.push.program import Program
from flexicase.push.values import Value

_DEFAULT = Limits()


class State(NamedTuple):
    """What a run leaves behind.

    Attributes:
        stacks: The items of each stack that is not empty, top first; ``tag`` holds pairs of number and item.
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
        items = self.stacks.get(stack)
        return items[0] if items else None

    @property
    def output(self) -> str:
        """What was printed.

        >>> run('("a" print_string 7 2 integer_div print_integer)').output
        'a3N'
        """
        return str(self.top("output") or "")


def run(program: Program | str, inputs: Sequence[Value] = (), limits: Limits = _DEFAULT) -> State:
    """Run a program.

    Args:
        program: The program, or its text.
        inputs: What ``in1``, ``in2`` … stand for.
        limits: What it may use.

    >>> run("(in1 in2 integer_sub)", [7, 3]).top("integer")
    4
    """
    program = program if isinstance(program, Program) else Program(program)
    return State._make(_native.push_run_on(program.native, inputs, limits.native))
