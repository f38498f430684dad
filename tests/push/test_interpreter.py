"""Running programs: limits, final states and traces."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from conformance_values import difference, genome_of, records, value_of
from flexicase.push import BigInteger, Char, Float32, Limits, Program, Symbol, parse, run, to_text, trace_program

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
@pytest.mark.parametrize("use", USES)
def test_deep_code_needs_little_stack(use: str) -> None:
    """Recursion over code 10,000 deep overflows the stack of a small thread, which ends the process."""
    script = (
        PRELUDE
        + f"""
def use():
    {USES[use]}
    print("done")
threading.stack_size(2**18)
thread = threading.Thread(target=use)
thread.start()
thread.join()
"""
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


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
