"""A run step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from flexicase import _native
from flexicase.push.limits import Limits
from flexicase.push.program import Program
from flexicase.push.run import State
from flexicase.push.text import unparse
from flexicase.push.values import Value

_DEFAULT = Limits()


class Step(NamedTuple):
    """A step of a run.

    Attributes:
        item: What was taken from the exec stack.
        state: The state after it was executed.

    >>> step = trace("(1 2 integer_add)").steps[-1]
    >>> print(step)
    integer_add   integer: 3
    """

    item: Value
    state: State

    def __str__(self) -> str:
        shown = {name: items for name, items in self.state.stacks.items() if name != "output" or items != [""]}
        stacks = (f"{name}: {' '.join(_text(name, item) for item in items)}" for name, items in shown.items())
        return "   ".join([unparse(self.item), *stacks])


class Trace(NamedTuple):
    """All steps of a run; as text, one line a step, stacks top first.

    Attributes:
        steps: The steps.
        termination: How the run ended.

    >>> print(trace("(true exec_when (5))"))
    (true exec_when (5))   exec: true exec_when (5)
    true   exec: exec_when (5)   boolean: true
    exec_when   exec: (5)
    (5)   exec: 5
    5   integer: 5
    """

    steps: list[Step]
    termination: str

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))


def _text(stack: str, item: Any) -> str:
    if stack == "tag":
        number, value = item
        return f"{number}={unparse(value)}"
    return unparse(item)


def trace(program: Program | str, inputs: Sequence[Value] = (), limits: Limits = _DEFAULT) -> Trace:
    """Run a program and keep the state after every step.

    Args:
        program: The program, or its text.
        inputs: What ``in1``, ``in2`` … stand for.
        limits: What it may use.

    >>> len(trace("(in1 in2 integer_sub)", [7, 3]).steps)
    4
    """
    program = program if isinstance(program, Program) else Program(program)
    steps, termination = _native.push_trace(program.native, inputs, limits.native)
    return Trace([Step(item, State._make(state)) for item, state in steps], termination)
