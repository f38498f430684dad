"""The instruction table against the published description of the language, where this machine has it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from flexicase.push import InstructionSet, instruction_table
from flexicase.push.instructions import Profile, descriptions

LISTS: tuple[Profile, ...] = ("W", "M", "L")


def page(name: str) -> str:
    """A page of the description."""
    shared = Path(os.environ.get("FLEXICASE_SHARED", Path(__file__).parents[3] / "shared"))
    path = shared / "spec" / name
    if not path.is_file():
        pytest.skip(f"the description of the language ({name}) is not on this machine (FLEXICASE_SHARED)")
    return path.read_text(encoding="utf-8")


class Row(NamedTuple):
    """An instruction as published; needs are None where they are not listed."""

    name: str
    stacks: frozenset[str]
    needs: dict[str, int] | None
    blocks: int
    profiles: str


def cells(line: str) -> list[str]:
    return [cell.strip().replace("\\*", "*") for cell in line.strip("|").split("|")]


def needs_of(text: str) -> dict[str, int]:
    return {stack: int(count) for count, stack in re.findall(r"(\d) (?:non-empty )?([a-z_]+)", text)}


def published_rows() -> list[Row]:
    """The rows of section 9, those of special instructions written out."""
    section = page("push-language.md").partition("\n## 9.")[2].partition("\n## 10.")[0]
    main, _, special = section.partition("### Special-purpose")
    lines = [cells(line) for line in main.splitlines() if re.match(r"\| [a-z]+_", line)]
    rows = [
        Row(name, frozenset(stacks.split(", ")), needs_of(needs), int(blocks), "WML" if lists == "all" else lists)
        for name, stacks, needs, _, blocks, lists in lines
    ]
    for line in special.splitlines():
        if not re.match(r"\| [a-z]+_", line):
            continue
        names, stacks, *rest = cells(line)
        for name in written_out(names):
            blocks = int(rest[1]) if len(rest) > 1 else 0
            rows.append(Row(name, special_stacks(name, stacks), None, blocks, ""))
    return rows


def written_out(names: str) -> list[str]:
    """``a_x/y_b`` as ``a_x_b`` and ``a_y_b``."""
    found: list[str] = []
    for name in names.split(", "):
        first, *others = name.split("/")
        if not others:
            found.append(name)
            continue
        prefix, _, own = first.rpartition("_")
        last, _, suffix = others[-1].partition("_")
        found += [f"{prefix}_{stack}_{suffix}" for stack in (own, *others[:-1], last)]
    return found


def special_stacks(name: str, stacks: str) -> frozenset[str]:
    if stacks.startswith("own stack"):
        own = name.partition("_")[0]
        return frozenset({own, "random", "integer"} if name == "code_rand" else {own, "random"})
    tagged = re.fullmatch(r"integer_tag_([a-z]+)_instruction", name)
    plain = frozenset(stacks.partition(" (")[0].split(", "))
    return plain | {tagged[1]} if tagged else plain


def test_every_published_instruction_is_there_and_no_other() -> None:
    rows = published_rows()
    names = [row.name for row in rows]
    assert len(names) == len(set(names)) == 417
    assert set(names) == set(descriptions())


def test_stacks_blocks_and_lists_are_as_published() -> None:
    table = instruction_table()
    for row in published_rows():
        ours = table[row.name]
        assert (frozenset(ours.stacks), ours.blocks, ours.profiles) == (row.stacks, row.blocks, row.profiles), row.name


def test_what_they_need_is_as_published() -> None:
    """The stacks that a description lists as taken, without optional ones, are the published needs."""
    for row in published_rows():
        if row.needs is None:
            continue
        takes = instruction_table()[row.name].takes
        ours = {stack: takes.count(stack) for stack in takes if stack[-1] not in "?*"}
        assert ours == row.needs, row.name


def test_sets_have_the_published_sizes() -> None:
    section = page("push-language.md").partition("\n## 10.")[2].partition("\n## 11.")[0]
    rows = [cells(line) for line in section.splitlines() if re.match(r"\| [a-z]", line)]
    assert len(rows) == 15
    for stacks, *sizes, _ in rows:
        if stacks.startswith("all"):
            ours = [len(InstructionSet.of_profile(name)) for name in LISTS]
        else:
            ours = [len(InstructionSet.of_stacks(*stacks.split(", "), profile=name)) for name in LISTS]
        assert ours == list(map(int, sizes)), stacks


def problems() -> dict[str, tuple[list[str], int]]:
    """The stacks of every problem and the number of its registered instructions in the list W."""
    found = {}
    for title, body in re.findall(r"^#{2,3} ([^\n]+)\n(.*?)(?=^#{2,3} |\Z)", page("psb1-problems.md"), re.M | re.S):
        text = " ".join(body.split())
        registered = re.search(r"\[\d+ \+ (\d+) = \d+\]", text)
        stacks = re.search(r"\*?Stacks\*?:? ([a-z_, ]+)", text)
        if registered and stacks:
            found[title] = (re.findall(r"[a-z]+(?:_[a-z]+)?", stacks[1]), int(registered[1]))
    return found


def test_every_problem_gets_its_registered_instructions() -> None:
    found = problems()
    assert len(found) == 29
    for title, (stacks, registered) in found.items():
        own = 3 if title == "Word Stats" else 0
        assert len(InstructionSet.of_stacks(*stacks)) == registered - own, title
