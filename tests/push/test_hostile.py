"""Programs made to use up the machine end within their limits."""

from __future__ import annotations

import subprocess
import sys

import pytest

from flexicase.push import Limits, run, trace_program

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
        "trace('(in1 exec_y (vector_integer_dup))', [numbers], Limits(steps=1000)).steps[-1].state",
        "vector_integer",
    ),
}


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
