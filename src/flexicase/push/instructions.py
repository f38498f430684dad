"""The instruction table and sets of instructions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple

from flexicase import _native
from flexicase._checks import check_choice, shown
from flexicase.push.descriptions import descriptions
from flexicase.push.values import Symbol

#: W: the branch with weighted shuffles; M: the main line at the time of the paper; L: the latest.
Profile = Literal["W", "M", "L"]


class Instruction(NamedTuple):
    """A row of the instruction table.

    Attributes:
        name: Its name.
        stacks: Stacks it works on; a problem has the instruction if it names all of them.
        blocks: Code blocks that it opens in a genome.
        profiles: Instruction lists that it belongs to.
        takes: Stacks of what it takes from them, the top of a stack last; with ``?`` at most one item, with ``*`` any
            number. Without one of those not so marked, the instruction does nothing.
        gives: Stacks of what it puts on them, in the same form.
        description: What it does, in a sentence.

    >>> row = instruction_table()["exec_if"]
    >>> row.takes, row.gives, row.blocks, row.profiles
    (('exec', 'exec', 'boolean'), ('exec',), 2, 'WML')
    >>> row.description
    'Runs the first block if the boolean is true, else the second.'
    """

    name: str
    stacks: tuple[str, ...]
    blocks: int
    profiles: str
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    description: str


#: Instructions written in Python, by name.
PYTHON_INSTRUCTIONS: dict[str, Instruction] = {}


@cache
def _native_table() -> dict[str, Instruction]:
    table = {}
    for name, stacks, blocks, profiles in _native.push_table():
        table[name] = Instruction(name, tuple(stacks), blocks, profiles, *descriptions()[name])
    return table


def instruction_table() -> dict[str, Instruction]:
    """All instructions by name, native ones and those written in Python.

    >>> sum("L" in row.profiles for row in instruction_table().values())
    394
    """
    return {**_native_table(), **PYTHON_INSTRUCTIONS}


def check_names(names: Iterable[str], argument: str) -> tuple[str, ...]:
    """Names of instructions, each once, in order."""
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise TypeError(f"{argument} must be a sequence of names of instructions, got {shown(names)}")
    found = tuple(names)
    for name in found:
        if not isinstance(name, str):
            raise TypeError(f"{argument} must be names of instructions, got {shown(name)}")
        if name not in _native_table() and name not in PYTHON_INSTRUCTIONS:
            close = difflib.get_close_matches(name, instruction_table(), n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ValueError(f"{argument} must be names of instructions, got {shown(name)}{hint}")
    return tuple(dict.fromkeys(found))


class InstructionSet:
    """A set of instructions; ``+`` and ``-`` take sets or names.

    >>> paper = InstructionSet.of_stacks("exec", "integer", "boolean", "vector_integer")
    >>> len(paper), len(paper - ["exec_y"])
    (105, 104)
    """

    __slots__ = ("names",)

    def __init__(self, names: Iterable[str]) -> None:
        """Keep each name once, in order."""
        self.names = check_names(names, "names")

    @classmethod
    def of_profile(cls, profile: Profile = "W") -> InstructionSet:
        """A whole list.

        >>> [len(InstructionSet.of_profile(name)) for name in ("W", "M", "L")]
        [361, 368, 394]
        """
        check_choice(profile, "profile", ("W", "M", "L"))
        return cls(row.name for row in instruction_table().values() if profile in row.profiles)

    @classmethod
    def of_stacks(cls, *stacks: str, profile: Profile = "W") -> InstructionSet:
        """The instructions of a list that work on these stacks only.

        >>> "print_integer" in InstructionSet.of_stacks("integer", "print")
        True
        """
        table = instruction_table()
        known = sorted({stack for row in table.values() for stack in row.stacks})
        for stack in stacks:
            check_choice(stack, "stacks", known)
        return cls(name for name in cls.of_profile(profile) if set(table[name].stacks) <= set(stacks))

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
