"""Long runs can be interrupted, and other threads go on while programs run."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from flexicase.push import ErrorMeasure, Evaluator, Gene, Genome, Limits, Program, Symbol, run, trace_program
from tests.scripts import run_script

ENDLESS = "(exec_do*while (true))"
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


CALLS: dict[str, Callable[[], Any]] = {
    "run": lambda: run(ENDLESS, limits=LONG),
    "trace": lambda: trace_program("(1000000 exec_do*count (integer_pop))", limits=Limits(steps=100_000)),
    "errors": lambda: evaluator(stack="integer").errors([Program(ENDLESS)] * 2, threads=1),
    "errors on threads": lambda: evaluator(stack="integer").errors([Program(ENDLESS)] * 200, threads=3),
    "errors of a function": lambda: evaluator(measures=[ErrorMeasure("integer", abs)]).errors([Program(ENDLESS)]),
    "errors of all answers": lambda: evaluator(stack="integer", error=max).errors([Program(ENDLESS)]),
    "outputs": lambda: evaluator(stack="integer").outputs(Program(ENDLESS)),
}


@pytest.mark.slow
@needs_signals
@pytest.mark.parametrize("name", CALLS)
def test_a_long_run_can_be_interrupted_and_stops_no_other_thread(name: str) -> None:
    """A run that keeps the interpreter's lock, or looks for signals only at its end, freezes the process."""
    check_interruption(CALLS[name])


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

    interval, most = sys.getswitchinterval(), module.MOST_KNOWN
    sys.setswitchinterval(1e-6)
    module.MOST_KNOWN = 5
    try:
        threads = [threading.Thread(target=work) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        module.MOST_KNOWN = most
    assert problems == []
    assert shared.steps == 6 * 10 * 20 * 40 * 4


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
