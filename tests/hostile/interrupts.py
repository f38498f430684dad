"""Long calls, each started in a process of its own, interrupted, and timed.

Run as a script it prints the table of the documentation:

    python -m tests.hostile.interrupts --repeat 5
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

#: Seconds that a call runs before it is interrupted.
BEFORE = 0.6


class Interrupted(NamedTuple):
    """What an interrupted call did.

    Attributes:
        delay: Seconds from the signal to the KeyboardInterrupt.
        pause: The longest time in seconds for which a second thread did not run.
    """

    delay: float
    pause: float


def _errors(rows: int, cases: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 10, (rows, cases)).astype(np.float64)


def _draw() -> Callable[[], object]:
    import flexicase as fx

    selector = fx.Selector(_errors(1000, 1000), seed=1)
    return lambda: selector.draw(10**9 // 20)


def _draw_threads() -> Callable[[], object]:
    import flexicase as fx

    selector = fx.Selector(_errors(1000, 1000), seed=1)
    return lambda: selector.draw(10**9 // 20, threads=2)


def _draw_epsilon() -> Callable[[], object]:
    import flexicase as fx

    selector = fx.Selector(np.random.default_rng(1).random((200_000, 40)), "epsilon-lexicase", seed=1)
    return lambda: selector.draw(10**6)


def _select() -> Callable[[], object]:
    import flexicase as fx

    errors = np.random.default_rng(1).random((30_000, 20_000), dtype=np.float32)
    return lambda: [fx.select(errors, 10, seed=1) for _ in range(100)]


def _select_tournament() -> Callable[[], object]:
    import flexicase as fx

    errors = _errors(1000, 100)
    return lambda: fx.select(errors, 10**8, "tournament", seed=1)


def _probabilities() -> Callable[[], object]:
    import flexicase as fx

    errors = np.random.default_rng(2).integers(0, 3, (2000, 300))
    return lambda: fx.probabilities(errors, max_states=10**9)


def _trace() -> Callable[[], object]:
    from flexicase.selection.trace import trace

    errors = _errors(2000, 1000)
    return lambda: trace(errors, 10**6, seed=1)


def _fast() -> Callable[[], object]:
    import flexicase as fx

    errors = _errors(200, 500)
    fast = fx.FastLexicase(500, seed=1)
    return lambda: fast.select(lambda individuals, cases: errors[np.ix_(individuals, cases)], 200, 10**7)


def _push_run() -> Callable[[], object]:
    from flexicase import push

    program = push.Program("(0 true exec_while (integer_inc true))")
    limits = push.Limits(steps=10**12)
    return lambda: push.run(program, [], limits)


def _evaluate() -> Callable[[], object]:
    from flexicase import push

    limits = push.Limits(steps=2_000_000)
    evaluator = push.Evaluator([[i] for i in range(200)], list(range(200)), stack="integer", limits=limits)
    programs = [push.Program(f"({k} in1 integer_add true exec_while (integer_inc true))") for k in range(200)]
    return lambda: evaluator.errors(programs, threads=2)


def _evolve() -> Callable[[], object]:
    from flexicase import gp

    return lambda: gp.evolve("last-index-of-zero", population=2000, generations=300, seed=1, threads=2)


def _simplify() -> Callable[[], object]:
    from flexicase import gp, push

    evaluator = push.Evaluator([[i] for i in range(200)], [2 * i for i in range(200)], stack="integer")
    program = push.Program("(" + "5 integer_pop " * 300 + "in1 in1 integer_add)")
    return lambda: gp.simplify(program, evaluator, steps=10**8)


def _train() -> Callable[[], object]:
    import torch

    from flexicase.torch import GradientLexicase

    data = torch.utils.data.TensorDataset(torch.randn(20_000, 64), torch.randint(0, 10, (20_000,)))
    training = GradientLexicase(lambda: torch.nn.Linear(64, 10), data, generations=10**6, seed=1)
    return lambda: [training.step() for _ in range(10**6)]


CALLS: dict[str, Callable[[], Callable[[], object]]] = {
    "Selector.draw": _draw,
    "Selector.draw, 2 threads": _draw_threads,
    "Selector.draw, epsilon": _draw_epsilon,
    "select, 30,000 × 20,000": _select,
    "select, tournament": _select_tournament,
    "probabilities": _probabilities,
    "trace": _trace,
    "FastLexicase.select": _fast,
    "push.run": _push_run,
    "Evaluator.errors": _evaluate,
    "gp.evolve": _evolve,
    "gp.simplify": _simplify,
    "GradientLexicase.step": _train,
}


def interrupt_here(name: str) -> Interrupted:
    """Run a call on this thread, interrupt it, and time both what it and what another thread does."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    call = CALLS[name]()
    longest = 0.0
    sent = ended = 0.0
    done = threading.Event()

    def tick() -> None:
        nonlocal longest
        last = time.monotonic()
        while not done.is_set():
            time.sleep(0.002)
            now = time.monotonic()
            longest, last = max(longest, now - last), now

    def interrupt() -> None:
        nonlocal sent
        time.sleep(BEFORE)
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    for work in (tick, interrupt):
        threading.Thread(target=work, daemon=True).start()
    try:
        call()
    except KeyboardInterrupt:
        ended = time.monotonic()
    done.set()
    assert ended > 0.0, "the call ended before it was interrupted"
    return Interrupted(ended - sent, longest)


def interrupt(name: str) -> Interrupted:
    """The same in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.hostile.interrupts", "--only", name],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, f"{name}: exit code {ran.returncode}\n{ran.stderr[-2000:]}"
    return Interrupted(**json.loads(ran.stdout.splitlines()[-1]))


def main() -> None:
    """Print one line per call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=list(CALLS), help="one call, here, as JSON")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.only is not None:
        print(json.dumps(interrupt_here(arguments.only)._asdict()))
        return
    print("| call | Ctrl-C after, median (largest) ms | longest pause of another thread, ms |\n|---|---|---|")
    for name in CALLS:
        found = [interrupt(name) for _ in range(arguments.repeat)]
        delays = [1000 * one.delay for one in found]
        pause = max(1000 * one.pause for one in found)
        print(f"| {name} | {statistics.median(delays):.0f} ({max(delays):.0f}) | {pause:.0f} |", flush=True)


if __name__ == "__main__":
    main()
