"""Running programs: limits, final states and traces."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from conformance_values import difference, genome_of, records, value_of
from flexicase.push import (
    BigInteger,
    Char,
    Float32,
    Limits,
    Program,
    Symbol,
    execute,
    parse,
    run,
    to_text,
    trace_program,
)

# Runs, their results and every way they end.


# The worked examples of the language reference.
EXAMPLES = [
    ("(7 2 integer_div -7 2 integer_div 7 -2 integer_mod -7 2 integer_mod 5 0 integer_div)", [0, 5, 1, -1, -3, 3]),
    (
        "(1 3 exec_do*range (10) 3 1 exec_do*range (20) 2 2 exec_do*range (30))",
        [30, 2, 20, 1, 20, 2, 20, 3, 10, 3, 10, 2, 10, 1],
    ),
    ("(2 exec_do*count (1) 0 exec_do*count (99) -1 exec_do*times (98))", [98, -1, 99, 0, 1, 1, 1, 0]),
    ("(2 exec_do*times (5))", [5, 5]),
    ("(true exec_while (false 1) false exec_do*while (2))", [2, 1]),
    (
        "(5 tag_integer_10 true tag_boolean_20 tag_exec_30 (7 8) tagged_5 tagged_15 tagged_25 tagged_31 untag_15 "
        "tagged_15)",
        [8, 7, 5, 8, 7, 5],
    ),
    ("(1 1000000000 integer_div 1000000000000 1 integer_add)", [1000000000000, 0]),
]


@pytest.mark.parametrize(("program", "integers"), EXAMPLES)
def test_worked_examples_leave_these_integers(program: str, integers: list[int]) -> None:
    assert run(program).stacks["integer"] == integers


def test_printing_shows_big_integers_and_rounds_floats() -> None:
    assert run("(7 2 integer_div print_integer 6 2 integer_div print_integer)").output == "3N3"
    assert run('(1.5E11 print_float 3.0 print_float ["a" "b\\n"] print_vector_string)').output == (
        '9.223372036854776E83.0["a" "b\\n"]'
    )
    assert run('("0.1" float_fromstring print_float "0.1" float_fromstring string_fromfloat print_string)').output == (
        "0.10000000150.1"
    )
    assert run('(print_exec (a \\b "c" [1 2] (3.0 true)))').output == '(a \\b "c" [1 2] (3.0 true))'


def test_values_come_back_with_their_kinds() -> None:
    stacks = run('(7 2 integer_div \\a float_fromchar \\z "s" [true])').stacks
    assert type(stacks["integer"][0]) is BigInteger
    assert type(stacks["float"][0]) is Float32
    assert stacks["char"] == [Char("z")]
    assert type(stacks["char"][0]) is Char
    assert stacks["vector_boolean"] == [[True]]


def test_an_empty_vector_goes_on_all_four_stacks() -> None:
    stacks = run("(in1)", [[]]).stacks
    assert [name for name in stacks if name.startswith("vector")] == [
        "vector_integer",
        "vector_float",
        "vector_boolean",
        "vector_string",
    ]


@pytest.mark.parametrize(
    ("program", "limits", "status"),
    [
        ("(1 2)", Limits(), "normal"),
        ("(exec_y (1))", Limits(steps=50), "step_limit"),
        ("(in1 exec_y (vector_integer_dup vector_integer_pushall))", Limits(stack=200), "stack_limit"),
        ("(in1 exec_y (vector_integer_reverse))", Limits(memory=1 << 18, steps=5000), "memory_limit"),
        ("(1 exec_do*times (1 2 3 4 5 6))", Limits(code=8, points=8), "code_limit"),
        ("(no_such_instruction)", Limits(), "unknown_instruction"),
        ("(in2)", Limits(), "missing_input"),
    ],
)
def test_each_limit_has_its_own_status(program: str, limits: Limits, status: str) -> None:
    state = run(program, [list(range(50))], limits)
    assert state.termination == status
    assert state.steps <= limits.steps


def test_a_run_after_a_failed_run_is_not_affected() -> None:
    run("(exec_y (1 2 3))", limits=Limits(stack=20))
    assert run("(1 2 integer_add)").stacks == {"integer": [3], "output": [""]}


def test_text_round_trips() -> None:
    value = (
        1,
        BigInteger(2),
        -1.5,
        1e-7,
        True,
        None,
        Char("\n"),
        Char("x"),
        'a"b\\\n',
        [1, 2],
        [],
        (),
        (Symbol("exec_if"), ()),
    )
    assert parse(to_text(value)) == value
    assert Program(to_text(value)).code == value


@pytest.mark.parametrize("text", ["(1", "1)", "(1]", "1 2", "", '"open', "(\\nothing)"])
def test_text_that_is_no_program_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="text"):
        parse(text)


@pytest.mark.parametrize("value", [([1, 2.0],), (object(),), ([Char("a")],)])
def test_values_that_push_lacks_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="code must be"):
        Program(value)


def test_integers_beyond_64_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="64 bits"):
        Program((1 << 70,))


def test_deep_nesting_is_refused_not_a_crash() -> None:
    value: object = 1
    for _ in range(50_000):
        value = (value,)
    with pytest.raises(ValueError, match="nested"):
        Program(value)


# Traces agree with runs.


RECORDS = Path(__file__).parent / "clojush" / "broad-programs.jsonl.gz"


def test_the_last_step_of_a_trace_is_the_state_of_the_run() -> None:
    limits = Limits(steps=60)
    for record in islice(records(RECORDS), 40):
        program = genome_of(record["genome"]).translate()
        inputs = [value_of(item) for item in record["runs"][0]["inputs"]]
        expected = run(program, inputs, limits)
        found = trace_program(program, inputs, limits)
        assert found.termination == expected.termination
        assert len(found.steps) == expected.steps
        assert difference(expected.stacks, found.steps[-1].state.stacks) == ""


# Runs whose state recurs leave whole rounds out; a trace makes every step.
ROUNDS = [
    "(exec_y ())",
    "(exec_do*while (true))",
    "(1 exec_y (integer_inc 7 integer_mod))",
    "(1 exec_y (integer_inc 90 integer_mod))",
    "(exec_y (in1 vector_integer_reverse vector_integer_pop))",
    '("a" exec_y (string_reverse 1.5 float_pop))',
    "(exec_y (print_newline))",
    "(exec_y (integer_rand integer_pop))",
    "(exec_y (boolean_rand exec_when (1) integer_flush))",
    "(in2 exec_y (file_readchar char_pop))",
    "(5 tag_integer_1 exec_y (tagged_1 tag_integer_2 untag_1 tagged_2 tag_integer_1))",
    "(tag_exec_1 (tagged_1) tagged_1)",
    "(code_quote (1 (2)) exec_y (code_dup code_wrap code_pop))",
    "(-0.0 exec_y (float_dup float_add))",
    "(exec_y (exec_y (3 exec_do*times (integer_pop))))",
]


@pytest.mark.parametrize("steps", [63, 64, 500, 701])
@pytest.mark.parametrize("program", ROUNDS)
def test_rounds_that_are_left_out_change_nothing(program: str, steps: int) -> None:
    """A state that was taken for an earlier one would end the run with other stacks, output or steps."""
    limits = Limits(steps=steps)
    found = run(program, [[1, 2, 3], "some text"], limits)
    expected = trace_program(program, [[1, 2, 3], "some text"], limits)
    assert found.termination == expected.termination
    assert found.steps == len(expected.steps)
    assert found.stacks == expected.steps[-1].state.stacks


def test_a_run_that_goes_round_ends_at_once() -> None:
    start = time.process_time()
    state = run("(exec_do*while (true))", limits=Limits(steps=10**12))
    assert (state.termination, state.steps) == ("step_limit", 10**12)
    assert time.process_time() - start < 10


def test_memory_that_rounds_would_take_is_not_left_out() -> None:
    """Every round of exec_y takes 48 bytes: after some, the limit must end the run just as if all were made."""
    for memory in (1 << 18, 1 << 19, 1 << 20):
        state = run("(exec_y ())", limits=Limits(steps=10**6, memory=memory))
        assert state.termination == "memory_limit"
        assert memory - 96 <= 48 * state.steps / 3 <= memory + 96


@pytest.mark.parametrize(("program", "status"), [("(in1)", "missing_input"), ("(nonsense)", "unknown_instruction")])
def test_a_program_in_error_ends_its_trace(program: str, status: str) -> None:
    assert trace_program(program).termination == status


def test_the_text_shows_tags_and_output() -> None:
    text = str(trace_program('(5 tag_integer_3 "a" print_string)'))
    assert "tag: 3=5" in text
    assert 'output: "a"' in text


def test_the_table_has_a_line_per_step_and_a_column_per_stack(capsys: pytest.CaptureFixture[str]) -> None:
    trace_program("(1 2 integer_add true)").show()
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0] == ["step", "executed", "exec", "integer", "boolean"]
    assert ["4", "integer_add", "true", "3"] in lines
    assert ["5", "true", "3", "true"] in lines
    assert lines[-1] == ["5", "steps,", "normal"]


def test_markup_in_strings_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """An evolved string such as [bold] must not be taken for a command to the terminal."""
    trace_program('("[bold]x[/bold]")').show()
    assert "[bold]x[/bold]" in capsys.readouterr().out


def test_long_stacks_are_cut() -> None:
    step = trace_program("(" + " ".join(map(str, range(20))) + ")").steps[-1]
    assert step.shown()["integer"] == "19 18 17 16 15 14 …"


# Deeply nested code needs no deep stack of the thread that handles it.


PRELUDE = """
import copy, pickle, sys, threading
from flexicase import push
from flexicase.gp import Population
from flexicase.push import *

DEPTH = 9_990
code = ()
for _ in range(DEPTH):
    code = (code,)
text = "(" * DEPTH + ")" * DEPTH
limits = Limits(steps=50_000, points=10**6)
quoted = Program("(code_quote " + text + ")")
deep = Genome([Gene(Symbol("exec_dup"))] * 9_000)
"""
USES = {
    "from Python": "Program(code)",
    "to Python": "Program(text).code",
    "text": "assert len(str(Program(text))) == 2 * DEPTH; repr(Program(text))",
    "text of a value": "to_text(code)",
    "parse": "parse(text)",
    "equality": "assert Program(text) == Program(text); hash(Program(text))",
    "points": "assert Program(text).points == DEPTH",
    "copies": "p = pickle.loads(pickle.dumps(Program(text))); assert p == copy.deepcopy(p) == copy.copy(p)",
    "run": "run(text, limits=limits)",
    "state": "assert run(quoted, limits=limits).stacks['code']",
    "input": "run('(in1)', [code], limits)",
    "trace": "str(trace_program('(' * 300 + ')' * 300).steps[-1]); trace_program(quoted).steps[-1].shown()",
    "outputs": "Evaluator([[code]], [code], stack='code', error='mismatch').outputs(quoted)",
    "function": "Evaluator([[]], [0], measures=[ErrorMeasure('code', lambda a, b: 0)]).errors([quoted])",
    "translate": "q = deep.translate(10**6); str(q); q.code; pickle.dumps(q)",
    "genome": "copy.deepcopy(deep)",
    "population": "Population.from_genomes([deep]).translate(10**6)[0][0].code",
}


@pytest.mark.slow
def test_deep_code_needs_little_stack() -> None:
    """Recursion over code 10,000 deep overflows the stack of a small thread, which ends the process."""
    script = (
        PRELUDE
        + f"""
def use(name, code):
    exec(code, globals().copy())
    print(name, flush=True)
threading.stack_size(2**18)
for uses in {list(USES.items())}:
    thread = threading.Thread(target=use, args=uses)
    thread.start()
    thread.join()
"""
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == list(USES), done.stderr[-2000:]  # what is missing has failed
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_code_that_is_too_deep_or_too_large_is_refused() -> None:
    """Tuples that share their parts can stand for more code than any memory holds."""
    deep: object = ()
    for _ in range(20_000):
        deep = (deep,)
    with pytest.raises(ValueError, match="code must be nested at most 10000 deep"):
        Program(deep)
    with pytest.raises(ValueError, match="code must be nested at most 10000 deep"):
        Program("(" * 20_000 + ")" * 20_000)
    shared: object = ()
    for _ in range(60):
        shared = (shared, shared)
    with pytest.raises(ValueError, match="code must have at most"):
        Program(shared)
    assert run("(" * 9_000 + "7" + ")" * 9_000, limits=Limits(steps=10_000)).top("integer") == 7


# Given stacks and single steps.

STEPPED = [
    "(in1 2 exec_do*times (3 integer_mult print_integer) tag_integer_7 tagged_3 output_integer1)",
    '("ab" exec_string_iterate (print_char) [1.5 2.0] vector_float_first \\a code_quote (1 (true)) code_do)',
]


@pytest.mark.parametrize("program", STEPPED)
def test_single_steps_lead_through_the_states_of_a_run(program: str) -> None:
    """A state that lost a stack, a tag or an output on its way through Python would take another course."""
    trace = trace_program(program, [5])
    assert len(trace.steps) > 10
    before: dict[str, list[Any]] = {"exec": [parse(program)]}
    for number, step in enumerate(trace.steps):
        item, *rest = before.pop("exec")
        after = execute(
            Program((item,)).code[0] if type(item) is not str else f'"{item}"', before | {"exec": rest}, [5]
        )
        assert (after.stacks, after.termination, after.steps) == (step.state.stacks, "normal", 1)
        before = dict(after.stacks)
        if number == 4:
            resumed = run("()", [5], stacks=before)
            assert resumed.stacks == run(program, [5]).stacks


def test_given_stacks_are_not_changed() -> None:
    stacks = {"integer": [1, 2], "vector_integer": [[3]]}
    run("(integer_add vector_integer_first)", stacks=stacks)
    execute("integer_add", stacks)
    assert stacks == {"integer": [1, 2], "vector_integer": [[3]]}


@pytest.mark.parametrize(
    ("stacks", "error", "message"),
    [
        (None, TypeError, r"^stacks must be a mapping from names to values, got None$"),
        ([("integer", [1])], TypeError, r"^stacks must be a mapping"),
        ({"integers": [1]}, ValueError, r"^a name in stacks must be one of .* did you mean 'integer'\?$"),
        ({3: [1]}, TypeError, r"^a name in stacks must be one of .*, got 3$"),
        ({"input": [1]}, ValueError, r"^a name in stacks must be one of "),
        ({"integer": 1}, TypeError, r"^stack integer must be a sequence of values, got 1$"),
        ({"string": "abc"}, TypeError, r"^stack string must be a sequence of values, got 'abc'$"),
        (
            {"integer": [1, 1.5]},
            TypeError,
            r"^stack integer must have values of its own type, got another at position 1$",
        ),
        ({"vector_integer": [["a"]]}, TypeError, r"^stack vector_integer must have values of its own type"),
        ({"integer": [None]}, TypeError, r"integer"),
        ({"output": ["a", "b"]}, ValueError, r"^stack output must have at most one item, got 2$"),
        ({"output": [1]}, TypeError, r"^the output must be a str$"),
        ({"output1": [1, 2]}, ValueError, r"^stack output1 must have at most one item, got 2$"),
        ({"tag": [5]}, TypeError, r"^stack tag must have pairs of number and item, got 5$"),
        ({"tag": [(-1, 5)]}, ValueError, r"^the number of a tag must be at least 0, got -1$"),
        ({"tag": [("a", 5)]}, TypeError, r"^the number of a tag must be an integer, got 'a'$"),
    ],
)
def test_bad_stacks_are_refused(stacks: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        execute("integer_add", stacks)
    if stacks is not None:
        with pytest.raises(error, match=message):
            run("(integer_add)", stacks=stacks)


def test_limits_hold_for_given_stacks() -> None:
    full = {"integer": [1] * 200}
    assert run("(1)", limits=Limits(stack=100), stacks=full).termination == "stack_limit"
    assert execute("integer_dup", full, limits=Limits(stack=100)).termination == "stack_limit"
    assert run("exec_y", limits=Limits(steps=50), stacks={"exec": [1]}).termination == "step_limit"
    assert execute("no_such_thing", {}).termination == "unknown_instruction"
    assert execute("in2", {}, [1]).termination == "missing_input"
