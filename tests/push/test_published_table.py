"""The instruction table and the instruction sets against the published figures of Clojush (published_table.json)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flexicase import problems
from flexicase.push import InstructionSet, instruction_table
from flexicase.push.instructions import descriptions

PUBLISHED: dict[str, Any] = json.loads(Path(__file__).with_name("published_table.json").read_text(encoding="utf-8"))


def test_every_published_instruction_is_there_and_no_other() -> None:
    assert len(PUBLISHED["instructions"]) == 417
    assert set(PUBLISHED["instructions"]) == set(descriptions())


def test_stacks_blocks_and_lists_are_as_published() -> None:
    for name, row in PUBLISHED["instructions"].items():
        ours = instruction_table()[name]
        found = {"stacks": sorted(ours.stacks), "blocks": ours.blocks, "profiles": ours.profiles}
        assert {**found, "needs": row["needs"]} == row, name


def test_what_they_need_is_as_published() -> None:
    """The stacks that a description lists as taken, not the optional ones, are the needs (null: unlisted)."""
    listed = {name: row["needs"] for name, row in PUBLISHED["instructions"].items() if row["needs"] is not None}
    assert len(listed) == 395
    for name, needs in listed.items():
        takes = instruction_table()[name].takes
        assert {stack: takes.count(stack) for stack in takes if stack[-1] not in "?*"} == needs, name


def test_sets_have_the_published_sizes() -> None:
    assert len(PUBLISHED["sets"]) == 15
    for row in PUBLISHED["sets"]:
        stacks = row["stacks"]
        ours = {
            profile: len(
                InstructionSet.of_profile(profile)
                if stacks is None
                else InstructionSet.of_stacks(*stacks, profile=profile)
            )
            for profile in row["sizes"]
        }
        assert ours == row["sizes"], stacks


def test_every_problem_gets_its_registered_instructions() -> None:
    assert len(PUBLISHED["problems"]) == 29
    for name, row in PUBLISHED["problems"].items():
        stacks = problems.load(name).stacks
        assert sorted(stacks) == row["stacks"], name
        own = 3 if name == "word-stats" else 0
        assert len(InstructionSet.of_stacks(*stacks)) == row["registered"] - own, name
