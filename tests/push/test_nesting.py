"""Deeply nested code needs no deep stack of the thread that handles it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from flexicase.push import Limits, Program, run

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
    "unparse": "unparse(code)",
    "parse": "parse(text)",
    "equality": "assert Program(text) == Program(text); hash(Program(text))",
    "points": "assert Program(text).points == DEPTH",
    "copies": "p = pickle.loads(pickle.dumps(Program(text))); assert p == copy.deepcopy(p) == copy.copy(p)",
    "run": "run(text, limits=limits)",
    "state": "assert run(quoted, limits=limits).stacks['code']",
    "input": "run('(in1)', [code], limits)",
    "trace": "str(trace('(' * 300 + ')' * 300).steps[-1]); trace(quoted).steps[-1].shown()",
    "outputs": "Evaluator([[code]], [code], stack='code', error='mismatch').outputs(quoted)",
    "function": "Evaluator([[]], [0], measures=[Measure('code', lambda a, b: 0)]).errors([quoted])",
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
