"""Behaviour that programs seldom meet, statement by statement of the language reference."""

from __future__ import annotations

import math
from typing import Any

import pytest

from flexicase import push
from flexicase.push import BigInteger, Char, Float32, Limits, Symbol, parse, run

NAN, INF = math.nan, math.inf


def execute(instruction: str, points: int = 1200, keep_nan: bool = False, **stacks: list[Any]) -> dict[str, list[Any]]:
    """The stacks after one instruction; all lists top first."""
    limits = Limits(points=points, keep_nan=keep_nan)
    return dict(push.execute(Symbol(instruction), {"output": [], **stacks}, limits=limits).stacks)


def printed(instruction: str, **stacks: list[Any]) -> str:
    return str(execute(instruction, output=[""], **stacks)["output"][0])


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("(1 2)", "[1 2]", True),
        ("((1) 2)", "([1] 2)", True),
        ("()", "[]", True),
        ("(1)", "(1.0)", False),
        ("3", "3N", True),
        ('("a")', '("a" "b")', False),
        ("-0.0", "0.0", True),
        ("##NaN", "##NaN", True),
        ("tag_exec_3", "tag_code_3", False),
    ],
)
def test_equality(first: str, second: str, same: bool) -> None:
    """A list equals a vector with equal elements; kinds of numbers stay apart; the big flag does not count."""
    assert execute("code_eq", code=[parse(first), parse(second)])["boolean"] == [same]


def test_search_in_code_takes_a_single_and_a_double_apart() -> None:
    assert execute("code_member", code=[(0.5,), Float32(0.5)])["boolean"] == [False]
    assert execute("code_member", code=[(0.5,), 0.5])["boolean"] == [True]
    assert execute("code_eq", code=[0.5, Float32(0.5)])["boolean"] == [True]


def test_false_and_nil_are_never_found() -> None:
    for item in (False, None):
        assert execute("code_member", code=[(item, 1), item])["boolean"] == [False]
        assert execute("code_position", code=[(1, item), item])["integer"] == [-1]
        assert execute("code_container", code=[((item,),), item])["code"] == [None]


def test_substitution_leaves_vectors_alone_and_works_from_the_leaves_up() -> None:
    assert execute("code_subst", code=[parse("(1 [1 2] (1))"), 1, 9])["code"] == [parse("(9 [1 2] (9))")]
    assert execute("code_subst", code=[parse("((1))"), parse("(2)"), 1])["code"] == [parse("((1))")]
    assert execute("code_subst", code=[parse("(1 (1))"), parse("(1)"), 7])["code"] == [parse("(1 7)")]
    assert execute("code_contains", code=[1, parse("([1])")])["boolean"] == [False]


def test_nan_in_vectors() -> None:
    vector = [1.0, NAN, 2.0, NAN]
    assert execute("vector_float_contains", vector_float=[vector], float=[NAN])["boolean"] == [True]
    assert execute("vector_float_indexof", vector_float=[vector], float=[NAN])["integer"] == [1]
    assert execute("vector_float_occurrencesof", vector_float=[vector], float=[NAN])["integer"] == [2]
    assert execute("vector_float_remove", vector_float=[vector], float=[NAN])["vector_float"] == [[1.0, 2.0]]
    first = execute("vector_float_replacefirst", vector_float=[vector], float=[5.0, NAN])["vector_float"][0]
    assert first[:3] == [1.0, 5.0, 2.0]
    every = execute("vector_float_replace", vector_float=[vector], float=[5.0, NAN])
    assert repr(every["vector_float"][0]) == repr(vector)
    assert "float" not in every
    assert repr(execute("vector_float_sort", vector_float=[[1.0, 4.0, NAN, 2.0]])["vector_float"][0]) == (
        "[1.0, 4.0, nan, 2.0]"
    )
    assert repr(execute("vector_float_sort", vector_float=[[5.0, 3.0, NAN, 1.0]])["vector_float"][0]) == (
        "[1.0, 3.0, 5.0, nan]"
    )


def test_sorting_is_stable_at_any_length() -> None:
    """Equal numbers of different flags keep their order, however many there are."""
    for length in (5, 31, 32, 100):
        vector = [BigInteger(i % 3) if i % 2 else i % 3 for i in range(length)]
        found = execute("vector_integer_sort", vector_integer=[vector])["vector_integer"][0]
        expected = sorted(vector)
        assert [(int(x), type(x)) for x in found] == [(int(x), type(x)) for x in expected]


def test_minimum_and_maximum() -> None:
    """A NaN wins, wherever it is; on a tie the top stays, with its flag."""
    for name in ("float_min", "float_max"):
        assert math.isnan(execute(name, float=[1.0, NAN])["float"][0])
        assert math.isnan(execute(name, float=[NAN, 1.0])["float"][0])
        assert type(execute(name, float=[Float32(0.5), 0.5])["float"][0]) is Float32
    assert type(execute("integer_min", integer=[3, BigInteger(3)])["integer"][0]) is int
    assert type(execute("integer_max", integer=[BigInteger(3), 3])["integer"][0]) is BigInteger


def test_limits_of_numbers() -> None:
    assert execute("float_add", float=[NAN, 1.0])["float"] == [0.0]
    assert math.isnan(execute("float_add", keep_nan=True, float=[NAN, 1.0])["float"][0])
    assert execute("float_mult", float=[1e-6, 1e-5])["float"] == [0.0]
    assert execute("float_mult", float=[1e-6, 1e-4])["float"] == [1e-10]
    assert str(execute("float_negate", float=[0.0])["float"][0]) == "0.0"
    assert execute("float_inc", float=[INF])["float"] == [1e12]
    assert execute("integer_mult", integer=[2**63 - 1, -(2**63)])["integer"] == [-(10**12)]
    assert execute("integer_fromfloat", float=[1e300])["integer"] == [2**63 - 1]
    assert execute("integer_fromfloat", float=[NAN])["integer"] == [0]


@pytest.mark.parametrize(
    ("divisor", "dividend", "quotient", "big"),
    [
        (2, 7, 3, True),
        (2, -7, -3, True),
        (10**11, 1, 0, False),
        (10**10, 1, 0, True),
        (2, 6, 3, False),
        (3, 3 * 10**12 + 1, 10**12, False),
    ],
)
def test_big_flag_of_a_quotient(divisor: int, dividend: int, quotient: int, big: bool) -> None:
    """Inexact quotients are big, unless they are tiny or had to be clamped."""
    (found,) = execute("integer_div", integer=[divisor, dividend])["integer"]
    assert (found, type(found) is BigInteger) == (quotient, big)


def test_big_flag_of_a_power_is_that_of_the_base() -> None:
    assert type(execute("integer_pow", integer=[2, BigInteger(3)])["integer"][0]) is BigInteger
    assert type(execute("integer_pow", integer=[BigInteger(2), 3])["integer"][0]) is int
    assert type(execute("integer_pow", integer=[50, BigInteger(3)])["integer"][0]) is int
    assert execute("integer_pow", integer=[41, -2])["integer"] == [-(10**12)]
    assert execute("integer_pow", integer=[-1, -1])["integer"] == [0]
    assert execute("integer_pow", integer=[0, 0])["integer"] == [0]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.001, "0.001"),
        (0.0009999, "9.999E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-0.0, "-0.0"),
        (2.0**-31, "4.6566128730773926E-10"),
        (2.0**-24, "5.9604644775390625E-8"),
        (1e-300, "1.0E-300"),
        (2.0**-1074, "4.9E-324"),
        (2.0**-1036, "1.358077306218E-312"),
        (2.0**200, "1.6069380442589903E60"),
        (NAN, "NaN"),
        (-INF, "-Infinity"),
        (Float32(123456792.0), "1.23456792E8"),
        (Float32(999999995904.0), "1.0E12"),
        (Float32(0.10000000149011612), "0.1"),
        (Float32(33554432.0), "3.3554432E7"),
    ],
)
def test_text_of_floats(value: float, text: str) -> None:
    """As Java 17 writes them: its powers of two and whole singles have more digits than they need."""
    assert execute("string_fromfloat", float=[value])["string"] == [text]


@pytest.mark.usefixtures("decimal_comma")
def test_numbers_have_a_point_in_every_locale() -> None:
    """With a decimal comma, reading "1.5" would stop at the point and give 1.0."""
    assert execute("float_fromstring", string=["1.5"])["float"] == [Float32(1.5)]
    assert execute("float_fromstring", string=["0x1.8p0"])["float"] == [Float32(1.5)]
    assert execute("float_fromstring", string=["1,5"])["string"] == ["1,5"]
    assert execute("string_fromfloat", float=[1.5])["string"] == ["1.5"]
    assert execute("string_fromfloat", float=[1.5e300])["string"] == ["1.5E300"]
    assert printed("print_float", float=[912345678.0625]) == "9.123456780625E8"
    assert parse("1.5") == 1.5


def test_printing() -> None:
    assert printed("print_vector_float", vector_float=[[NAN, INF, -INF, Float32(0.5)]]) == "[##NaN ##Inf ##-Inf 0.5]"
    assert printed("print_float", float=[NAN]) == "0.0"
    assert printed("print_float", float=[-INF]) == "-9.223372036854776E8"
    assert printed("print_float", float=[-1e-11]) == "0.0"
    assert printed("print_float", float=[1 / 3]) == "0.3333333333"
    assert printed("print_code", code=["a\n"]) == "a\n"
    assert (
        printed("print_code", code=[("a\n\\", Char(" "), Char("x"), None, BigInteger(3))])
        == '("a\\n\\\\" \\space \\x nil 3N)'
    )
    assert printed("print_vector_string", vector_string=[['"', "\t\f\b\r"]]) == '["\\"" "\\t\\f\\b\\r"]'
    assert execute("print_newline")["output"] == [":no-stack-item\n"]
    full = "x" * 4999
    assert execute("print_char", output=[full], char=[Char("a")])["output"] == [full + "a"]
    kept = execute("print_integer", output=[full], integer=[10])
    assert kept == {"output": [full], "integer": [10]}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x1.8p1", 3.0),
        ("\x01 +1.5e1f\x1f", 15.0),
        ("1d", 1.0),
        (".5F", 0.5),
        ("-Infinity", -1e12),
        ("1e400", 1e12),
        ("1e-46", 0.0),
        ("NaN", 0.0),
        ("0x1.8", None),
        ("1e", None),
        (".", None),
        ("1_0", None),
        ("nan", None),
        ("\u07c1", None),
        ("", None),
    ],
)
def test_reading_floats(text: str, value: float | None) -> None:
    found = execute("float_fromstring", string=[text])
    assert found == ({"string": [text]} if value is None else {"float": [value]})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("+7", 7),
        ("-9223372036854775808", -(10**12)),
        ("9223372036854775808", None),
        ("\u07c1\u07c2", 12),
        ("-", None),
        ("+-1", None),
        (" 7", None),
        ("", None),
    ],
)
def test_reading_integers(text: str, value: int | None) -> None:
    """Any decimal digit of Unicode counts, as in Java."""
    found = execute("integer_fromstring", string=[text])
    assert found == ({"string": [text]} if value is None else {"integer": [value]})


def test_strings() -> None:
    assert execute("string_replace", string=["$1", ".", "a.b"])["string"] == ["a$1b"]
    assert execute("string_replacefirst", string=["\\", "", "ab"])["string"] == ["\\ab"]
    assert execute("string_replace", string=["x", "", ""])["string"] == ["x"]
    assert len(execute("string_replace", string=["yy", "x", "x" * 2501])["string"]) == 3
    assert execute("string_capitalize", string=["\u00dfA\u00c9"])["string"] == ["SSa\u00e9"]
    assert execute("string_uppercase", string=["\u00e9\ud800"])["string"] == ["\u00c9\ud800"]
    assert execute("string_split", string=["\u2003a\x1cb \x0b c\n"])["string"] == ["a\x1cb", "c"]
    assert execute("string_setchar", string=[""], char=[Char("a")], integer=[3]) == {"string": [""]}
    assert execute("char_isletter", char=[Char("\u03a9")])["boolean"] == [True]
    assert execute("char_uppercase", char=[Char("\u00e9")])["char"] == [Char("\u00e9")]
    assert execute("char_frominteger", integer=[-1])["char"] == [Char("\x7f")]


def test_amounts_are_clamped() -> None:
    assert execute("integer_dup_times", points=5, integer=[9, 1, 2, 3])["integer"] == [1, 1, 1, 2, 3]
    assert execute("integer_dup_times", integer=[-1, 1, 2])["integer"] == [2]
    assert execute("integer_dup_items", points=5, integer=[9, 1, 2, 3])["integer"] == [1, 2, 1, 2, 3]
    assert execute("char_dup_items", integer=[2]) == {}
    assert execute("integer_yank", integer=[2**63 - 1, 1, 2, 3])["integer"] == [3, 1, 2]
    assert execute("integer_yankdup", integer=[-(2**63), 1, 2])["integer"] == [1, 1, 2]
    assert execute("integer_deepdup", integer=[0, 1, 2])["integer"] == [2, 1, 2]
    assert execute("integer_shove", integer=[9, 1, 2, 3])["integer"] == [2, 3, 1]


def test_code_at_an_index_counts_from_the_front_of_the_tree() -> None:
    tree = parse("(1 (2 ()) 3)")
    found = [execute("code_extract", code=[tree], integer=[n])["code"][0] for n in range(7)]
    assert found == [tree, 1, parse("(2 ())"), 2, (), 3, tree]
    assert execute("code_extract", code=[tree], integer=[-(2**63)])["code"] == [parse("(2 ())")]
    assert execute("code_insert", code=[tree, 9], integer=[-4])["code"] == [parse("(1 (2 9) 3)")]
    assert execute("code_insert", code=[5, 9], integer=[3])["code"] == [9]
    assert execute("code_nth", code=[()], integer=[3]) == {"code": [()], "integer": [3]}


def test_code_is_not_made_deeper_than_200() -> None:
    code: Any = ()
    for _ in range(200):
        code = (code,)
    assert execute("code_wrap", code=[code[0]])["code"] == [code]
    assert execute("code_wrap", code=[code])["code"] == [code]
    assert execute("exec_y", exec=[code])["exec"] == [code]


def test_tags_wrap_around_and_vector_tags_do_nothing() -> None:
    state = run("(1 tag_integer_5 2 tag_integer_9 tagged_6 tagged_10 untag_10 tagged_0 [7] tag_vector_integer_3)")
    assert state.stacks["integer"] == [2, 1, 2]
    assert state.stacks["vector_integer"] == [[7]]
    assert run("(1 tag_integer_5 false tagged_when_0 tagged_code_9)").stacks["code"] == [1]


def test_loops_without_their_arguments() -> None:
    assert execute("exec_while", exec=[1, 2]) == {"exec": [2]}
    assert execute("exec_do*while", exec=[1]) == {"exec": [1, Symbol("exec_while"), 1]}
    assert execute("exec_do*count", exec=[1], integer=[0]) == {"exec": [1], "integer": [0]}
    found = execute("exec_do*times", exec=[(7,)], integer=[BigInteger(3)])["exec"]
    assert found == [(0, 2, Symbol("exec_do*range"), (Symbol("integer_pop"), 7))]
    assert type(found[0][1]) is BigInteger
