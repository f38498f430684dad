"""Values that instructions written in Python return: held within the limits, or an error, whatever they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexicase.push import BigInteger, Char, Limits, Program, Symbol, run

Register = Callable[..., Callable[[Any], Any]]


def returning(register: Register, value: Any, *gives: str) -> None:
    """Register ``give``, which takes an integer and returns the value."""
    register(takes=("integer",), gives=gives, name="give", replace=True)(lambda _: value)


def given(register: Register, value: Any, *gives: str, limits: Limits | None = None) -> Any:
    """The state of a run of an instruction that returns the value; stacks as if its argument had been 7."""
    returning(register, value, *gives)
    return run("(7 give)", limits=limits or Limits())


@pytest.mark.parametrize(
    ("value", "gives", "stacks"),
    [
        (10**100, "integer", {"integer": [10**12]}),
        (-(10**100), "integer", {"integer": [-(10**12)]}),
        (np.int64(5), "integer", {"integer": [5]}),
        (BigInteger(3), "integer", {"integer": [3]}),
        (10**400, "float", {"float": [1e12]}),
        (-(10**400), "float", {"float": [-1e12]}),
        (math.inf, "float", {"float": [1e12]}),
        (math.nan, "float", {"float": [0.0]}),
        (1e-300, "float", {"float": [0.0]}),
        (2, "float", {"float": [2.0]}),
        (np.float32(0.5), "float", {"float": [0.5]}),
        (np.bool_(True), "boolean", {"boolean": [True]}),
        ("x", "char", {"char": [Char("x")]}),
        (Char("x"), "string", {"string": ["x"]}),
        ("\ud800", "string", {"string": ["\ud800"]}),
        ([], "vector_float", {"vector_float": [[]]}),
        ((1, 10**30), "vector_integer", {"vector_integer": [[1, 10**12]]}),
        ([1, math.nan], "vector_float", {"vector_float": [[1.0, 0.0]]}),
        ((1, (Symbol("integer_add"), None)), "code", {"code": [(1, (Symbol("integer_add"), None))]}),
    ],
)
def test_values_are_held_within_the_limits(register: Register, value: Any, gives: str, stacks: dict[str, Any]) -> None:
    state = given(register, value, gives)
    assert state.termination == "normal", state.error
    assert state.stacks == {**stacks, "output": [""]}


def test_nan_stays_in_list_w(register: Register) -> None:
    assert math.isnan(given(register, math.nan, "float", limits=Limits(keep_nan=True)).top("float"))


def test_the_flag_of_an_integer_survives(register: Register) -> None:
    register(takes=("integer",), gives=("integer",), name="same")(lambda a: a)
    assert run("(7 2 integer_div same print_integer)").output == "3N"


def shared_tree(depth: int) -> Any:
    """A tuple with two to the power of ``depth`` leaves that takes next to no memory."""
    tree: Any = ()
    for _ in range(depth):
        tree = (tree, tree)
    return tree


def nested(depth: int) -> Any:
    """Parentheses around parentheses."""
    tree: Any = ()
    for _ in range(depth):
        tree = (tree,)
    return tree


@pytest.mark.parametrize(
    ("value", "gives"),
    [
        ("a" * 5001, "string"),
        ("\U0001f600" * 2501, "string"),
        ([0] * 5001, "vector_integer"),
        (["a" * 5001], "vector_string"),
        (tuple(range(1300)), "code"),
        (nested(300), "exec"),
    ],
)
def test_too_large_a_value_is_a_no_op(register: Register, value: Any, gives: str) -> None:
    state = given(register, value, gives)
    assert (state.termination, state.stacks) == ("normal", {"integer": [7], "output": [""]})


def test_a_hostile_tree_meets_the_memory_limit(register: Register) -> None:
    state = given(register, shared_tree(60), "code", limits=Limits(memory=1 << 20))
    assert state.termination == "memory_limit"


def recursive_list() -> list[Any]:
    """A list that holds itself."""
    made: list[Any] = []
    made.append(made)
    return made


class Fickle(list[Any]):
    """A list that denies its length."""

    def __len__(self) -> int:
        return 1


class Evil:
    """Raises whatever is asked of it."""

    def __index__(self) -> int:
        raise ArithmeticError("no index")

    def __float__(self) -> float:
        raise ArithmeticError("no float")


@pytest.mark.parametrize(
    ("value", "gives", "message"),
    [
        (None, ("integer",), "must return an int for the stack integer, got NoneType"),
        (True, ("integer",), "an int for the stack integer, got bool"),
        (1.5, ("integer",), "got float"),
        ("1.5", ("float",), "a float for the stack float, got str"),
        (True, ("float",), "got bool"),
        (1, ("boolean",), "a bool for the stack boolean, got int"),
        ("ab", ("char",), "one character"),
        ("\U0001f600", ("char",), "one character"),
        (b"ab", ("string",), "a str for the stack string, got bytes"),
        ({1, 2}, ("vector_integer",), "a list of int for the stack vector_integer, got set"),
        ([1, "a"], ("vector_integer",), "got str"),
        (recursive_list(), ("vector_float",), "got list"),
        ((recursive_list(),), ("code",), "must be a vector of ints, floats, bools or strs"),
        ((10**100,), ("code",), "64 bits"),
        (nested(20_000), ("exec",), "nested at most 1000 deep"),
        (object(), ("code",), "the value returned must be an int, float"),
        (Evil(), ("integer",), "no index"),
        (Evil(), ("float",), "no float"),
        (5, (), "must return None, got int"),
        (5, ("integer", "integer"), "must return a tuple, got int"),
        ((5,), ("integer", "integer"), "must return 2 values, got 1"),
        ((5, 6, 7), ("integer", "integer"), "must return 2 values, got 3"),
    ],
)
def test_a_wrong_value_is_an_error(register: Register, value: Any, gives: tuple[str, ...], message: str) -> None:
    state = given(register, value, *gives)
    assert (state.termination, state.steps) == ("python_error", 3)
    assert message in str(state.error)
    assert state.stacks == {"integer": [7], "output": [""]}


def test_a_list_that_lies_about_its_length_is_harmless(register: Register) -> None:
    assert given(register, Fickle([1, 2, 3]), "vector_integer").stacks["vector_integer"] == [[1, 2, 3]]
    assert given(register, Fickle([0] * 10_000), "vector_integer").stacks == {"integer": [7], "output": [""]}


def test_code_from_python_is_as_safe() -> None:
    """A list within a list was once followed for ever."""
    with pytest.raises(TypeError, match="must be a vector of ints, floats, bools or strs"):
        Program((recursive_list(),))
    with pytest.raises(TypeError, match="must be a vector of ints, floats, bools or strs"):
        run("(in1)", [[(1, 2)]])


def test_code_nested_too_deeply_is_left_alone(register: Register) -> None:
    """Threads have small stacks, and conversion to tuples goes down into each list."""
    calls: list[Any] = []
    register(takes=("code",), name="look")(calls.append)
    for depth in (999, 1001):
        deep = Program((Symbol("code_quote"), nested(depth), Symbol("look")))
        assert ("code" in run(deep).stacks) == (depth > 1000)
    assert len(calls) == 1
