"""Wrong arguments are refused with their name, what they must be and what they were; NumPy's scalars are values."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexicase import push
from flexicase.push import (
    Char,
    ErrorMeasure,
    Evaluator,
    Gene,
    Genome,
    InstructionSet,
    Limits,
    Marker,
    Program,
    RandomBoolean,
    RandomChar,
    RandomFloat,
    RandomInteger,
    RandomString,
    RandomTag,
    RandomTagged,
    RandomVector,
    RandomWords,
    Symbol,
    parse,
    remove_instruction,
    run,
    to_text,
    trace_program,
)
from tests.hostile.values import EFFORT

PROGRAM = Program("(in1)")


def evaluator(**options: Any) -> Evaluator:
    return Evaluator([[1], [2]], [1, 4], **{"stack": "integer", **options})


def instruction(function: Any = abs, **options: Any) -> Any:
    return push.instruction(**{"name": "never_registered", **options})(function)


def named(name: str) -> Callable[[], None]:
    def function() -> None:
        pass

    function.__name__ = name
    return function


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: Limits(steps=1e6), TypeError, r"steps must be an integer, got 1000000\.0"),
    (lambda: Limits(steps=-1), ValueError, "steps must be at least 0, got -1"),
    (lambda: Limits(memory=2**63), ValueError, r"memory must be at most [\d,]+, got 9223372036854775808"),
    (lambda: Limits(keep_nan=1), TypeError, "keep_nan must be True or False, got 1"),
    (lambda: Limits(seed=2**64), ValueError, "seed must be at most"),
    (lambda: run("(in1)", 7), TypeError, "inputs must be a sequence of values, got 7"),
    (lambda: run("(in1)", "abc"), TypeError, "inputs must be a sequence of values, got 'abc'"),
    (lambda: run("(in1)", (n for n in [1])), TypeError, "inputs must be a sequence of values, got <generator"),
    (lambda: run("(in1)", [1, b"x"]), TypeError, r"inputs\[1\] must be an int, float, .* or Char, got bytes"),
    (lambda: run("(in1)", [10**400]), ValueError, r"inputs\[0\] must fit in 64 bits, got an integer of 1329 bits"),
    (lambda: run("(in1)", [[1, "a"]]), TypeError, r"inputs\[0\] must be a vector of values of one kind .* got str"),
    (lambda: run("(in1)", [[[1], [2, 3]]]), TypeError, r"inputs\[0\] must be a vector of ints, .* got list"),
    (lambda: run("(in1)", [Char("ab")]), ValueError, r"inputs\[0\] must have characters of one UTF-16 unit"),
    (lambda: run("(in1)", [Symbol("größe")]), ValueError, r"inputs\[0\] must have symbols of printable ASCII"),
    (lambda: run(7), TypeError, "program must be a Program, a text or a tuple, got 7"),
    (lambda: run("(1)", [], 600), TypeError, r"limits must be Limits, such as Limits\(steps=600\), got 600"),
    (lambda: run("(1)").top("integers"), ValueError, "stack must be one of .* did you mean 'integer'"),
    (lambda: trace_program(None), TypeError, "program must be a Program"),
    (lambda: trace_program("(in1)", {1}), TypeError, "inputs must be a sequence of values, got {1}"),
    (lambda: Program(b"(in1)"), TypeError, "code must be an int, float, .* got bytes"),
    (lambda: Program.from_bytes("x"), TypeError, "data must be bytes, got 'x'"),
    (lambda: parse(b"(1)"), TypeError, r"text must be a string, got b'\(1\)'"),
    (lambda: parse("1" * 5000), ValueError, "text must have integers of at most 1000 digits, got one of 5000"),
    (lambda: to_text(object()), TypeError, "value must be an int, float, .* got object"),
    (lambda: Evaluator(5, [], stack="integer"), TypeError, "inputs must be a sequence of cases, got 5"),
    (lambda: Evaluator([5], [1], stack="integer"), TypeError, r"inputs\[0\] must be a sequence of values, got 5"),
    (lambda: Evaluator([[1], [{}]], [1, 1], stack="integer"), TypeError, r"inputs\[1\]\[0\] must be .* got dict"),
    (lambda: Evaluator([[1]], [{}], stack="integer"), TypeError, r"expected\[0\] must be an int, .* got dict"),
    (
        lambda: Evaluator([[1]], ["x"], stack="integer"),
        ValueError,
        r"expected\[0\] must be a number for the error 'abs",
    ),
    (lambda: evaluator(stack="string"), ValueError, "the error 'absolute' cannot be measured on the stack 'string'"),
    (lambda: evaluator(stack=3), TypeError, "stack must be one of"),
    (lambda: evaluator(error=None), TypeError, "error must be a function or the name of an error measure, got None"),
    (lambda: evaluator(penalty="1"), TypeError, "penalty must be a number, got '1'"),
    (lambda: evaluator(decimals=2.5), TypeError, r"decimals must be an integer, got 2\.5"),
    (lambda: evaluator(limits=None), TypeError, "limits must be Limits"),
    (lambda: evaluator(stack=None, measures=[7]), TypeError, r"measures\[0\] must be an ErrorMeasure, got 7"),
    (lambda: evaluator().errors(["(in1)"]), TypeError, r"programs\[0\] must be a Program, got '\(in1\)'"),
    (lambda: evaluator().errors(PROGRAM), TypeError, "programs must be a sequence of Program objects"),
    (lambda: evaluator().errors([PROGRAM], threads=1.5), TypeError, r"threads must be an integer, got 1\.5"),
    (lambda: evaluator().errors([PROGRAM], threads=0), ValueError, "threads must be at least 1, got 0"),
    (lambda: evaluator().on_demand([None]), TypeError, r"programs\[0\] must be a Program, got None"),
    (lambda: evaluator().on_demand([PROGRAM])([0.5], [0]), TypeError, r"individuals must be integers, got \[0\.5\]"),
    (
        lambda: evaluator().on_demand([PROGRAM])([0, 0, 0], [0, 1]),
        ValueError,
        "individuals and columns must have the same shape",
    ),
    (lambda: evaluator().on_demand([PROGRAM])([1], [0]), IndexError, "individuals must be between 0 and 0, got 1"),
    (lambda: evaluator().outputs("(in1)"), TypeError, r"program must be a Program, got '\(in1\)'"),
    (lambda: evaluator().outputs(PROGRAM, "in"), ValueError, "stack must be one of"),
    (lambda: evaluator(error=lambda a, b: 1).errors([PROGRAM]), ValueError, "error must return one number per case"),
    (lambda: ErrorMeasure("integer", label=5), TypeError, "label must be a string, got 5"),
    (lambda: ErrorMeasure("integer", target=5), TypeError, "target must be None or a function"),
    (lambda: Genome(5), TypeError, "genes must be a sequence of Gene objects, got 5"),
    (lambda: Genome([1]), TypeError, r"genes\[0\] must be a Gene, got 1"),
    (lambda: Genome([Gene((1,))]), TypeError, r"genes\[0\]\.item must be a literal or a symbol, not code"),
    (lambda: Genome([Gene(1, close=2**40)]), ValueError, r"genes\[0\]\.close must be at most"),
    (lambda: Genome([Gene(1, silent=3)]), TypeError, r"genes\[0\]\.silent must be True, False or 'no-op', got 3"),
    (lambda: Genome([Gene({})]), TypeError, r"genes\[0\] must be an int, .* got dict"),
    (lambda: Genome([]).translate(1.5), TypeError, r"max_points must be an integer, got 1\.5"),
    (lambda: Genome.from_plushy(Marker.CLOSE), TypeError, "items must be a sequence of values and markers"),
    (lambda: InstructionSet(5), TypeError, "names must be a sequence of names of instructions, got 5"),
    (
        lambda: InstructionSet("exec_dup"),
        TypeError,
        "names must be a sequence of names of instructions, got 'exec_dup'",
    ),
    (lambda: InstructionSet([["x"]]), TypeError, r"names must be names of instructions, got \['x'\]"),
    (
        lambda: InstructionSet(["integer_ad"]),
        ValueError,
        "unknown instruction 'integer_ad'; did you mean 'integer_add'",
    ),
    (lambda: InstructionSet([]) - ["integer_ad"], ValueError, "did you mean 'integer_add'"),
    (
        lambda: InstructionSet.from_name(7),
        TypeError,
        "instruction_set must be one of '2019', '2021', '2023', 'psb2', got 7",
    ),
    (lambda: InstructionSet.from_stacks(7), TypeError, "stacks must be one of"),
    (lambda: instruction(takes=5), TypeError, "takes must be a sequence of stacks, got 5"),
    (lambda: instruction(gives=[5]), TypeError, r"gives\[0\] must be one of"),
    (lambda: instruction(blocks="1"), TypeError, "blocks must be an integer, got '1'"),
    (lambda: instruction(name=5), TypeError, "name must be a string, got 5"),
    (lambda: instruction(5), TypeError, "an instruction must be a function, got 5"),
    (lambda: instruction(lambda: None, name=None), ValueError, "name must be given, since the function has none"),
    (
        lambda: instruction(named("größe"), name=None),
        ValueError,
        "name must be readable as a symbol: ASCII .* pass name=",
    ),
    (lambda: remove_instruction(5), TypeError, "name must be a string, got 5"),
    (lambda: RandomInteger(0.0, 10.0), TypeError, r"low must be an integer, got 0\.0"),
    (lambda: RandomInteger(0, 2**63), ValueError, "high must be at most"),
    (lambda: RandomFloat("0", 1), TypeError, "low must be a number, got '0'"),
    (lambda: RandomFloat(-1e308, 1e308), ValueError, "low must be below high, both finite"),
    (lambda: RandomChar(5), TypeError, "characters must be a string, got 5"),
    (lambda: RandomChar("😀"), ValueError, "characters must be one or more characters of one UTF-16 unit"),
    (lambda: RandomString(0, 10**9), ValueError, "high must be at most 5,000, got 1000000000"),
    (lambda: RandomString(0, 1, 5), TypeError, "groups must be a sequence of pairs"),
    (lambda: RandomString(0, 1, ((float("inf"), "a"),)), ValueError, r"groups\[0\]\[0\] must be a finite weight"),
    (lambda: RandomWords(2, 1, "a"), ValueError, "low must be between 0 and high, got 2 and 1"),
    (lambda: RandomWords(0, 1, ""), ValueError, "letters must be one or more characters"),
    (lambda: RandomWords(0, 1, "a", ()), ValueError, "separators must not be empty"),
    (lambda: RandomWords(0, 1, "a", lengths=()), ValueError, "lengths must not be empty"),
    (
        lambda: RandomWords(0, 1, "a", lengths=((1.0, 0, 5),)),
        ValueError,
        r"lengths\[0\]\[1\] must be at least 1, got 0",
    ),
    (lambda: RandomWords(0, 1, "a", lengths=((1.0, 5),)), ValueError, r"lengths\[0\] must be a weight and two lengths"),
    (lambda: RandomVector(0, 10**9, RandomBoolean()), ValueError, "high must be at most 5,000, got 1000000000"),
    (lambda: RandomVector(0, 1, 5), TypeError, "element must draw numbers, booleans or strings, got 5"),
    (lambda: RandomVector(0, 1, RandomTagged()), TypeError, "element must draw numbers"),
    (lambda: RandomTag(("nope",)), ValueError, r"stacks\[0\] must be one of"),
    (lambda: RandomTagged(0), ValueError, "limit must be at least 1, got 0"),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_wrong_arguments_are_named(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_numpy_scalars_are_values() -> None:
    """A value taken from an array is no Python int."""
    inputs = [np.int64(3), np.uint8(2), np.float32(0.5), np.bool_(True), np.str_("x"), [np.int16(1), 2]]
    state = run("(in1 in2 in3 in4 in5 in6)", inputs)
    assert state.stacks["integer"] == [2, 3]
    assert state.stacks["float"] == [0.5]
    assert state.stacks["boolean"] == [True]
    assert state.stacks["string"] == ["x"]
    assert state.stacks["vector_integer"] == [[1, 2]]
    assert [type(items[0]) for items in state.stacks.values()] == [int, float, bool, str, list, str]
    assert run("(in2)", np.array([5, 6])).top("integer") == 6
    limits = Limits(steps=np.int64(20), keep_nan=np.bool_(False))
    assert type(run("(1)", (), limits).steps) is int
    assert evaluator(penalty=np.float32(2), decimals=np.int8(3)).errors([PROGRAM], threads=2**31).tolist() == [[0, 2]]
    assert str(Genome([Gene(np.int64(1), close=np.int64(1))]).translate(np.int64(10))) == "(1)"
    assert RandomInteger(np.int64(1), np.int64(2)).low == 1
    with pytest.raises(ValueError, match="64 bits"):
        run("(in1)", [np.uint64(2**64 - 1)])


def test_reals_that_are_no_numbers_are_values() -> None:
    assert run("(in1)", [float("inf")]).top("float") == float("inf")
    assert run('(in1 "\ud800" string_concat)', ["a"]).top("string") == "a\ud800"


HOSTILE: list[Any] = [None, True, -1, 2**64, 10**400, 0.5, float("nan"), 1j, "", "\ud800", b"x", [], [[]], (), {}, {1}]
HOSTILE += [object(), Marker.SKIP, np.array([1.5]), np.datetime64("2020-01-01"), PROGRAM, Gene(1), Symbol(""), Char("")]
BORDER: list[Callable[..., Any]] = [
    Program,
    run,
    trace_program,
    Evaluator,
    Limits,
    ErrorMeasure,
    Genome,
    Genome.from_plushy,
    parse,
]
BORDER += [to_text, InstructionSet, InstructionSet.from_stacks, InstructionSet.from_name, remove_instruction]
BORDER += [RandomInteger, RandomFloat, RandomChar, RandomString, RandomTag, RandomTagged, evaluator().errors]
BORDER += [evaluator().on_demand, evaluator().outputs, Genome([]).translate, Program.from_bytes, PROGRAM.__class__]


def test_nothing_raw_crosses_the_border() -> None:
    """Errors of the binding layer tell callers of signatures that they have never seen."""
    rng = random.Random(5)
    for _ in range(3000 * EFFORT):
        function, arguments = rng.choice(BORDER), rng.choices(HOSTILE, k=rng.randint(1, 2))
        try:
            function(*arguments)
            message = ""
        except (TypeError, ValueError) as error:
            message = str(error)
        found = [raw for raw in ("incompatible function", "std::", "nanobind", "_native") if raw in message]
        assert not found, (function, arguments)
