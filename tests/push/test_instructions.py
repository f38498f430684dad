"""The instruction table, sets of instructions, and single instructions."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from flexicase import _native, problems, push
from flexicase.push import (
    Char,
    Evaluator,
    Instruction,
    InstructionSet,
    Limits,
    Program,
    Symbol,
    instruction_table,
    run,
    trace_program,
)
from flexicase.push.draws import VISIBLE
from flexicase.push.instructions import STACKS, descriptions

# The instruction table and sets.


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
    sizes = [len(InstructionSet.from_stacks(*names, instruction_set=name)) for name in ("2019", "2021", "2023")]
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
        InstructionSet.from_stacks("intger")
    with pytest.raises(ValueError, match="instruction_set"):
        InstructionSet.from_name("X")  # type: ignore[arg-type]


def test_only_code_and_exec_instructions_open_blocks() -> None:
    openers = [row.name for row in instruction_table().values() if row.blocks]
    assert all(name.startswith(("exec_", "code_quote", "print_exec", "noop_open")) for name in openers)


# What the table says that instructions take and give is what they do take and give.


NATIVE = [row for row in instruction_table().values() if row.name in descriptions()]
# They do nothing, or nothing with the samples.
IDLE = {
    *("exec_noop", "code_noop", "noop_open_paren", "noop_delete_prev_paren_pair", "file_begin"),
    "string_bowling_atoi",
}

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
    after = push.execute(Symbol(name), stacks, INPUTS)
    assert after.termination == "normal"
    return dict(after.stacks)


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


# The instruction table and the instruction sets against the published figures of Clojush (published_table.json).


PUBLISHED: dict[str, Any] = json.loads(Path(__file__).with_name("published_table.json").read_text(encoding="utf-8"))


#: The published table's letters for our instruction lists.
LISTS = {"W": "2019", "M": "2021", "L": "2023"}


def _letters(instruction_sets: tuple[str, ...]) -> str:
    return "".join(letter for letter, name in LISTS.items() if name in instruction_sets)


def test_every_published_instruction_is_there_and_no_other() -> None:
    assert len(PUBLISHED["instructions"]) == 424
    assert set(PUBLISHED["instructions"]) == set(descriptions())


def test_stacks_blocks_and_lists_are_as_published() -> None:
    for name, row in PUBLISHED["instructions"].items():
        ours = instruction_table()[name]
        found = {"stacks": sorted(ours.stacks), "blocks": ours.blocks, "profiles": _letters(ours.instruction_sets)}
        assert {**found, "needs": row["needs"]} == row, name


def test_what_they_need_is_as_published() -> None:
    """The stacks that a description lists as taken, not the optional ones, are the needs (null: unlisted)."""
    listed = {name: row["needs"] for name, row in PUBLISHED["instructions"].items() if row["needs"] is not None}
    assert len(listed) == 402
    for name, needs in listed.items():
        takes = instruction_table()[name].takes
        assert {stack: takes.count(stack) for stack in takes if stack[-1] not in "?*"} == needs, name


def test_sets_have_the_published_sizes() -> None:
    assert len(PUBLISHED["sets"]) == 15
    for row in PUBLISHED["sets"]:
        stacks = row["stacks"]
        ours = {
            letter: len(
                InstructionSet.from_name(LISTS[letter])
                if stacks is None
                else InstructionSet.from_stacks(*stacks, instruction_set=LISTS[letter])
            )
            for letter in row["sizes"]
        }
        assert ours == row["sizes"], stacks


def test_every_problem_gets_its_registered_instructions() -> None:
    assert len(PUBLISHED["problems"]) == 29
    for name, row in PUBLISHED["problems"].items():
        stacks = problems.load(name).stacks
        assert sorted(stacks) == row["stacks"], name
        own = 3 if name == "word-stats" else 0
        assert len(InstructionSet.from_stacks(*stacks)) == row["registered"] - own, name


# Instructions that no problem's stacks bring in: numbers for tags, random values, reading a text.


def test_integers_name_tags() -> None:
    state = run("(5 12 integer_tag_integer_instruction -12 integer_tagged_instruction)")
    assert state.stacks["integer"] == [5]
    assert state.stacks["tag"] == [(12, 5)]
    assert run("(5 10012 integer_tag_integer_instruction 0 integer_untag_instruction)").stacks == {"output": [""]}
    tagged = run("(3 integer_tag_exec_instruction (7 8) tagged_0)")
    assert tagged.stacks["tag"] == [(3, (7, 8))]
    assert tagged.stacks["integer"] == [8, 7]


@pytest.mark.parametrize("stack", ["code", "float", "boolean", "char", "string"])
def test_integers_name_tags_of_each_stack(stack: str) -> None:
    literal = {"code": "code_quote (x)", "float": "1.5", "boolean": "true", "char": "\\a", "string": '"s"'}[stack]
    state = run(f"({literal} {-(2**63)} integer_tag_{stack}_instruction)")
    assert [number for number, _ in state.stacks["tag"]] == [2**63 % 10_000]
    assert stack not in state.stacks


def test_a_text_is_read_to_its_end_and_again() -> None:
    text = "ab\ncd"
    state = run("(file_readchar file_readline file_EOF file_readline file_EOF file_readchar in1)", [text, text])
    assert state.stacks["char"] == [Char("a")]
    assert state.stacks["string"] == ["", "cd", "b\n"]
    assert state.stacks["boolean"] == [True, False]
    again = run("(file_readline file_readline file_begin file_readline)", [text, text])
    assert again.stacks["string"] == ["ab\n", "cd", "ab\n"]
    assert run("(file_readchar file_readline file_EOF file_begin)").stacks == {"output": [""]}


def test_reading_is_seen_in_traces_and_starts_anew_in_each_run() -> None:
    program = Program("(file_readline file_readline)")
    assert trace_program(program, ["a\nb", "a\nb"]).steps[-1].state.stacks["string"] == ["b", "a\n"]
    evaluator = Evaluator([["a\nb", "a\nb"]] * 3, ["b"] * 3, stack="string", error="mismatch")
    assert evaluator.errors([program, program]).sum() == 0


def test_file_instructions_join_no_set_by_themselves() -> None:
    """They belong to one problem, which names them; their stacks alone would bring them into many others."""
    assert not [name for name in InstructionSet.from_stacks("char", "string", "boolean") if name.startswith("file_")]


def test_output_slots_keep_the_last_answer_and_leave_the_stacks() -> None:
    state = run("(output_integer1 7 output_integer1 8 output_integer1 output_integer3 [] output_vector_integer2)")
    assert state.stacks["integer"] == [8, 7]
    assert [state.top(f"output{i}") for i in range(1, 5)] == [8, [], 8, None]
    assert trace_program("(5 output_integer4)").steps[-1].shown() == {"integer": "5", "output4": "5"}
    assert run("()").stacks == {"output": [""]}, "slots of an earlier run are gone"


def test_slots_are_measured_by_kind() -> None:
    """A slot can hold a number or a vector, whatever the measure expects."""
    programs = [Program(code) for code in ("(7 output_integer1)", "([1] output_vector_integer1)", "()")]
    numbers = Evaluator([[]], [5], stack="output1", error="absolute", penalty=100)
    assert numbers.errors(programs).tolist() == [[2], [100], [100]]
    assert numbers.outputs(programs[1], "output1") == [[1]]
    vectors = Evaluator([[]], [[1]], stack="output1", error="vector_difference", penalty=50)
    assert vectors.errors(programs).tolist() == [[50], [0], [50]]
    edits = Evaluator([[]], [[1, 2]], stack="output1", error="levenshtein", penalty=50)
    assert edits.errors(programs).tolist() == [[50], [1], [50]]
    texts = Evaluator([[]], [1], stack="output1", error="newlines", penalty=50)
    assert texts.errors(programs).tolist() == [[50], [50], [50]]


@pytest.mark.parametrize("c", "123456789-X/")
def test_pins_of_a_roll(c: str) -> None:
    state = run((Char(c), Symbol("string_bowling_atoi")))  # type: ignore[arg-type]
    assert state.top("integer") == {"-": 0, "X": 10, "/": 10}.get(c, ord(c) - 48)
    assert "char" not in state.stacks


@pytest.mark.parametrize("c", "0x: ")
def test_other_characters_are_no_rolls(c: str) -> None:
    state = run((Char(c), Symbol("string_bowling_atoi")))  # type: ignore[arg-type]
    assert state.stacks["char"] == [c]
    assert "integer" not in state.stacks


def test_the_list_of_the_second_suite() -> None:
    """The latest one without deepdup and with string_contains."""
    latest, psb2 = InstructionSet.from_name("2023"), InstructionSet.from_name("psb2")
    deepdup = [name for name in latest if name.endswith("_deepdup")]
    assert psb2 == latest - deepdup + ["string_contains"]
    assert len(psb2) == 394 - 7 + 1


def test_random_values_have_their_ranges() -> None:
    names = " ".join(["boolean_rand integer_rand float_rand char_rand string_rand"] * 2000)
    stacks = run(f"({names})", limits=Limits(steps=20_000)).stacks
    assert set(stacks["boolean"]) == {True, False}
    assert Counter(stacks["integer"]).keys() == set(range(-10, 11))
    assert all(-1 <= value < 1 for value in stacks["float"])
    assert abs(sum(stacks["float"]) / 2000) < 0.1
    assert set(stacks["char"]) == set(VISIBLE)
    assert {len(text) for text in stacks["string"]} == set(range(1, 10))
    assert set("".join(stacks["string"])) == set(VISIBLE)


def test_random_code_is_no_larger_than_asked() -> None:
    for n in (0, 1, 7, -49, 50, 2**62):
        most = 1 + abs(n) % 50
        program = Program("(" + f"{n} code_rand code_size " * 200 + ")")
        sizes = run(program, limits=Limits(steps=1000)).stacks["integer"]
        assert len(sizes) == 200
        assert set(sizes) <= set(range(1, most + 1))
        assert len(set(sizes)) > min(most, 30) / 2
    atom = run("(code_rand_atom)").top("code")
    assert atom in InstructionSet.from_name("2019")


def test_a_seed_gives_the_same_draws() -> None:
    program = Program("(float_rand 20 code_rand string_rand)")
    first, again, other = (run(program, limits=Limits(seed=seed)) for seed in (1, 1, 2))
    assert first == again
    assert first.top("float") != other.top("float")
    assert first.stacks == trace_program(program, limits=Limits(seed=1)).steps[-1].state.stacks
    evaluator = Evaluator([[]] * 200, [0.0] * 200, stack="float", limits=Limits(seed=1))
    assert evaluator.errors([program], threads=3).tolist() == evaluator.errors([program], threads=1).tolist()
    with pytest.raises(ValueError, match="seed must be at least 0"):
        Limits(seed=-1)


@pytest.mark.parametrize("program", ['("NaN" float_fromstring)', "([2.0] float_sqrt -1.0 float_sqrt)"])
def test_what_is_not_a_number_stays_so_in_list_w_only(program: str) -> None:
    kept, cleared = (run(program, limits=Limits(keep_nan=keep)).top("float") for keep in (True, False))
    assert math.isnan(kept)
    assert cleared == 0.0


def test_a_nan_spreads_through_arithmetic_in_list_w() -> None:
    state = run('("NaN" float_fromstring 1.0 float_add float_dup float_dup float_eq)', limits=Limits(keep_nan=True))
    assert math.isnan(state.top("float"))
    assert state.top("boolean") is True  # a value is equal to itself, even this one
