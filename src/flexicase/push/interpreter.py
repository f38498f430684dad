"""Running a program: its limits, the state it leaves behind, and the trace of its steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from flexicase import _native
from flexicase._checks import check_choice, check_count, check_flag, shown
from flexicase.push.instructions import SLOTS, STACKS
from flexicase.push.program import Program, Value, as_program, check_sequence, parse, to_text

if TYPE_CHECKING:
    from rich.table import Table

#: What a state consists of.
STATE_NAMES = (*STACKS, "output", *SLOTS, "tag")
#: Largest value of a limit.
MAX_LIMIT = 2**60
#: Number of items of a stack that a table shows.
SHOWN_ITEMS = 6
#: Number of characters of code that a table shows.
CODE_WIDTH = 24


@dataclass(frozen=True)
class Limits:
    """What a run of a program may use; each limit has its own termination status.

    Attributes:
        steps: Number of steps of the interpreter; opening a list is one.
        points: Size in points of translated programs, of code that instructions build and of items that they duplicate.
        stack: Number of items on a stack, and of entries of the tag map.
        memory: Bytes for the strings, vectors and lists that one run makes, counted in chunks of 256 KiB.
        code: Size in points of any code, including that of loops.
        keep_nan: Whether NaN results stay NaN (instruction list 2019) instead of becoming 0.0.
        seed: Seed of random instructions; every run draws the same values.
    """

    steps: int = 600
    points: int = 1200
    stack: int = 100_000
    memory: int = 64 << 20
    code: int = 1_000_000
    keep_nan: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "points", "stack", "memory", "code"):
            object.__setattr__(self, name, check_count(getattr(self, name), name, 0, MAX_LIMIT))
        object.__setattr__(self, "keep_nan", check_flag(self.keep_nan, "keep_nan"))
        object.__setattr__(self, "seed", check_count(self.seed, "seed", 0, 2**64 - 1))

    @cached_property
    def native(self) -> _native.PushLimits:
        return _native.PushLimits(*astuple(self))

    def __reduce__(self) -> tuple[type[Limits], tuple[Any, ...]]:
        return Limits, astuple(self)


_DEFAULT = Limits()


class RunState(NamedTuple):
    """The state at the end of a run.

    Attributes:
        stacks: The items of each stack that is not empty, top first; ``tag`` holds pairs of number and item,
            ``output1`` … the answer in that slot. A vector that is on several stacks may be one list.
        termination: ``normal``, or the limit that ended the run: ``step_limit``, ``stack_limit``, ``memory_limit``,
            ``code_limit``; ``unknown_instruction`` or ``missing_input`` for an invalid program;
            ``python_error`` if an instruction written in Python failed.
        steps: Number of steps.
        error: The exception of that instruction.

    >>> run("(1 2)").stacks
    {'integer': [2, 1], 'output': ['']}
    """

    stacks: Mapping[str, list[Any]]
    termination: str
    steps: int
    error: Exception | None = None

    def top(self, stack: str) -> Value:
        """The top of a stack, or None."""
        items = self.stacks.get(check_choice(stack, "stack", STATE_NAMES))
        return items[0] if items else None

    @property
    def output(self) -> str:
        """The printed text.

        >>> run('("a" print_string 7 2 integer_div print_integer)').output
        'a3N'
        """
        return str(self.top("output") or "")


def run(
    program: Program | str,
    inputs: Sequence[Value] = (),
    limits: Limits = _DEFAULT,
    *,
    stacks: Mapping[str, Sequence[Any]] | None = None,
) -> RunState:
    """Run a program.

    Args:
        program: The program, or its text.
        inputs: Values of ``in1``, ``in2`` …
        limits: Limits of the run.
        stacks: The stacks at the start, top first, as `RunState.stacks` has them; by default all are empty.

    Other Python threads keep running meanwhile, and a signal such as Ctrl-C ends the run.

    Raises:
        MemoryError: The state would take more than 64 MiB and eight times ``limits.memory``.

    >>> run("(in1 in2 integer_sub)", [7, 3]).top("integer")
    4
    >>> run("integer_sub", stacks={"integer": [3, 7]}).top("integer")
    4
    """
    code, values, native_limits = _native_arguments(program, inputs, limits)
    if stacks is None:
        return RunState._make(_native.push_run_on(code, values, native_limits))
    return RunState._make(_native.push_run(code, _start(stacks, values), native_limits))


def execute(
    item: Program | Value, stacks: Mapping[str, Sequence[Any]], inputs: Sequence[Value] = (), limits: Limits = _DEFAULT
) -> RunState:
    """Execute one item, one step of a run, on given stacks.

    Args:
        item: An instruction, a literal, or a list, which is put on ``exec``; a `str` is the text of one.
        stacks: The stacks before the step, top first, as `RunState.stacks` has them.
        inputs: Values of ``in1``, ``in2`` …
        limits: Limits of the step; a random instruction draws the same value every time.

    >>> execute("integer_add", {"integer": [2, 3, 4]}).stacks
    {'integer': [5, 4], 'output': ['']}
    """
    if isinstance(item, Program):
        code = item.native
    else:
        code = _native.push_code(parse(item) if type(item) is str else item, "item")
    values = check_sequence(inputs, "inputs", "values")
    return RunState._make(_native.push_execute(code, _start(stacks, values), check_limits(limits).native))


def _start(stacks: Mapping[str, Sequence[Any]], inputs: list[Value]) -> dict[str, list[Any]]:
    """The state at the start of a run, as the engine reads it; the engine checks the values."""
    if not isinstance(stacks, Mapping):
        raise TypeError(f"stacks must be a mapping from names to values, got {shown(stacks)}")
    state: dict[str, list[Any]] = {"output": [""]}
    for name, items in stacks.items():
        check_choice(name, "a name in stacks", STATE_NAMES)
        values = check_sequence(items, f"stack {name}", "values")
        if name not in (*STACKS, "tag") and len(values) > 1:
            raise ValueError(f"stack {name} must have at most one item, got {len(values)}")
        if values or name == "output":  # a state may have none
            state[name] = [_tag(entry) for entry in values] if name == "tag" else values
    return state | {"input": inputs}


def _tag(entry: Any) -> tuple[int, Any]:
    """A number and the item under it."""
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        raise TypeError(f"stack tag must have pairs of number and item, got {shown(entry)}")
    return check_count(entry[0], "the number of a tag"), entry[1]


class Step(NamedTuple):
    """A step of a run.

    Attributes:
        item: The item taken from the exec stack.
        state: The state after it was executed.

    >>> step = trace_program("(1 2 integer_add)").steps[-1]
    >>> print(step)
    integer_add   integer: 3
    """

    item: Value
    state: RunState

    def __str__(self) -> str:
        stacks = (f"{name}: {' '.join(_texts(items, name))}" for name, items in self._stacks().items())
        return "   ".join([to_text(self.item), *stacks])

    def shown(self) -> dict[str, str]:
        """The first items of each stack that is not empty, as text."""
        return {name: _first_items(items, name) for name, items in self._stacks().items()}

    def _stacks(self) -> dict[str, list[Any]]:
        return {name: items for name, items in self.state.stacks.items() if name != "output" or items != [""]}


class ProgramTrace(NamedTuple):
    """All steps of a run. Its text has one line per step, stacks top first.

    Attributes:
        steps: The steps.
        termination: How the run ended.

    >>> print(trace_program("(true exec_when (5))"))
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
        """A table for terminals: a row per step, a column per stack, changes in bold."""
        from rich import box
        from rich.table import Table
        from rich.text import Text

        names = list(dict.fromkeys(name for step in self.steps for name in step.shown()))
        table = Table(box=box.SIMPLE_HEAD, caption=f"{len(self.steps)} steps, {self.termination}")
        table.add_column("step", justify="right", style="dim")
        for name in ("executed", *names):
            width = CODE_WIDTH if name in ("executed", "exec", "code") else None
            table.add_column(name, overflow="ellipsis", no_wrap=True, max_width=width)
        before: dict[str, str] = {}
        for number, step in enumerate(self.steps, start=1):
            after = step.shown()
            changed = {name for name in names if after.get(name) != before.get(name)}
            cells = [Text(after.get(name, ""), "bold" if name in changed else "") for name in names]
            table.add_row(str(number), Text(_first_items([step.item], ""), "cyan"), *cells)
            before = after
        return table

    def show(self) -> None:
        """Print the table."""
        from rich.console import Console

        Console().print(self)


def trace_program(program: Program | str, inputs: Sequence[Value] = (), limits: Limits = _DEFAULT) -> ProgramTrace:
    """Run a program, as `run` does, and record the state after every step.

    Raises:
        MemoryError: The states would take more than 64 MiB and eight times ``limits.memory``.

    >>> len(trace_program("(in1 in2 integer_sub)", [7, 3]).steps)
    4
    """
    steps, termination = _native.push_trace(*_native_arguments(program, inputs, limits))
    return ProgramTrace([Step(item, RunState._make(state)) for item, state in steps], termination)


def check_limits(limits: Any) -> Limits:
    """Refuse an argument that is not `Limits`."""
    if not isinstance(limits, Limits):
        raise TypeError(f"limits must be Limits, such as Limits(steps=600), got {shown(limits)}")
    return limits


def _native_arguments(
    program: Program | str, inputs: Sequence[Value], limits: Limits
) -> tuple[_native.PushCode, list[Value], _native.PushLimits]:
    values = check_sequence(inputs, "inputs", "values")
    return as_program(program).native, values, check_limits(limits).native


def _texts(items: list[Any], stack: str) -> list[str]:
    if stack == "tag":
        return [f"{number}={to_text(value)}" for number, value in items]
    return [to_text(item) for item in items]


def _first_items(items: list[Any], stack: str) -> str:
    texts = _texts(items[:SHOWN_ITEMS], stack)
    return " ".join([*texts, "…"] if len(items) > SHOWN_ITEMS else texts)
