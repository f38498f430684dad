"""Instructions that no problem's stacks bring in: numbers for tags, random values, reading a text."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from flexicase.push import Char, Evaluator, InstructionSet, Limits, Program, run, trace_program
from flexicase.push.genome import VISIBLE


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
    assert not [name for name in InstructionSet.of_stacks("char", "string", "boolean") if name.startswith("file_")]


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
    assert atom in InstructionSet.of_profile("W")


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
