"""Instructions written in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from flexicase import _native
from flexicase._checks import check_choice, check_count, check_flag, check_text, shown
from flexicase.push.descriptions import STACKS
from flexicase.push.instructions import PYTHON_INSTRUCTIONS, Instruction
from flexicase.push.text import parse
from flexicase.push.values import Symbol, check_sequence

_Function = TypeVar("_Function", bound=Callable[..., Any])
_MOST_BLOCKS = 100


def _stacks(argument: str, names: Sequence[str]) -> tuple[str, ...]:
    found = check_sequence(names, argument, "stacks")
    for i, name in enumerate(found):
        check_choice(name, f"{argument}[{i}]", STACKS)
    return tuple(found)


def _check_name(name: str, replace: bool) -> None:
    try:
        readable = name.isascii() and name.isprintable() and type(parse(name)) is Symbol and parse(name) == name
    except ValueError:
        readable = False
    if not readable:
        raise ValueError(
            f"name must be readable as a symbol: ASCII characters without spaces, got {shown(name)}; pass name="
        )
    if _native.push_is_taken(name):
        raise ValueError(f"name must not be that of a native instruction, input or tag instruction, got {name!r}")
    if name in PYTHON_INSTRUCTIONS and not replace:
        raise ValueError(f"name must be new, or replace True; {name!r} is an instruction already")


def instruction(
    *,
    takes: Sequence[str] = (),
    gives: Sequence[str] = (),
    blocks: int | None = None,
    name: str | None = None,
    replace: bool = False,
) -> Callable[[_Function], _Function]:
    """Make a function an instruction that programs, genomes and instruction sets can name.

    The function gets its arguments in the order in which a program would write them: the last is the top of its
    stack. With too few of them on the stacks, nothing happens. It returns the value for the one stack of ``gives``, a
    tuple for several, in the order in which they are pushed, None for none.

    What it returns is held within the limits of native instructions: numbers are clamped to ±10^12, and if a string
    or vector is longer than 5000 or code larger than the limits allow, nothing happens; neither does it if code that
    it would take is nested more than 1000 deep. An exception, or a value of another kind, ends the run with
    ``python_error``; the arguments stay where they were, and the exception is kept in the ``State`` or ``Evaluator``.
    ``KeyboardInterrupt`` and the like are passed on.

    Results should depend on the arguments alone. Instructions are called from several threads, one at a time.

    Args:
        takes: Stacks of the arguments.
        gives: Stacks of the results.
        blocks: Code blocks that it opens in a genome; by default one for each ``exec`` that it takes.
        name: Its name; that of the function by default.
        replace: Whether the name may be that of an instruction written in Python before. Programs made before keep
            the former function.

    >>> from flexicase.push import run
    >>> @instruction(takes=("integer", "integer"), gives=("integer",))
    ... def integer_hypotenuse(a, b):
    ...     "Gives the length of the third side, rounded."
    ...     return round((a * a + b * b) ** 0.5)
    >>> run("(3 4 integer_hypotenuse)").top("integer")
    5
    >>> run("(3 integer_hypotenuse)").top("integer")
    3
    >>> remove_instruction("integer_hypotenuse")
    """
    arguments, results = _stacks("takes", takes), _stacks("gives", gives)
    opened = arguments.count("exec") if blocks is None else check_count(blocks, "blocks", 0, _MOST_BLOCKS)
    if name is not None:
        check_text(name, "name")
    check_flag(replace, "replace")

    def register(function: _Function) -> _Function:
        if not callable(function):
            raise TypeError(f"an instruction must be a function, got {shown(function)}")
        own = name if name is not None else str(getattr(function, "__name__", ""))
        if name is None and own in ("", "<lambda>"):
            raise ValueError(f"name must be given, since the function has none of its own, got {shown(function)}")
        _check_name(own, replace)
        _native.push_define(own, opened, function, list(arguments), list(results))
        sentence = (inspect.getdoc(function) or "").partition("\n")[0]
        stacks = tuple(dict.fromkeys(arguments + results))
        PYTHON_INSTRUCTIONS[own] = Instruction(own, stacks, opened, "", arguments, results, sentence)
        return function

    return register


def remove_instruction(name: str) -> None:
    """Forget an instruction written in Python; programs that have it keep it.

    >>> @instruction(gives=("integer",), name="forty_two")
    ... def answer():
    ...     return 42
    >>> remove_instruction("forty_two")
    """
    if PYTHON_INSTRUCTIONS.pop(check_text(name, "name"), None) is None:
        raise ValueError(f"name must be that of an instruction written in Python, got {shown(name)}")
    _native.push_undefine(name)
