"""Instructions written in Python."""

from __future__ import annotations

import math
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from flexicase.push import (
    BigInteger,
    Char,
    Evaluator,
    Gene,
    Genome,
    InstructionSet,
    Limits,
    Program,
    Symbol,
    instruction_table,
    remove_instruction,
    run,
    trace_program,
)

# Instructions written in Python: mixed with native ones, safe whatever they return, the same on any threads.


Register = Callable[..., Callable[[Any], Any]]


def test_arguments_come_in_the_order_of_the_program(register: Register) -> None:
    @register(takes=("integer", "string", "integer", "vector_float"), gives=("string", "integer"))
    def describe(a: int, text: str, b: int, v: list[float]) -> tuple[str, int]:
        return f"{a} {text} {b} {v}", a - b

    state = run('(10 [0.5] "x" 3 describe)')
    assert state.stacks == {"string": ["10 x 3 [0.5]"], "integer": [7], "output": [""]}


def test_missing_arguments_are_a_no_op(register: Register) -> None:
    calls = []
    register(takes=("integer", "integer", "boolean"), name="note")(lambda *a: calls.append(a))
    state = run("(1 true note)")
    assert state.stacks == {"integer": [1], "boolean": [True], "output": [""]}
    assert (calls, state.termination) == ([], "normal")
    assert run("(1 2 true note)").stacks == {"output": [""]}
    assert calls == [(1, 2, True)]


def test_mixed_with_native_ones_in_loops_tags_and_code(register: Register) -> None:
    @register(takes=("integer",), gives=("integer",))
    def triple(a: int) -> int:
        return 3 * a

    assert run("(1 4 exec_do*times (triple))").top("integer") == 81
    assert run("(2 tag_exec_5 (triple) tagged_5 tagged_1)").top("integer") == 18
    assert run("(2 code_quote triple code_do*)").top("integer") == 6
    assert str(Program("(triple (triple))")) == "(triple (triple))"
    assert Program("(triple)").code == (Symbol("triple"),)
    assert run("(code_quote triple code_quote triple code_eq)").top("boolean") is True


def test_blocks_are_opened_in_genomes(register: Register) -> None:
    @register(takes=("exec", "exec"), gives=("exec",))
    def exec_longer(a: Any, b: Any) -> Any:
        return max(a, b, key=len)

    genome = Genome([Gene(Symbol("exec_longer")), Gene(1, close=1), Gene(2), Gene(3, close=1), Gene(True)])
    program = genome.translate()
    assert str(program) == "(exec_longer (1) (2 3) true)"
    assert run(program).stacks["integer"] == [3, 2]
    assert instruction_table()["exec_longer"].blocks == 2


def test_the_table_and_sets_know_it(register: Register) -> None:
    @register(takes=("integer", "float"), gives=("float",))
    def float_scale(n: int, x: float) -> float:
        """Multiplies by a whole number.

        And more.
        """
        return n * x

    row = instruction_table()["float_scale"]
    assert row.stacks == ("integer", "float")
    assert (row.takes, row.gives, row.instruction_sets) == (("integer", "float"), ("float",), ())
    assert row.description == "Multiplies by a whole number."
    numbers = InstructionSet.from_stacks("integer", "float")
    assert "float_scale" not in numbers
    assert "float_scale" in numbers + InstructionSet(["float_scale"])
    remove_instruction("float_scale")
    with pytest.raises(ValueError, match="float_scale"):
        InstructionSet(["float_scale"])


def test_an_exception_ends_the_run_and_is_kept(register: Register) -> None:
    @register(takes=("integer", "integer"), gives=("integer",))
    def divide(a: int, b: int) -> int:
        return a // b

    state = run("(1 0 divide 5)")
    assert (state.termination, state.steps) == ("python_error", 4)
    assert isinstance(state.error, ZeroDivisionError)
    assert state.error.__traceback__ is not None
    assert state.stacks["integer"] == [0, 1]
    assert state.stacks["exec"] == [5]
    assert run("(6 3 divide 5)").error is None
    traced = trace_program("(1 0 divide 5)")
    assert traced.termination == "python_error"
    assert isinstance(traced.steps[-1].state.error, ZeroDivisionError)


def test_names_must_be_free_and_readable(register: Register) -> None:
    for name in ("integer_add", "in1", "tag_exec_3", "tagged_9"):
        with pytest.raises(ValueError, match="native instruction, input or tag"):
            register(name=name)(print)
    for name in ("", "a b", "12", "true", "nil", "(x)", '"x"', "\\c", "<lambda>x)"):
        with pytest.raises(ValueError, match="readable as a symbol"):
            register(name=name)(print)
    register(name="mine")(print)
    with pytest.raises(ValueError, match="duplicate instruction 'mine'"):
        register(name="mine")(print)
    with pytest.raises(ValueError, match=r"takes\[0\] must be one of 'exec', .* got 'int'"):
        register(takes=("int",))
    with pytest.raises(TypeError, match="gives must be a sequence of stacks"):
        register(gives="integer")
    with pytest.raises(ValueError, match="blocks must be at least 0, got -1"):
        register(blocks=-1)
    with pytest.raises(ValueError, match="written in Python, got 'integer_add'"):
        remove_instruction("integer_add")


def test_replacing_keeps_programs_as_they_were(register: Register) -> None:
    register(gives=("integer",), name="which")(lambda: 1)
    old = Program("(which)")
    register(gives=("integer",), name="which", replace=True)(lambda: 2)
    assert (run(old).top("integer"), run("(which)").top("integer")) == (1, 2)
    remove_instruction("which")
    assert run(old).top("integer") == 1
    assert run("(which)").termination == "unknown_instruction"


def test_an_instruction_may_run_programs(register: Register) -> None:
    """The engine keeps a machine per thread: a run within a run must not touch the outer one's stacks."""

    @register(takes=("code", "integer"), gives=("integer",))
    def call(code: Any, n: int) -> Any:
        return run(Program((code,)), [n], Limits(steps=50)).top("integer")

    assert run("(100 5 code_quote (in1 in1 integer_mult) call integer_add)").top("integer") == 125
    register(takes=(), name="again")(lambda: run("(again)").error and 1 / 0)
    assert run("(again)").termination == "python_error"


def population(register: Register, size: int) -> list[Program]:
    """Random programs, half of whose instructions are written in Python; some fail now and then."""

    @register(takes=("integer", "integer"), gives=("integer",))
    def divide(a: int, b: int) -> int:
        return a // b

    @register(takes=("integer",), gives=("vector_integer", "integer"))
    def digits(a: int) -> tuple[list[int], int]:
        return [int(c) for c in str(abs(a))], a

    rng = random.Random(1)
    names = [*map(Symbol, ("divide", "digits")), *map(Symbol, ("integer_add", "integer_mult", "integer_dup", "in1"))]
    genes = [[Gene(rng.choice([*names, rng.randint(-3, 3)])) for _ in range(30)] for _ in range(size)]
    return [Genome(row).translate() for row in genes]


def test_batches_are_the_same_on_any_threads_and_tell_failures(register: Register) -> None:
    programs = population(register, 40)
    cases = [[n] for n in range(-10, 10)]
    found = []
    for threads in (1, 2, 5):
        evaluator = Evaluator(cases, [0] * len(cases), stack="integer", penalty=1e6)
        with pytest.warns(RuntimeWarning, match="ended with an exception in a Python instruction, first program"):
            errors = evaluator.errors(programs, threads=threads)
        failures = [(f.individual, f.case, type(f.error), str(f.error)) for f in evaluator.failures]
        found.append((errors.tolist(), evaluator.steps, evaluator.failed, failures))
    assert found[0] == found[1] == found[2]
    errors, _, failed, failures = found[0]
    states = [[run(program, case) for case in cases] for program in programs]
    failing = [(i, j) for i, row in enumerate(states) for j, state in enumerate(row) if state.error]
    assert failed == len(failing) > 100
    assert [failure[:2] for failure in failures] == failing[:100]
    tops = [[state.top("integer") for state in row] for row in states]
    assert errors == [[1e6 if top is None else abs(top) for top in row] for row in tops]


def test_it_is_called_as_often_as_programs_say(register: Register) -> None:
    """Copies of a program, and rounds of a loop, may do something else each time if Python decides what they do."""
    calls = 0

    @register(takes=(), gives=("integer",), name="count_calls")
    def count_calls() -> int:
        nonlocal calls
        calls += 1
        return calls

    limits = Limits(steps=500)
    for program in ("(exec_y (count_calls integer_pop))", "(count_calls exec_y (3 integer_pop))"):
        calls = 0
        found, called = run(program, limits=limits), calls
        calls = 0
        trace = trace_program(program, limits=limits)
        assert (calls, len(trace.steps), trace.termination) == (called, found.steps, found.termination)
        assert trace.steps[-1].state.stacks == found.stacks
    calls = 0
    evaluator = Evaluator([[0]] * 5, [0] * 5, stack="integer")
    errors = evaluator.errors([Program("(count_calls)")] * 4, threads=1)
    assert errors.ravel().tolist() == list(range(1, 21))
    calls = 0
    evaluator = Evaluator([[(Symbol("count_calls"),)]] * 5, [0] * 5, stack="integer")
    assert evaluator.errors([Program("(in1)")] * 4, threads=1).ravel().tolist() == list(range(1, 21))


def test_failures_are_told_by_every_way_to_evaluate(register: Register) -> None:
    register(takes=("integer",), gives=("integer",), name="invert")(lambda a: 10 // a)
    programs = [Program("(in1)"), Program("(in1 invert)")]
    evaluator = Evaluator([[0], [5]], [0, 2], stack="integer")
    with pytest.warns(RuntimeWarning, match="1 run.* program 1 on case 0: ZeroDivisionError"):
        evaluator.on_demand(programs)([1, 1], [1, 0])
    with pytest.warns(RuntimeWarning, match="program 0 on case 0"):
        assert evaluator.outputs(programs[1]) == [0, 2]
    judged = Evaluator([[0], [5]], [0, 2], stack="integer", error=np.subtract)
    with pytest.warns(RuntimeWarning, match="program 1 on case 0"):
        assert judged.errors(programs).tolist() == [[0, 3], [0, 0]]
    assert [(f.individual, f.case) for f in evaluator.failures] == [(1, 0), (0, 0)]
    assert evaluator.failed == 2


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_passes_through(register: Register, threads: int) -> None:
    calls = []

    @register(takes=("integer",), gives=("integer",))
    def stop(a: int) -> int:
        calls.append(a)
        if len(calls) == 300:
            raise KeyboardInterrupt
        return a

    programs = [Program("(in1 stop)")] * 20
    evaluator = Evaluator([[n] for n in range(100)], [0] * 100, stack="integer")
    with pytest.raises(KeyboardInterrupt):
        evaluator.errors(programs, threads=threads)
    assert 300 <= len(calls) < 2000
    assert evaluator.errors(programs, threads=threads).tolist() == [list(range(100))] * 20
    calls.clear()
    calls.extend(range(299))
    with pytest.raises(KeyboardInterrupt):
        run("(1 stop)")
    assert run("(1 stop)").top("integer") == 1


def test_a_signal_during_an_instruction_reaches_the_caller(register: Register) -> None:
    register(name="raise_signal")(lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        run("(raise_signal)")


def test_other_threads_run_while_a_batch_works(register: Register) -> None:
    """A batch that kept the GIL would starve the thread that its instructions wait for."""
    started, answered = threading.Event(), threading.Event()

    def answer() -> None:
        started.wait(20)
        answered.set()

    @register(gives=("boolean",))
    def ask() -> bool:
        started.set()
        return answered.wait(20)

    other = threading.Thread(target=answer)
    other.start()
    evaluator = Evaluator([[]], [True], stack="boolean", error="mismatch")
    assert evaluator.errors([Program("(ask)")], threads=2).tolist() == [[0.0]]
    other.join()


def test_an_error_kept_until_the_interpreter_ends_is_harmless() -> None:
    script = (
        "from flexicase import push\n"
        "push.instruction(name='fail')(lambda: 1 / 0)\n"
        "state = push.run('(fail)')\n"
        "print(push.trace_program('(fail)').termination, repr(state.error))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "python_error ZeroDivisionError('division by zero')"


def test_the_warning_points_to_the_call(register: Register) -> None:
    register(name="fail")(lambda: 1 / 0)
    program = Program("(fail)")
    evaluator = Evaluator([[]], [0], stack="integer")
    judged = Evaluator([[]], [0], stack="integer", error=lambda answers, _: [0 for _ in answers])
    calls = [
        lambda: evaluator.errors([program]),
        lambda: evaluator.on_demand([program])([0], [0]),
        lambda: evaluator.outputs(program),
        lambda: judged.errors([program]),
    ]
    for call in calls:
        with pytest.warns(RuntimeWarning, match="Python instruction") as caught:
            call()
        assert [warning.filename for warning in caught] == [__file__]


# Values that instructions written in Python return: held within the limits, or an error, whatever they are.


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
