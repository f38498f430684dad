"""What the table says that instructions take and give is what they do take and give."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from typing import Any

import pytest

from flexicase import _native
from flexicase.push import Char, Instruction, Limits, Symbol, instruction_table
from flexicase.push.instructions import STACKS, descriptions

NATIVE = [row for row in instruction_table().values() if row.name in descriptions()]
IDLE = {"exec_noop", "code_noop", "noop_open_paren", "noop_delete_prev_paren_pair", "file_begin"}

# Items of every stack, top first, in two variants; many instructions do nothing with some of them.
SAMPLES: list[dict[str, list[Any]]] = [
    {
        "exec": [(1, 2), (3,), 4, (5, (6,))],
        "code": [(1, (2, 3), 1), 1, (4,), (1, 2)],
        "integer": [2, 3, 5, 1],
        "float": [0.5, 2.0, -1.5, 0.25],
        "boolean": [True, False, True, False],
        "char": [Char("a"), Char("b"), Char("1"), Char(" ")],
        "string": ["12", "ab12 c", "x", "a b"],
        "vector_integer": [[2, 1, 3], [4], [5, 6], [7]],
        "vector_float": [[0.5, 2.0, 1.0], [4.0], [5.0], [7.0]],
        "vector_boolean": [[True, False, False], [True], [False], [True]],
        "vector_string": [["b", "a"], ["c"], ["d"], ["x", "e"]],
    },
    {
        "exec": [4, (3,), (1, 2), (5,)],
        "code": [1, (1, 2), (3,), 4],
        "integer": [-1, 1, 2, 7],
        "float": [-2.0, 8.0, 1.0, 0.5],
        "boolean": [False, True, False, True],
        "char": [Char("B"), Char("A"), Char("b"), Char("9")],
        "string": ["bA c", "xbA c", "b c", ""],
        "vector_integer": [[1], [4, 1], [5], [7]],
        "vector_float": [[2.0], [4.0, 1.0], [5.0], [7.0]],
        "vector_boolean": [[False], [True, False], [False], [True]],
        "vector_string": [["Ba"], ["c", "a"], ["d"], ["e"]],
    },
]
INPUTS = ["line\nrest", "all of it"]


def execute(name: str, stacks: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The stacks after an instruction."""
    before = {**stacks, "input": INPUTS, "output": [""]}
    after, termination, _, _ = _native.push_execute(_native.push_code(Symbol(name)), before, Limits().native)
    assert termination == "normal"
    return after


def required(row: Instruction) -> Counter[str]:
    """How many items of each stack it needs."""
    return Counter(stack for stack in row.takes if stack in STACKS)


def bounds(stacks: tuple[str, ...], stack: str) -> tuple[float, float]:
    """The least and the largest number of items of a stack that a list of stacks allows."""
    least = stacks.count(stack)
    return least, float("inf") if stack + "*" in stacks else least + stacks.count(stack + "?")


def test_every_instruction_has_one_description_and_none_is_stale() -> None:
    assert sorted(descriptions()) == sorted(row[0] for row in _native.push_table())


@pytest.mark.parametrize("row", NATIVE, ids=lambda row: row.name)
def test_a_description_is_a_short_sentence_about_known_stacks(row: Instruction) -> None:
    assert re.fullmatch(r"[A-Z][^.|]*([.]\d[^.|]*)*[.]", row.description), row.description
    assert len(row.description) < 120
    named = {stack.rstrip("?*") for stack in (*row.takes, *row.gives)}
    assert named <= set(STACKS)
    assert named <= {*row.stacks, "exec"} or row.name.startswith(("exec_do*times", "exec_do*count"))


@pytest.mark.parametrize("row", NATIVE, ids=lambda row: row.name)
def test_it_acts_on_what_it_takes_and_on_nothing_less(row: Instruction) -> None:
    needs = required(row)
    acted = False
    for stacks in SAMPLES:
        exact = {stack: stacks[stack][:count] for stack, count in needs.items()}
        optional = {stack.rstrip("?*") for stack in row.takes if stack not in STACKS}
        exact |= {stack: stacks[stack] for stack in optional}
        acted = acted or execute(row.name, exact) != {**exact, "output": [""]}
        for stack in needs:
            less = {**stacks, stack: stacks[stack][: needs[stack] - 1]}
            less = {name: items for name, items in less.items() if items}
            assert execute(row.name, less) == {**less, "output": [""]}, f"acts without its {stack}"
    assert acted or row.name in IDLE


@pytest.mark.parametrize("row", NATIVE, ids=lambda row: row.name)
def test_it_gives_what_it_says(row: Instruction) -> None:
    """By the sizes of the stacks before and after, over both variants of every stack."""
    touched = sorted(required(row))
    for choice in product(range(len(SAMPLES)), repeat=len(touched)):
        before = {**SAMPLES[0], **{stack: SAMPLES[i][stack] for stack, i in zip(touched, choice, strict=True)}}
        after = execute(row.name, before)
        if after == {**before, "output": [""]}:
            continue
        for stack in STACKS:
            took, gave = bounds(row.takes, stack), bounds(row.gives, stack)
            change = len(after.get(stack, [])) - len(before[stack])
            assert gave[0] - took[1] <= change <= gave[1] - took[0], stack
