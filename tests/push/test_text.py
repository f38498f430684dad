"""Programs as other people write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flexicase.push import Big, Char, Symbol, parse, parse_all, unparse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"(\a \space \newline \tab \return \formfeed \backspace)", tuple(map(Char, "a \n\t\r\f\b"))),
        (r"(\u0041 \u00e9 \\ \( \) \[ \] \; \" \, \1)", tuple(map(Char, 'Aé\\()[];",1'))),
        (r"(\a\b)", (Char("a"), Char("b"))),
        (r'("a\n\t\"\\\u0041;" "")', ('a\n\t"\\A;', "")),
        ("(1 -2 +3 4N 1.0E-5 -2.5e3 .5 1.0E12)", (1, -2, 3, Big(4), 1e-5, -2500.0, 0.5, 1e12)),
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
    found = parse(unparse((Char(character), 5)))
    assert found == (Char(character), 5)
    assert type(found[0]) is Char


@given(st.text(alphabet='ab "\\\n\t\r\f\b;()\x00é\U0001f600', max_size=20))
def test_every_string_is_read_as_it_is_written(text: str) -> None:
    assert parse(unparse((text, [text]))) == (text, [text])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"(\spac)", "no character is named 'spac'; did you mean 'space'"),
        ('("abc', "cannot read"),
        ("(1", "not closed"),
        ("1)", "closes nothing"),
        ("(1]", "closes nothing"),
        ("", "found 0"),
        ("; only a comment", "found 0"),
        ("1 2", "found 2"),
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
