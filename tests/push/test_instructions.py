"""The instruction table and sets."""

from __future__ import annotations

import pytest

from flexicase.push import InstructionSet, instruction_table

# Stacks, then the number of instructions in the lists W, M and L.
COUNTS = [
    ("exec integer boolean vector_integer", 105, 108, 112),
    ("exec integer boolean", 71, 74, 77),
    ("exec integer boolean print", 75, 78, 81),
    ("exec integer boolean float", 104, 108, 123),
    ("exec integer boolean string char print", 138, 143, 153),
    ("exec integer boolean string char vector_integer", 166, 171, 182),
    ("exec integer boolean string vector_string print", 140, 144, 153),
    ("exec integer float vector_float", 93, 96, 112),
    ("integer float print", 48, 50, 65),
]


@pytest.mark.parametrize(("stacks", "w", "m", "latest"), COUNTS)
def test_sets_by_stack_have_the_published_sizes(stacks: str, w: int, m: int, latest: int) -> None:
    names = stacks.split()
    sizes = [len(InstructionSet.of_stacks(*names, profile=profile)) for profile in ("W", "M", "L")]
    assert sizes == [w, m, latest]


def test_sets_compose() -> None:
    small = InstructionSet(["integer_add", "integer_sub"])
    assert (small + InstructionSet(["exec_if"])) - small == InstructionSet(["exec_if"])
    assert len(small + small) == 2
    assert "integer_add" in small


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="integer_ad"):
        InstructionSet(["integer_ad"])
    with pytest.raises(ValueError, match="intger"):
        InstructionSet.of_stacks("intger")
    with pytest.raises(ValueError, match="profile"):
        InstructionSet.of_profile("X")  # type: ignore[arg-type]


def test_only_code_and_exec_instructions_open_blocks() -> None:
    openers = [row.name for row in instruction_table().values() if row.blocks]
    assert all(name.startswith(("exec_", "code_quote", "print_exec", "noop_open")) for name in openers)
