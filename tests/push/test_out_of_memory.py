"""Without memory or threads, work ends with MemoryError or is done by fewer threads; the process goes on."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PRELUDE = """
import resource, sys
import numpy as np
from flexicase import push
from flexicase.gp import Population, Variation
from flexicase.gp.variation import Breeder
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

genes = [RandomInteger(-5, 5), RandomString(0, 50), *InstructionSet.of_stacks("integer", "string", "exec")]
breeder = Breeder(genes, Variation())
parents = breeder.random(5000, Key(1, 2), 1)
programs, _ = parents.translate(1200)
hungry = [Program("(in1 exec_y (vector_integer_reverse vector_integer_dup))")] * 500
evaluator = Evaluator([[list(range(5000))]] * 10, [0] * 10, stack="integer", limits=Limits(steps=2000))
plan = breeder.plan(parents, 5000, Key(3, 4))
chosen = np.zeros(plan.first[-1], np.int64)
"""
CALLS = {
    "evaluate": "evaluator.errors(hungry, threads=64)",
    "breed": "breeder.breed(parents, plan, chosen, Key(5, 6), 64)",
    "translate": "parents.translate(1200, 64)",
    "random population": "breeder.random(20_000, Key(7, 8), 64)",
    "run": "run(hungry[0], [list(range(5000))], Limits(steps=10**6, memory=10**12))",
    "read": "Population.from_bytes(data)",
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory the way Linux does")
@pytest.mark.parametrize("name", CALLS)
def test_the_process_survives_without_memory(name: str) -> None:
    """An exception that leaves a thread, or a thread that cannot start, would end the process."""
    script = PRELUDE + (
        "data = parents.to_bytes()\n"
        f"call = lambda: {CALLS[name]}\n"
        "print({attempt(call, more << 20) for more in (0, 1, 4, 16, 48, 200)} <= {'a result', 'MemoryError'})\n"
        "print(len(programs))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "True\n5000\n"), done.stderr[-2000:]
