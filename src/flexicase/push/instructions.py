"""Instructions: their table, sets of them, and instructions written in Python."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from flexicase import _native
from flexicase._checks import check_choice, check_count, check_flag, check_text, did_you_mean, shown
from flexicase.push.program import Symbol, Value, check_sequence, parse

#: Instruction lists of Clojush: the branch with weighted shuffles (the default), the main line at the time of the
#: paper, a later version, and the branch of the second benchmark suite.
InstructionSetName = Literal["2019", "2021", "2023", "psb2"]
INSTRUCTION_SETS = get_args(InstructionSetName)
#: The engine's letter of each list.
_LETTERS = dict(zip("WMLP", INSTRUCTION_SETS, strict=True))

#: The stacks that programs work on.
STACKS = (
    *("exec", "code", "integer", "float", "boolean", "char", "string"),
    *("vector_integer", "vector_float", "vector_boolean", "vector_string"),
)
#: Slots for answers that instructions such as ``output_integer1`` write to.
SLOTS = ("output1", "output2", "output3", "output4")
#: The stacks that a section of descriptions.txt holds for.
_FAMILIES = {
    "every stack": STACKS,
    "every stack but vectors": STACKS[:-4],
    "every vector stack": STACKS[-4:],
    "every stack that prints": STACKS,
}
_MAX_BLOCKS = 100
#: The name of an input.
INPUT = re.compile(r"in([1-9]\d*)")
_TAG = re.compile(r"(tag_[a-z]+(_[a-z]+)?|tagged(_code|_when)?|untag)_\d+")
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Instruction(NamedTuple):
    """A row of the instruction table.

    Attributes:
        name: Its name.
        stacks: Stacks it works on; a problem has the instruction if it names all of them.
        blocks: Number of code blocks that it opens in a genome.
        instruction_sets: Instruction lists that it belongs to.
        takes: Stacks of its arguments, the top of a stack last. ``integer?`` is at most one item, ``integer*`` any
            number. If another argument is missing, the instruction does nothing.
        gives: Stacks of its results, in the same form.
        description: What it does, in a sentence.

    >>> row = instruction_table()["exec_if"]
    >>> row.takes, row.gives, row.blocks, row.instruction_sets
    (('exec', 'exec', 'boolean'), ('exec',), 2, ('2019', '2021', '2023', 'psb2'))
    >>> row.description
    'Runs the first block if the boolean is true, else the second.'
    """

    name: str
    stacks: tuple[str, ...]
    blocks: int
    instruction_sets: tuple[str, ...]
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    description: str


#: Instructions written in Python, by name.
PYTHON_INSTRUCTIONS: dict[str, Instruction] = {}


@cache
def descriptions() -> dict[str, tuple[tuple[str, ...], tuple[str, ...], str]]:
    """The last three fields of `Instruction` for every native instruction, by its name.

    >>> descriptions()["integer_add"]
    (('integer', 'integer'), ('integer',), 'Adds y and x.')
    """
    found = {}
    for line in _description_lines():
        name, effect, sentence = line.split(" | ")
        takes, gives = effect.split("->")
        if name in found:
            raise ValueError(f"descriptions.txt describes {name} twice")
        found[name] = (tuple(takes.split()), tuple(gives.split()), sentence)
    return found


def _description_lines() -> Iterator[str]:
    """Each line of descriptions.txt, once for each stack of its section."""
    section = ""
    for line in files("flexicase.push").joinpath("descriptions.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            for stack in _FAMILIES.get(section, ("",)):
                yield line.replace("{stack}", stack).replace("{element}", stack.removeprefix("vector_"))


@cache
def _native_table() -> dict[str, Instruction]:
    return {
        name: Instruction(
            name, tuple(stacks), blocks, tuple(_LETTERS[letter] for letter in lists), *descriptions()[name]
        )
        for name, stacks, blocks, lists in _native.push_table()
    }


def instruction_table() -> dict[str, Instruction]:
    """All instructions by name, native ones and those written in Python.

    >>> sum("2023" in row.instruction_sets for row in instruction_table().values())
    394
    """
    return {**_native_table(), **PYTHON_INSTRUCTIONS}


def check_instruction_set(name: InstructionSetName) -> InstructionSetName:
    """Refuse an argument that is not the name of an instruction list."""
    check_choice(name, "instruction_set", INSTRUCTION_SETS)
    return name


def check_names(names: Iterable[str], argument: str) -> tuple[str, ...]:
    """Names of instructions, without duplicates, in order."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise TypeError(f"{argument} must be a sequence of names of instructions, got {shown(names)}")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{argument} must be names of instructions, got {shown(name)}")
        if name not in _native_table() and name not in PYTHON_INSTRUCTIONS:
            raise ValueError(f"{argument}: {unknown_instruction(name)}")
    return tuple(dict.fromkeys(found))


def unknown_instruction(name: str) -> str:
    """The message for a name that no instruction has, with the most similar name."""
    hint = did_you_mean(str(name)[:80], instruction_table())
    return f"unknown instruction {shown(str(name))}{hint if 'did you mean' in hint else ''}"


def check_symbols(code: Value, n_inputs: int | None = None) -> None:
    """Refuse code with a name that nothing has, or that reads more than ``n_inputs`` inputs."""
    table = instruction_table()
    pending = [code]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending.extend(item)
        elif isinstance(item, Symbol):
            read = INPUT.fullmatch(item)
            if read and n_inputs is not None and int(read[1]) > n_inputs:
                verb = "is" if n_inputs == 1 else "are"
                raise ValueError(f"the program reads {item}, but there {verb} {n_inputs} input(s)")
            if not read and item not in table and not _TAG.fullmatch(item):
                raise ValueError(unknown_instruction(item))


class InstructionSet:
    """A set of instructions; ``+`` and ``-`` take sets or names.

    >>> paper = InstructionSet.from_stacks("exec", "integer", "boolean", "vector_integer")
    >>> len(paper), len(paper - ["exec_y"])
    (105, 104)
    """

    __slots__ = ("names",)

    def __init__(self, names: Iterable[str]) -> None:
        self.names = check_names(names, "names")

    @classmethod
    def from_name(cls, instruction_set: InstructionSetName = "2019") -> InstructionSet:
        """A whole instruction list.

        >>> [len(InstructionSet.from_name(name)) for name in ("2019", "2021", "2023")]
        [361, 368, 394]
        """
        check_instruction_set(instruction_set)
        return cls(row.name for row in instruction_table().values() if instruction_set in row.instruction_sets)

    @classmethod
    def from_stacks(cls, *stacks: str, instruction_set: InstructionSetName = "2019") -> InstructionSet:
        """The instructions of a list that work on these stacks only."""
        table = instruction_table()
        known = sorted({stack for row in table.values() for stack in row.stacks})
        for stack in stacks:
            check_choice(stack, "stacks", known)
        return cls(name for name in cls.from_name(instruction_set) if set(table[name].stacks) <= set(stacks))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Symbol]:
        return (Symbol(name) for name in self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __add__(self, other: Iterable[str]) -> InstructionSet:
        return InstructionSet((*self.names, *other))

    def __sub__(self, other: Iterable[str]) -> InstructionSet:
        taken = set(check_names(other, "names"))
        return InstructionSet(name for name in self.names if name not in taken)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InstructionSet) and set(self.names) == set(other.names)

    def __hash__(self) -> int:
        return hash(frozenset(self.names))

    def __repr__(self) -> str:
        return f"InstructionSet({list(self.names)!r})"


def instruction(
    *,
    takes: Sequence[str] = (),
    gives: Sequence[str] = (),
    blocks: int | None = None,
    name: str | None = None,
    replace: bool = False,
) -> Callable[[_Function], _Function]:
    """Turn a function into an instruction that programs, genomes and instruction sets can name.

    The function gets its arguments in the order in which a program would write them: the last is the top of its
    stack. If an argument is missing, nothing happens. The function returns the value for the one stack of ``gives``, a
    tuple for several stacks, in the order in which they are pushed, or None for no stack.

    Results are held within the limits of native instructions: numbers are clamped to ±10^12. Nothing happens if a
    result is a string or vector longer than 5000, or code larger than the limits allow, or if an argument is code
    nested more than 1000 deep. An exception, or a result of another kind, ends the run with ``python_error``; the
    arguments stay on their stacks, and the exception is kept in the `RunState` or `Evaluator`. ``KeyboardInterrupt``
    and other exceptions that are no ``Exception`` are passed on.

    Results should depend on the arguments alone. Instructions are called from several threads, one at a time.

    Args:
        takes: Stacks of the arguments.
        gives: Stacks of the results.
        blocks: Number of code blocks that it opens in a genome; by default one for each ``exec`` that it takes.
        name: Its name; by default that of the function.
        replace: Whether to replace an instruction of this name that was written in Python before. Programs made
            before keep the former function.

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
    arguments, results = check_stacks(takes, "takes"), check_stacks(gives, "gives")
    opened = arguments.count("exec") if blocks is None else check_count(blocks, "blocks", 0, _MAX_BLOCKS)
    if name is not None:
        check_text(name, "name")
    check_flag(replace, "replace")

    def register(function: _Function) -> _Function:
        if not callable(function):
            raise TypeError(f"an instruction must be a function, got {shown(function)}")
        own = name if name is not None else str(getattr(function, "__name__", ""))
        if name is None and own in ("", "<lambda>"):
            raise ValueError(f"name must be given, since the function has none of its own, got {shown(function)}")
        _check_new_name(own, replace)
        _native.push_define(own, opened, function, list(arguments), list(results))
        sentence = (inspect.getdoc(function) or "").partition("\n")[0]
        stacks = tuple(dict.fromkeys(arguments + results))
        PYTHON_INSTRUCTIONS[own] = Instruction(own, stacks, opened, (), arguments, results, sentence)
        return function

    return register


def remove_instruction(name: str) -> None:
    """Remove an instruction written in Python; programs that have it keep it.

    >>> @instruction(gives=("integer",), name="forty_two")
    ... def answer():
    ...     return 42
    >>> remove_instruction("forty_two")
    """
    if PYTHON_INSTRUCTIONS.pop(check_text(name, "name"), None) is None:
        raise ValueError(f"name must be that of an instruction written in Python, got {shown(name)}")
    _native.push_undefine(name)


def check_stacks(names: Any, argument: str) -> tuple[str, ...]:
    """Names of stacks that programs work on, checked."""
    found = check_sequence(names, argument, "stacks")
    for i, name in enumerate(found):
        check_choice(name, f"{argument}[{i}]", STACKS)
    return tuple(found)


def _check_new_name(name: str, replace: bool) -> None:
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
        raise ValueError(f"duplicate instruction {name!r}; pass replace=True to replace it")
