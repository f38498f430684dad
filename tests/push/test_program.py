"""Programs as text and as bytes."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flexicase import problems
from flexicase.gp import Population
from flexicase.gp.variation import OffspringGenerator
from flexicase.push import (
    BigInteger,
    Char,
    ErrorMeasure,
    Float32,
    FunctionEvaluator,
    Gene,
    Genome,
    InstructionSet,
    Limits,
    Program,
    ProgramFunction,
    Symbol,
    instruction,
    parse,
    parse_all,
    remove_instruction,
    run,
    to_text,
    trace_program,
)
from flexicase.rng import key_from_seed

# Programs as text: whatever the text, reading it gives a program or a clear error.


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


@pytest.mark.slow
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


@pytest.mark.slow
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
        (r"(\spac)", "unknown character 'spac'; did you mean 'space'"),
        ('("abc', "cannot read"),
        ("(1", "not closed"),
        ("1)", r"unmatched '\)'"),
        ("(1]", "unmatched ']'"),
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


# Programs, genomes and states can be pickled and copied; bytes are the same in every process.


Register = Callable[..., Callable[[Any], Any]]
SAVED_CODE = (
    1,
    BigInteger(7),
    0.1,
    Float32(0.1),
    True,
    Char("\ud800"),
    "a\n😀\ud800",
    [1.5],
    [],
    ["x"],
    (),
    (None, Symbol("in1")),
)
PROGRAM = (*SAVED_CODE, *map(Symbol, ("exec_dup", "tag_exec_5", "nothing", "a(b")))

EVOLVE = """
import hashlib, sys
from pathlib import Path
from flexicase import problems, push
from flexicase.gp import evolve

@push.instruction(takes=("integer", "integer"), gives=("integer",))
def larger(a, b):
    return max(a, b)

suite = problems.load("mirror-image")
problem = problems.Problem(
    name="largest", description="", answer=lambda a, b: max(a, b) ** 2 + 7 * a, sources=[
        problems.RandomCases(lambda rng: (int(rng.integers(100)), int(rng.integers(100))), 10, 10)],
    measures=[push.ErrorMeasure("integer", "absolute", penalty=1000)], stacks=("integer", "exec"),
    generators=[push.Symbol("in1"), push.Symbol("in2")], extra_instructions=("larger",) * 5,
)
left = int(sys.argv[2])
def stop(record):
    global left
    left -= 1
    if left == 0:
        raise KeyboardInterrupt
settings = dict(population=40, generations=4, seed=3, threads=1, simplification_steps=20, callback=stop)
"""


def values(program: Program) -> list[tuple[type, str]]:
    """What the text of a program does not tell."""
    return [(type(item), repr(item)) for item in program.code]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_program_is_the_same(protocol: int) -> None:
    program = Program(PROGRAM)
    found = pickle.loads(pickle.dumps(program, protocol))
    assert found == program
    assert values(found) == values(program)
    assert found.points == program.points
    for atom in (5, "text", Symbol("integer_add"), [1], None):
        assert values(pickle.loads(pickle.dumps(Program((atom,))))) == values(Program((atom,)))
        assert pickle.loads(pickle.dumps(Program(atom))).code == atom


def test_programs_genomes_and_states_can_be_copied() -> None:
    """Objects that hold native memory cannot be copied by default."""
    program = Program("(1 2 integer_add)")
    assert copy.copy(program) == copy.deepcopy(program) == program
    genome = Genome([Gene(1), Gene([1, 2], close=3), Gene(Symbol("in1"), silent="no-op"), Gene("x", silent=True)])
    for made in (pickle.loads(pickle.dumps(genome)), copy.copy(genome), copy.deepcopy(genome)):
        assert made.genes == genome.genes
        assert str(made.translate()) == str(genome.translate())
    state = run('([1 2] vector_integer_dup tag_exec_3 (4) 1.5 "a" print_string)', limits=Limits(steps=50))
    assert pickle.loads(pickle.dumps(state)) == copy.deepcopy(state) == state
    traced = trace_program("(1 (2))")
    assert pickle.loads(pickle.dumps(traced)) == traced
    limits = Limits(steps=7)
    assert run("(1)", limits=limits).steps == 2
    assert pickle.loads(pickle.dumps(limits)) == limits
    assert pickle.loads(pickle.dumps(ErrorMeasure("integer"))) == ErrorMeasure("integer")
    assert pickle.loads(pickle.dumps(InstructionSet(["exec_dup"]))) == InstructionSet(["exec_dup"])


@pytest.mark.parametrize("saved", ["program", "population"])
def test_instructions_written_in_python_are_saved_by_name(register: Register, saved: str) -> None:
    """A pointer means nothing in another process."""
    register(takes=("integer",), gives=("integer",), name="twice")(lambda a: 2 * a)
    if saved == "program":
        data, read = Program("(in1 twice)").to_bytes(), Program.from_bytes
    else:
        data, read = Population.from_genomes([Genome([Gene(Symbol("twice"))])]).to_bytes(), Population.from_bytes
    assert b"twice integer->integer/0" in data
    read(data)
    register(takes=("integer",), gives=("integer",), name="twice", replace=True)(lambda a: a + a)
    if saved == "program":
        assert run(read(data), [4]).top("integer") == 8
    register(takes=("integer", "integer"), gives=("integer",), name="twice", replace=True)(max)
    with pytest.raises(
        ValueError, match=r"'twice' must be registered as integer->integer/0, but it is integer,integer"
    ):
        read(data)
    remove_instruction("twice")
    with pytest.raises(ValueError, match=r"'twice' .* is not registered in this process; register it with"):
        read(data)


def test_changed_bytes_are_refused_or_a_program() -> None:
    data = Program(PROGRAM).to_bytes()
    for place in range(len(data)):
        for bit in (1, 16, 128):
            changed = data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
            try:
                str(Program.from_bytes(changed).code)
            except ValueError:
                continue
    for length in range(len(data)):
        with pytest.raises(ValueError, match=r"end too early|another version"):
            Program.from_bytes(data[:length])


def evolve(folder: Path, stop_after: int, call: str) -> str:
    script = EVOLVE + f"\nfolder = Path(sys.argv[1])\n{call}\n"
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(stop_after)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.slow
def test_a_run_with_python_instructions_resumes_in_another_process(tmp_path: Path) -> None:
    """Bit for bit as the run that was never stopped; two processes write the same checkpoint."""
    stopped = "try: evolve(problem, save=folder, **settings)\nexcept KeyboardInterrupt: print('stopped')"
    shown = "from dataclasses import replace; print(run.genome.genes, run.train_errors.tolist(), "
    shown += "[replace(r, **{n: 0 for n in r.as_dict() if n.startswith('seconds')}) for r in run.records])"
    first, second = tmp_path / "first", tmp_path / "second"
    assert evolve(first, 2, stopped) == evolve(second, 2, stopped) == "stopped\n"
    populations = [
        evolve(
            folder,
            0,
            "from flexicase.gp._state import read\n"
            "data = read(folder)[1].population.to_bytes(); assert b'larger' in data\n"
            "print(hashlib.sha256(data).hexdigest())",
        )
        for folder in (first, second)
    ]
    assert populations[0] == populations[1]
    resumed = evolve(first, 0, f"run = evolve(problem, save=folder, resume=True, **settings)\n{shown}")
    assert resumed == evolve(second, 0, f"run = evolve(problem, **settings)\n{shown}")


# Programs as Python functions, in memory and in a file.


def test_a_program_is_called_with_its_inputs() -> None:
    divide = ProgramFunction("(in1 in2 integer_div output_integer1 in1 in2 integer_mod)", ["output1", "integer"])
    assert divide(17, 5) == (3, 2)
    assert divide.steps == 8
    assert ProgramFunction("()", ["integer"])(1) is None
    assert ProgramFunction('("a" print_string)', ["output"])() == "a"
    assert isinstance(divide, Program)
    assert divide == Program(str(divide))


def test_a_call_keeps_the_limits() -> None:
    endless = ProgramFunction("(1 exec_y (integer_inc))", ["integer"], Limits(steps=50))
    assert endless() == 13
    assert endless.steps == 50


def test_calls_that_cannot_run_are_refused() -> None:
    with pytest.raises(TypeError, match="the program reads more inputs than the 1 given"):
        ProgramFunction("(in2)", ["integer"])(1)
    with pytest.raises(ValueError, match="an instruction that is not registered"):
        ProgramFunction("(nope)", ["integer"])()
    with pytest.raises(TypeError, match=r"inputs\[0\] must be an int"):
        ProgramFunction("(in1)", ["integer"])(object())
    for outputs, error in ((["integers"], ValueError), ([], ValueError), ("integer", TypeError), ([3], TypeError)):
        with pytest.raises(error, match="must"):
            ProgramFunction("()", outputs)  # type: ignore[arg-type]


def test_an_exception_of_an_instruction_reaches_the_caller() -> None:
    @instruction(takes=("integer",), gives=("integer",))
    def integer_reciprocal(n: int) -> int:
        return 1 // n

    try:
        program = ProgramFunction("(in1 integer_reciprocal)", ["integer"])
        assert program(1) == 1
        with pytest.raises(ZeroDivisionError):
            program(0)
        evaluator = FunctionEvaluator([[0], [1]], lambda function, n: function(n), ["integer"])
        with pytest.warns(RuntimeWarning, match=r"1 run\(s\) ended with an exception"):
            assert evaluator.errors([program]).tolist() == [[0, 1]]
        assert (evaluator.failed, evaluator.failures[0].case) == (1, 0)
    finally:
        remove_instruction("integer_reciprocal")


def test_a_saved_program_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    code = '(in1 "a\\"\\u2603\\n" \\space [1.5 -2.0E-9] [] 3N ##NaN tag_exec_5 (7) exec_do*times (in2))'
    limits = Limits(steps=77, keep_nan=True)
    saved = ProgramFunction(code, ["string", "output2"], limits)
    saved.save(path)
    loaded = ProgramFunction.load(path)
    assert loaded.to_bytes() == saved.to_bytes()
    assert (loaded.outputs, loaded.limits) == (("string", "output2"), limits)
    assert json.loads(path.read_text())["program"] == str(saved), "people can read the file"
    again = pickle.loads(pickle.dumps(saved))
    assert (again.to_bytes(), again.outputs, again.limits) == (saved.to_bytes(), saved.outputs, limits)
    assert type(Program.from_bytes(saved.to_bytes())) is Program is type(ProgramFunction.from_bytes(saved.to_bytes()))


@pytest.mark.slow
def test_every_random_program_can_be_saved(tmp_path: Path) -> None:
    for name in problems.names():
        problem = problems.load(name)
        genomes = OffspringGenerator(problem.genes(), problem.settings.variation).random(5, key_from_seed(1))
        for program in genomes.translate(problem.settings.variation.max_points)[0]:
            function = problem.function(program)
            function.save(tmp_path / "program.json")
            assert ProgramFunction.load(tmp_path / "program.json").to_bytes() == program.to_bytes()


def test_what_text_cannot_hold_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="single-precision floats cannot"):
        ProgramFunction((Float32(0.1),), ["float"]).save(tmp_path / "program.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "it must be a file written by ProgramFunction.save"),
        ({"version": 2}, "version must be 1, got 2"),
        ({"program": "(integer_ad)"}, "unknown instruction 'integer_ad'; did you mean 'integer_add'"),
        ({"program": "(1"}, "not closed"),
        ({"program": "(" * 20_000 + ")" * 20_000}, "nested at most"),
        ({"program": 5}, "program must be a string"),
        ({"program": None}, "program must be a string"),
        ({"outputs": []}, "outputs must not be empty"),
        ({"outputs": {"integer": 1}}, "outputs must be a sequence"),
        ({"limits": {"steps": -1}}, "steps must be at least 0"),
        ({"limits": {"step": 1}}, "unexpected keyword"),
        ({"limits": None}, "must be a mapping"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "program.json"
    ProgramFunction("(in1)", ["integer"]).save(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match=f"program.json: .*{message}"):
        ProgramFunction.load(path)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"format": "flexicase program", "version": 1}']
)
def test_files_of_another_kind_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "program.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"program\.json: "):
        ProgramFunction.load(path)
    with pytest.raises(FileNotFoundError):
        ProgramFunction.load(tmp_path / "none.json")


def test_reading_a_program_runs_none_of_it(tmp_path: Path) -> None:
    calls: list[int] = []

    @instruction(gives=("integer",))
    def integer_side_effect() -> int:
        calls.append(1)
        return 1

    try:
        ProgramFunction("(integer_side_effect)", ["integer"]).save(tmp_path / "program.json")
        loaded = ProgramFunction.load(tmp_path / "program.json")
        assert calls == []
        assert loaded() == 1
    finally:
        remove_instruction("integer_side_effect")
    with pytest.raises(ValueError, match="unknown instruction 'integer_side_effect'"):
        ProgramFunction.load(tmp_path / "program.json")
