"""Random API calls, valid and invalid, from several threads that share their objects.

    python -m tests.hostile.soak --minutes 30 --threads 4 --seed 1

Every call with a seed must give what it gave before, every other one something in range; invalid calls must end in a
deliberate error; memory must not grow.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import flexicase as fx
from flexicase import gp, push

Call = Callable[[random.Random], Any]

_METHODS = [name for name in fx.methods() if "informed" not in name]
_FILTERS: list[Any] = [
    fx.Lexicase(epsilon="mad"),
    fx.Lexicase(epsilon="mad-dynamic", batch_size=3),
    fx.Lexicase(epsilon=0.5),
    fx.Lexicase(batch_size=4),
    fx.Lexicase(max_cases=5),
]


class Soak:
    """Objects that all threads use, and what was found.

    Args:
        seed: Of the objects; threads have generators of their own.
    """

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        discrete = rng.integers(0, 6, (300, 80))
        continuous = rng.random((400, 60))
        continuous[-50:] = continuous[-1]
        self.matrices = [discrete, discrete.astype(np.uint8), continuous, continuous.astype(np.float32)]
        self.matrices.append(np.asfortranarray(continuous))
        methods = [*_METHODS, *_FILTERS]
        self.selectors = [fx.Selector(matrix, method, seed=seed) for matrix in self.matrices for method in methods]
        self.methods = methods
        self.fast = [fx.FastLexicase(80, seed=seed, backend=backend) for backend in ("native", "reference")]
        self.evaluator = push.Evaluator([[i, 2.5, "text"] for i in range(30)], list(range(30)), stack="integer")
        self.programs = [
            push.Program("(in1 integer_dup integer_add)"),
            push.Program("(true exec_while (true in1 integer_inc))"),
            push.Program("(in3 in3 string_concat string_length in2 float_sin integer_fromfloat)"),
        ]
        self.expected: dict[Any, bytes] = {}
        self.lock = threading.Lock()
        self.counts: Counter[str] = Counter()
        self.problems: list[str] = []
        self.calls: list[Call] = [
            self.draw,
            self.select,
            self.probabilities,
            self.fast_select,
            self.run_program,
            self.evaluate,
            self.evolve,
            self.simplify,
            self.bad_select,
            self.bad_push,
            self.bad_method,
        ]

    def same(self, key: Any, found: np.ndarray) -> None:
        """What was found under a key must be what was found there before."""
        with self.lock:
            before = self.expected.setdefault(key, found.tobytes())
        if before != found.tobytes():
            raise AssertionError(f"{key} gave something else than before")

    def draw(self, rng: random.Random) -> None:
        """Draw from a selector that other threads draw from."""
        selector = rng.choice(self.selectors)
        n = rng.choice([0, 1, 10, 1000])
        draw = selector.draw_indices if rng.random() < 0.5 else lambda *a, **k: selector.draw(*a, **k).indices
        drawn = draw(n, threads=rng.choice([1, 1, 2, 3]))
        if len(drawn) != n or (n and not 0 <= drawn.min() <= drawn.max() < 400):
            raise AssertionError("an index is out of range")

    def select(self, rng: random.Random) -> None:
        """Select with a seed: the same parents as any time before."""
        which, method, seed = rng.randrange(len(self.matrices)), rng.randrange(len(self.methods)), rng.randrange(5)
        threads = rng.choice([1, 2])
        chosen = fx.select(self.matrices[which], 50, self.methods[method], seed=seed, threads=threads)
        self.same(("select", which, method, seed), chosen.indices)

    def probabilities(self, rng: random.Random) -> None:
        """Exact probabilities of a small matrix."""
        rows = rng.randrange(2, 20)
        self.same(("probabilities", rows), fx.probabilities(self.matrices[0][:rows, :12]))

    def fast_select(self, rng: random.Random) -> None:
        """Fast Lexicase from an object that other threads use."""
        matrix = self.matrices[0]
        chosen = rng.choice(self.fast).select(lambda i, c: matrix[np.ix_(i, c)], 300, rng.choice([1, 5]))
        if not 0 <= chosen.indices.min() <= chosen.indices.max() < 300:
            raise AssertionError("an index is out of range")

    def run_program(self, rng: random.Random) -> None:
        """Run a program that other threads run."""
        which = rng.randrange(3)
        limits = push.Limits(steps=rng.choice([10, 5000]))
        state = push.run(self.programs[which], [rng.randrange(3), 0.5, "abc"], limits)
        if state.steps < 1:
            raise AssertionError("nothing was run")

    def evaluate(self, rng: random.Random) -> None:
        """Errors of programs, from an evaluator that other threads use."""
        self.same("errors", self.evaluator.errors(self.programs, threads=rng.choice([1, 2])))

    def evolve(self, rng: random.Random) -> None:
        """A small run."""
        seed = rng.randrange(3)
        run = gp.evolve("mirror-image", population=20, generations=1, seed=seed, threads=rng.choice([1, 2]))
        self.same(("evolve", seed), np.array([record.best_error for record in run.records]))

    def simplify(self, rng: random.Random) -> None:
        """A few steps of simplification."""
        smaller = gp.simplify(self.programs[0], self.evaluator, steps=rng.choice([0, 20]))
        if not smaller:
            raise AssertionError("nothing is left")

    def bad_select(self, rng: random.Random) -> None:
        """Arguments that selection refuses."""
        matrix = self.matrices[2]
        bad: list[Callable[[], Any]] = [
            lambda: fx.select(matrix, -1),
            lambda: fx.select(matrix, 1, "no-such-method"),
            lambda: fx.select([[1, 2], [3]], 1),
            lambda: fx.select([[float("nan")]], 1),
            lambda: fx.select(matrix, "x"),
            lambda: fx.select(np.zeros((0, 3)), 1),
            lambda: fx.select(np.zeros((2, 2, 2)), 1),
            lambda: rng.choice(self.selectors).draw(2**80),
        ]
        self.refused(rng.choice(bad))

    def bad_push(self, rng: random.Random) -> None:
        """Arguments that push refuses."""
        bad: list[Callable[[], Any]] = [
            lambda: push.Program("(1 2"),
            lambda: push.run(self.programs[0], 7),  # type: ignore[arg-type]
            lambda: push.Limits(steps=1e6),  # type: ignore[arg-type]
            lambda: self.evaluator.errors(["(in1)"]),  # type: ignore[list-item]
            lambda: push.run(self.programs[0], [object()]),  # type: ignore[list-item]
            lambda: gp.evolve("mirror-image", population=-1),
            lambda: gp.evolve("mirror-imago"),
        ]
        self.refused(rng.choice(bad))

    def bad_method(self, rng: random.Random) -> None:
        """Arguments that methods refuse."""
        bad: list[Callable[[], Any]] = [
            lambda: fx.Lexicase(batch_size=2**63),
            lambda: fx.Lexicase(epsilon="no"),
            lambda: fx.select([[1, 2]], 1, fx.Lexicase(order=fx.Weighted([1, -1]))),
            lambda: fx.Tournament(0),
            lambda: fx.FastLexicase(-1),
            lambda: fx.DownSample(2.0),
        ]
        self.refused(rng.choice(bad))

    def refused(self, call: Callable[[], Any]) -> None:
        """A call must end in a deliberate error."""
        try:
            call()
        except (TypeError, ValueError) as error:
            text = str(error)
            if not text or any(mark in text for mark in ("incompatible function", "std::", "bad_cast", "nanobind")):
                raise AssertionError(f"a raw error: {text}") from error
        else:
            raise AssertionError("a bad call was accepted")

    def work(self, seed: int, until: float) -> None:
        """Make calls until the time is over."""
        rng = random.Random(seed)
        while time.monotonic() < until:
            call = rng.choice(self.calls)
            try:
                call(rng)
            except BaseException:
                with self.lock:
                    self.problems.append(traceback.format_exc(limit=6))
            with self.lock:
                self.counts[call.__name__] += 1


def resident() -> int:
    """Memory of this process in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def soak(seconds: float, threads: int = 4, seed: int = 1) -> tuple[Soak, list[int]]:
    """Run for some time; what was found, and the memory as it went."""
    soaked = Soak(seed)
    until = time.monotonic() + seconds
    workers = [threading.Thread(target=soaked.work, args=(seed * 1000 + t, until)) for t in range(threads)]
    for worker in workers:
        worker.start()
    memory = []
    while any(worker.is_alive() for worker in workers):
        time.sleep(min(1.0, seconds / 20))
        memory.append(resident())
    for worker in workers:
        worker.join()
    return soaked, memory


def main() -> None:
    """Soak and say how it went."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    soaked, memory = soak(60 * arguments.minutes, arguments.threads, arguments.seed)
    tenth = max(len(memory) // 10, 1)
    print(f"{sum(soaked.counts.values()):,} calls: {dict(soaked.counts)}")
    print("memory by tenths of the time, MB:", [max(memory[k : k + tenth]) >> 20 for k in range(0, len(memory), tenth)])
    kinds = Counter(problem.strip().rsplit("\n", 1)[-1][:200] for problem in soaked.problems)
    for kind, count in kinds.most_common(20):
        print(f"{count} × {kind}")
    if soaked.problems:
        print(soaked.problems[0])
    print(f"{len(soaked.problems)} problem(s)")
    raise SystemExit(bool(soaked.problems))


if __name__ == "__main__":
    main()
