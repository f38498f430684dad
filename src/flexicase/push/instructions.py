"""The instruction table and sets of instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple

from flexicase import _native
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


class InstructionSet:
    """A set of instructions; ``+`` and ``-`` take sets or names.

    >>> paper = InstructionSet.of_stacks("exec", "integer", "boolean", "vector_integer")
    >>> len(paper), len(paper - ["exec_y"])
    (105, 104)
    """

    __slots__ = ("names",)

    def __init__(self, names: Iterable[str]) -> None:
        """Keep each name once, in order."""
        self.names = tuple(dict.fromkeys(names))
        unknown = [name for name in self.names if name not in _native_table() and name not in PYTHON_INSTRUCTIONS]
        if unknown:
            raise ValueError(f"names must be instructions, found {', '.join(map(repr, unknown))}")

    @classmethod
    def of_profile(cls, profile: Profile = "W") -> InstructionSet:
        """A whole list.

        >>> [len(InstructionSet.of_profile(name)) for name in ("W", "M", "L")]
        [361, 368, 394]
        """
        if profile not in ("W", "M", "L"):
            raise ValueError(f"profile must be 'W', 'M' or 'L', got {profile!r}")
        return cls(row.name for row in instruction_table().values() if profile in row.profiles)

    @classmethod
    def of_stacks(cls, *stacks: str, profile: Profile = "W") -> InstructionSet:
        """The instructions of a list that work on these stacks only.

        >>> "print_integer" in InstructionSet.of_stacks("integer", "print")
        True
        """
        table = instruction_table()
        known = {stack for row in table.values() for stack in row.stacks}
        unknown = set(stacks) - known
        if unknown:
            raise ValueError(f"stacks must be among {', '.join(sorted(known))}; found {', '.join(sorted(unknown))}")
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
        taken = set(other)
        return InstructionSet(name for name in self.names if name not in taken)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, InstructionSet) and set(self.names) == set(other.names)

    def __hash__(self) -> int:
        return hash(frozenset(self.names))

    def __repr__(self) -> str:
        return f"InstructionSet({list(self.names)!r})"
