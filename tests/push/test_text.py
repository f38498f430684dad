"""Programs as text: whatever the text, reading it gives a program or a clear error."""

from __future__ import annotations

import math
import sys
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flexicase.push import BigInteger, Char, Limits, Program, Symbol, parse, parse_all, run, to_text

_PUNCTUATION = ["(", ")", "[", "]", " ", ",", '"', "\\", "\\a", "\\newline", '"a\\n"']
_NUMBERS = ["1", "-7", "3N", "1.5", "1e400", "##NaN", "99999999999999999999"]
_NAMES = ["nil", "true", "in1", "tag_exec_5", "tagged_99999999999999999999", "integer_add", "exec_y"]
PIECES = st.sampled_from([*_PUNCTUATION, *_NUMBERS, *_NAMES])
TEXTS = st.one_of(
    st.lists(PIECES, max_size=30).map(" ".join), st.lists(PIECES, max_size=30).map("".join), st.text(max_size=40)
)


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(TEXTS)
@example("(\ud800)")
@example("\x00")
@example('("\\ud800')
def test_any_text_is_read_or_refused_and_what_is_read_runs(text: str) -> None:
    """A crash, or another exception than these two, would break everything that reads programs from files."""
    try:
        program = Program(text)
    except (ValueError, TypeError):
        return
    state = run(program, [1, "a"], Limits(steps=100))
    assert state.steps <= 100
    assert str(Program(str(program))) == str(program)


ATOMS = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(10**12), 10**12).map(BigInteger),
    st.floats(),
    st.booleans(),
    st.none(),
    st.text(max_size=8),
    st.characters(max_codepoint=0xFFFF, exclude_characters="\x00").map(Char),
    st.sampled_from(["integer_add", "in1", "tag_exec_5", "untag_3", "somewhere"]).map(Symbol),
    st.lists(st.integers(-5, 5), max_size=4),
    st.lists(st.floats(), max_size=4),
    st.lists(st.text(max_size=4), max_size=4),
)
CODE = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=20).map(lambda x: (x,))


@settings(max_examples=300, deadline=None)
@given(CODE)
def test_what_is_written_reads_back_as_the_same_value(code: object) -> None:
    text = to_text(code)
    assert to_text(parse(text)) == text
    assert repr(parse(text)) == repr(Program(code).code)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [9_000, 20_000, 500_000])
def test_deep_nesting_is_run_or_refused(depth: int) -> None:
    """Not with a RecursionError, nor by overflowing the stack of the process."""
    text = "(" * depth + ")" * depth
    if depth > 10_000:
        with pytest.raises(ValueError, match="nested at most 10000 deep"):
            Program(text)
    else:
        state = run(Program(text), limits=Limits(steps=100))
        assert state.termination == "step_limit"
        assert sys.getrecursionlimit() < depth


def test_numbers_that_are_none_have_names() -> None:
    assert to_text((math.nan, [math.inf, -math.inf])) == "(##NaN [##Inf ##-Inf])"
    assert parse("[##Inf ##-Inf]") == [math.inf, -math.inf]
    assert math.isnan(parse("##NaN"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"(\a \space \newline \tab \return \formfeed \backspace)", tuple(map(Char, "a \n\t\r\f\b"))),
        (r"(\u0041 \u00e9 \\ \( \) \[ \] \; \" \, \1)", tuple(map(Char, 'Aé\\()[];",1'))),
        (r"(\a\b)", (Char("a"), Char("b"))),
        (r'("a\n\t\"\\\u0041;" "")', ('a\n\t"\\A;', "")),
        ("(1 -2 +3 4N 1.0E-5 -2.5e3 .5 1.0E12)", (1, -2, 3, BigInteger(4), 1e-5, -2500.0, 0.5, 1e12)),
        ('([] [1 2] [1.5] [true false] ["a" ""])', ([], [1, 2], [1.5], [True, False], ["a", ""])),
        ("; a title\n(1 ; one\n\n  in1,exec_do*times)\n; the end", (1, Symbol("in1"), Symbol("exec_do*times"))),
        ("(true false nil ())", (True, False, None, ())),
    ],
)
def test_text_that_clojush_prints_and_people_edit(text: str, value: object) -> None:
    found = parse(text)
    assert found == value
    assert list(map(type, found)) == list(map(type, value))  # type: ignore[call-overload]


@given(st.characters(max_codepoint=0xD7FF))
def test_every_character_is_read_as_it_is_written(character: str) -> None:
    found = parse(to_text((Char(character), 5)))
    assert found == (Char(character), 5)
    assert type(found[0]) is Char


@given(st.text(alphabet='ab "\\\n\t\r\f\b;()\x00é\U0001f600', max_size=20))
def test_every_string_is_read_as_it_is_written(text: str) -> None:
    assert parse(to_text((text, [text]))) == (text, [text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"(\spac)", "no character is named 'spac'; did you mean 'space'"),
        ('("abc', "cannot read"),
        ("(1", "not closed"),
        ("1)", "closes nothing"),
        ("(1]", "closes nothing"),
        ("", "got 0"),
        ("; only a comment", "got 0"),
        ("1 2", "got 2"),
    ],
)
def test_text_that_is_no_program_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_several_values() -> None:
    assert parse_all("in1 (2) ; three\n 3") == [Symbol("in1"), (2,), 3]


def test_hostile_comments_take_no_time() -> None:
    start = time.process_time()
    with pytest.raises(ValueError, match="cannot read"):
        parse("(1 " + ";" * 20_000 + " a b\n" * 50 + '"x')
    assert time.process_time() - start < 2.0
