"""A run step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from flexicase import _native
from flexicase.push.limits import Limits
from flexicase.push.program import Program
from flexicase.push.run import State, native_arguments
from flexicase.push.text import unparse
from flexicase.push.values import Value

if TYPE_CHECKING:
    from rich.table import Table

_DEFAULT = Limits()
#: Items of a stack that a table shows.
SHOWN_ITEMS = 6
#: Characters of code that a table shows.
CODE_WIDTH = 24


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
        stacks = (f"{name}: {' '.join(_text(name, item) for item in items)}" for name, items in self._stacks().items())
        return "   ".join([unparse(self.item), *stacks])

    def shown(self) -> dict[str, str]:
        """The first items of each stack that is not empty, as text.

        >>> trace("(1 2)").steps[-1].shown()
        {'integer': '2 1'}
        """
        return {name: _shortened(items, name) for name, items in self._stacks().items()}

    def _stacks(self) -> dict[str, list[Any]]:
        return {name: items for name, items in self.state.stacks.items() if name != "output" or items != [""]}


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

    def __rich__(self) -> Table:
        """A table for terminals: a line per step, a column per stack, what the step changed in bold."""
        from rich import box
        from rich.table import Table

        names = list(dict.fromkeys(name for step in self.steps for name in step.shown()))
        table = Table(box=box.SIMPLE_HEAD, caption=f"{len(self.steps)} steps, {self.termination}")
        table.add_column("step", justify="right", style="dim")
        for name in ("executed", *names):
            width = CODE_WIDTH if name in ("executed", "exec", "code") else None
            table.add_column(name, overflow="ellipsis", no_wrap=True, max_width=width)
        before: dict[str, str] = {}
        for number, step in enumerate(self.steps, start=1):
            after = step.shown()
            cells = [_cell(after.get(name, ""), after.get(name, "") != before.get(name, "")) for name in names]
            table.add_row(str(number), _cell(_shortened([step.item], ""), False, "cyan"), *cells)
            before = after
        return table

    def show(self) -> None:
        """Print the table.

        >>> trace("(1 2)").show()  # doctest: +ELLIPSIS +NORMALIZE_WHITESPACE
        <BLANKLINE>
          step   executed   exec   integer
        ...
                3 steps, normal
        """
        from rich.console import Console

        Console().print(self)


def _text(stack: str, item: Any) -> str:
    if stack == "tag":
        number, value = item
        return f"{number}={unparse(value)}"
    return unparse(item)


def _shortened(items: list[Any], stack: str) -> str:
    return " ".join(_text(stack, item) for item in items[:SHOWN_ITEMS]) + (" …" if len(items) > SHOWN_ITEMS else "")


def _cell(text: str, changed: bool, style: str = "") -> Any:
    from rich.text import Text

    return Text(text, style="bold" if changed else style)


def trace(program: Program | str, inputs: Sequence[Value] = (), limits: Limits = _DEFAULT) -> Trace:
    """Run a program and keep the state after every step.

    Args:
        program: The program, or its text.
        inputs: What ``in1``, ``in2`` … stand for.
        limits: What it may use.

    Raises:
        MemoryError: The states would take more than 64 MiB and eight times ``limits.memory``.

    >>> len(trace("(in1 in2 integer_sub)", [7, 3]).steps)
    4
    """
    steps, termination = _native.push_trace(*native_arguments(program, inputs, limits))
    return Trace([Step(item, State._make(state)) for item, state in steps], termination)
