"""Programs, genomes and states can be pickled and copied; bytes are the same in every process."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flexicase.gp import Population
from flexicase.push import (
    BigInteger,
    Char,
    ErrorMeasure,
    Float32,
    Gene,
    Genome,
    InstructionSet,
    Limits,
    Program,
    Symbol,
    remove_instruction,
    run,
    trace_program,
)

Register = Callable[..., Callable[[Any], Any]]
CODE = (
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
PROGRAM = (*CODE, *map(Symbol, ("exec_dup", "tag_exec_5", "nothing", "a(b")))

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
    name="largest", description="", answer=lambda a, b: max(a, b) ** 2 + 7 * a, domains=[
        problems.Drawn(lambda rng: (int(rng.integers(100)), int(rng.integers(100))), 10, 10)],
    measures=[push.Measure("integer", "absolute", penalty=1000)], stacks=("integer", "exec"),
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
    shown = "print(run.genome.genes, run.train_errors.tolist(), [r._replace(seconds=0) for r in run.records])"
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
