"""The instruction table and sets of instructions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Literal, NamedTuple

from flexicase import _native
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

    >>> instruction_table()["exec_if"]
    Instruction(name='exec_if', stacks=('exec', 'boolean'), blocks=2, profiles='WML')
    """

    name: str
    stacks: tuple[str, ...]
    blocks: int
    profiles: str


@cache
def instruction_table() -> dict[str, Instruction]:
    """All instructions by name.

    >>> sum("L" in row.profiles for row in instruction_table().values())
    394
    """
    rows = (Instruction(name, tuple(stacks), blocks, lists) for name, stacks, blocks, lists in _native.push_table())
    return {row.name: row for row in rows}


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
        unknown = [name for name in self.names if name not in instruction_table()]
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
