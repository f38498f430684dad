"""Hostile programs, interrupts and too little memory."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from flexicase.push import ErrorMeasure, Evaluator, Gene, Genome, Limits, Program, Symbol, run, trace_program
from tests.scripts import run_script

# Programs made to use up the machine end within their limits.


HOSTILE = {
    "recursion": "(exec_y (exec_dup (1 exec_s)))",
    "nested loops": "(1000 exec_do*times (1000 exec_do*times (1000 exec_do*times (1 2 3))))",
    "vector doubling": "([1 2 3] exec_y (vector_integer_dup vector_integer_concat vector_integer_dup))",
    "vector copies": "(in1 exec_y (vector_integer_reverse vector_integer_dup))",
    "all elements again": "(in1 exec_y (vector_integer_dup vector_integer_pushall))",
    "string building": '("ab" exec_y (string_dup string_concat string_dup string_reverse))',
    "string insertion": '("" exec_y (string_dup "abcdefgh" "" "xyz" string_replace string_concat))',
    "tag loop": "(tag_exec_1 (1 2 tagged_1) tagged_1)",
    "code doubling": "(code_quote (1 2) exec_y (code_dup code_append code_dup code_list))",
    "code mapped over itself": "(code_quote (1 2 3) exec_y (code_dup code_dup code_map (code_map (code_dup))))",
    "code wrapped": "(code_quote (1) exec_y (code_wrap code_dup code_cons code_dup code_eq))",
    "printing": '("abc" exec_y (string_dup print_string string_dup string_concat))',
    "duplicated items": "(1 exec_y (1000000 exec_dup_items 1000000 integer_dup_items))",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_program_ends_within_its_limits(name: str) -> None:
    limits = Limits(steps=20_000, stack=50_000, memory=8 << 20)
    state = run(HOSTILE[name], [list(range(5000))], limits)
    assert state.termination in ("step_limit", "stack_limit", "memory_limit", "code_limit", "normal")
    assert state.steps <= limits.steps
    assert all(len(items) <= limits.stack for items in state.stacks.values())
    assert len(state.output) <= 5000


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory use of a process the way Linux reports it")
def test_memory_stays_bounded() -> None:
    """The stacks and the arena of a thread are kept between runs, and must not grow from run to run."""
    import resource

    limits = Limits(steps=5_000, stack=10_000, memory=4 << 20)
    for _ in range(2):
        for program in HOSTILE.values():
            run(program, [list(range(5000))], limits)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(10):
        for program in HOSTILE.values():
            run(program, [list(range(5000))], limits)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 * 1024


LIMITED = """
import resource
from flexicase.push import Limits, run, trace_program

numbers = list(range(5000))
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (400 << 20), resource.RLIM_INFINITY))
"""
SHARING = {
    "vectors": (
        "run('(in1 exec_y (vector_integer_dup))', [numbers], Limits(steps=20_000, memory=1 << 20))",
        "vector_integer",
    ),
    "strings": ("run('(in1 exec_y (string_dup))', ['ab' * 2500 + '\\u0100'], Limits(steps=400_000))", "string"),
    "code": (
        "run('(code_quote ' + '(1 2 3)' * 300 + ' exec_y (code_dup))', [], Limits(steps=100_000))",
        "code",
    ),
    "a trace": (
        "trace_program('(in1 exec_y (vector_integer_dup))', [numbers], Limits(steps=1000)).steps[-1].state",
        "vector_integer",
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits memory the way Linux does")
@pytest.mark.parametrize("what", SHARING)
def test_what_a_run_shares_is_converted_once(what: str) -> None:
    """A run whose items share a megabyte returned a state of a gigabyte, or ended the process."""
    call, stack = SHARING[what]
    script = LIMITED + f"items = {call}.stacks['{stack}']\nprint(len(items) > 100, items[0] is items[-1])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr[-2000:]


def test_a_state_that_shares_nothing_is_bounded() -> None:
    """Slices of one vector take no memory of the machine, but a list each in Python."""
    limits = Limits(steps=600_000, memory=1 << 20, stack=90_000)
    with pytest.raises(MemoryError):
        run("(in1 90000 exec_do*count (5000 integer_mod 5000 in1 vector_integer_subvec))", [list(range(5000))], limits)
    with pytest.raises(MemoryError):
        trace_program("(1 exec_y (integer_dup))", limits=Limits(steps=90_000, memory=1 << 20))


# Long runs can be interrupted, and other threads go on while programs run.


ENDLESS = "(0 exec_do*while (integer_inc true))"
LONG = Limits(steps=10**9)
SAME = "a" * 2500

needs_signals = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="sends a signal to a thread")


def check_interruption(call: Callable[[], Any]) -> None:
    """Another thread goes on during a call, and a signal that it sends ends the call, both within a second."""
    woke: list[float] = []

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    def send() -> None:
        time.sleep(0.05)
        woke.append(time.monotonic())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, interrupt)
    other = threading.Thread(target=send)
    start = time.monotonic()
    try:
        other.start()
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        other.join()
        signal.signal(signal.SIGINT, before)
    assert woke[0] - start < 1.0
    assert time.monotonic() - woke[0] < 1.0


def evaluator(**options: Any) -> Evaluator:
    return Evaluator([[1]] * 3, [1] * 3, limits=LONG, **options)


LONG_CALLS: dict[str, Callable[[], Any]] = {
    "run": lambda: run(ENDLESS, limits=LONG),
    "trace": lambda: trace_program("(1000000 exec_do*count (integer_pop))", limits=Limits(steps=100_000)),
    "errors": lambda: evaluator(stack="integer").errors([Program(ENDLESS)] * 2, threads=1),
    "errors on threads": lambda: evaluator(stack="integer").errors([Program(ENDLESS)] * 200, threads=3),
    "errors of a function": lambda: evaluator(measures=[ErrorMeasure("integer", abs)]).errors([Program(ENDLESS)]),
    "errors of all answers": lambda: evaluator(stack="integer", error=max).errors([Program(ENDLESS)]),
    "outputs": lambda: evaluator(stack="integer").outputs(Program(ENDLESS)),
}


@pytest.fixture
def no_gc_callbacks() -> Iterator[None]:
    """A callback of the collector, such as Hypothesis has, swallows an exception that a signal raises in it."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks.extend(callbacks)


@pytest.mark.slow
@needs_signals
@pytest.mark.usefixtures("no_gc_callbacks")
@pytest.mark.parametrize("name", LONG_CALLS)
def test_a_long_run_can_be_interrupted_and_stops_no_other_thread(name: str) -> None:
    """A run that keeps the interpreter's lock, or looks for signals only at its end, freezes the process."""
    check_interruption(LONG_CALLS[name])


@needs_signals
@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("(exec_y (in1 in2 string_contains))", [SAME + SAME, SAME + "b"]),
        ("(exec_y (in1 vector_string_sort))", [[SAME + str(i) for i in range(5000)]]),
        ("(exec_y (in1 vector_float_sort))", [[float("nan"), *map(float, range(50_000, 0, -1))]]),
        ("(exec_y (in1 in2 vector_integer_eq))", [list(range(10**6)), list(range(10**6))]),
        ("(exec_y (in1 7 integer_dup vector_integer_occurrencesof))", [list(range(10**6))]),
        ("(in1 vector_integer_pushall exec_y (90000 integer_yank))", [list(range(90_000))]),
    ],
)
def test_a_run_of_slow_instructions_can_be_interrupted(program: str, inputs: list[Any]) -> None:
    """A thousand steps may take a millisecond or a minute: looking for signals by steps alone is too late."""
    code, limits = Program(program), Limits(steps=10**6, points=10**6)
    check_interruption(lambda: run(code, inputs, limits))


@pytest.mark.slow
@needs_signals
def test_a_long_translation_can_be_interrupted() -> None:
    genes = [Gene(Symbol("exec_dup"), close=1)] * 200_000 + [Gene(Symbol("noop_delete_prev_paren_pair"))] * 200_000
    genome = Genome(genes)
    check_interruption(lambda: genome.translate(10**9))


def test_objects_may_be_shared_between_threads() -> None:
    """Counts of an evaluator must not be lost, and its memory of answers not be emptied under a thread's feet."""
    import flexicase.push.evaluator as module

    cases = [[n] for n in range(40)]
    shared = Evaluator(cases, [n for (n,) in cases], measures=[ErrorMeasure("integer", lambda a, b: abs(a - b))])
    programs = [Program(f"(in1 {k} integer_add)") for k in range(20)]
    genome = Genome([Gene(Symbol("in1")), Gene(1), Gene(Symbol("integer_add"), close=1)])
    expected = [[float(k)] * 40 for k in range(20)]
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                assert shared.errors(programs).tolist() == expected
                assert str(genome.translate()) == "(in1 1 integer_add)"
                assert run(programs[3], [1]).top("integer") == 4
                assert [str(program) for program in programs[:3]] == [f"(in1 {k} integer_add)" for k in range(3)]
        except BaseException as error:
            problems.append(error)

    interval, most = sys.getswitchinterval(), module.MAX_KNOWN_ERRORS
    sys.setswitchinterval(1e-6)
    module.MAX_KNOWN_ERRORS = 5
    try:
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        module.MAX_KNOWN_ERRORS = most
    assert problems == []
    assert shared.steps == 6 * 10 * 20 * 40 * 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "run(Program('(true exec_while (true))'), [], Limits(steps=10**6))",
        "Evaluator([[1]] * 50, [1] * 50, stack='integer').errors([Program('(in1)')] * 200, threads=2)",
        "run(Program('(1 test_next test_next)'), [])",
        "Evaluator([[1]] * 50, [1] * 50, stack='integer').errors([Program('(in1 test_next)')] * 200, threads=2)",
    ],
    ids=["run", "errors", "run Python", "errors of Python"],
)
def test_a_thread_at_work_while_the_interpreter_exits_does_not_abort_it(call: str) -> None:
    run_script(f"""
        from flexicase.push import Evaluator, Limits, Program, instruction, run
        @instruction(takes=["integer"], gives=["integer"])
        def test_next(number):
            return number + 1
        def work():
            while True:
                {call}
                begun.set()
        class Slow:
            def flush(self):
                time.sleep(0.2)  # the threads ask for the lock while the interpreter exits
        sys.stdout = Slow()
        begun = threading.Event()
        for _ in range(3):
            threading.Thread(target=work, daemon=True).start()
        begun.wait()
        time.sleep(0.1)
    """)


# Without memory or threads, work ends with MemoryError or is done by fewer threads; the process goes on.


PRELUDE = """
import resource, sys
import numpy as np
from flexicase import push
from flexicase.gp import Population, Variation
from flexicase.gp import OffspringGenerator
from flexicase.push import *
from flexicase.rng import Key

def limit(more):
    used = int(open("/proc/self/statm").read().split()[0]) * 4096
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))

def attempt(call, more):
    limit(more)
    try:
        call()
        said = "a result"
    except MemoryError:
        said = "MemoryError"
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return said

genes = [RandomInteger(-5, 5), RandomString(0, 50), *InstructionSet.from_stacks("integer", "string", "exec")]
breeder = OffspringGenerator(genes, Variation())
parents = breeder.random(5000, Key(1, 2), 1)
programs, _ = parents.translate(1200)
hungry = [Program("(in1 exec_y (vector_integer_reverse vector_integer_dup))")] * 500
evaluator = Evaluator([[list(range(5000))]] * 10, [0] * 10, stack="integer", limits=Limits(steps=2000))
plan = breeder.plan(parents, 5000, Key(3, 4))
chosen = np.zeros(plan.parent_start[-1], np.int64)
"""
CALLS_THAT_ALLOCATE = {
    "evaluate": "evaluator.errors(hungry, threads=64)",
    "breed": "breeder.breed(parents, plan, chosen, Key(5, 6), 64)",
    "translate": "parents.translate(1200, 64)",
    "random population": "breeder.random(20_000, Key(7, 8), 64)",
    "run": "run(hungry[0], [list(range(5000))], Limits(steps=10**6, memory=10**12))",
    "read": "Population.from_bytes(data)",
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits memory the way Linux does")
@pytest.mark.parametrize("name", CALLS_THAT_ALLOCATE)
def test_the_process_survives_without_memory(name: str) -> None:
    """An exception that leaves a thread, or a thread that cannot start, would end the process."""
    script = PRELUDE + (
        "data = parents.to_bytes()\n"
        f"call = lambda: {CALLS_THAT_ALLOCATE[name]}\n"
        "print({attempt(call, more << 20) for more in (0, 1, 4, 16, 48, 200)} <= {'a result', 'MemoryError'})\n"
        "print(len(programs))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n5000\n"), done.stderr[-2000:]
