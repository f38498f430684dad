"""Two builds of flexicase beside each other: ``python benchmarks/compare.py BEFORE AFTER``.

BEFORE and AFTER are the Python interpreters of two environments. Each pair starts one process of either, because a
process keeps its luck with memory pages for life. The two take turns on the same work, so that other load on the
machine disturbs both alike, and the least processor time of either counts. Each ratio is BEFORE / AFTER (above 1:
AFTER is faster), the geometric mean over the pairs, with a 95 % t interval.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: 97.5 % points of the t distribution, by degrees of freedom.
T_975 = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 14: 2.145, 19: 2.093, 24: 2.064, 29: 2.045, 39: 2.023}


def _selection(folder: Path, letter: str, n: int, method: str) -> Callable[[], Any]:
    import flexicase as fx

    errors = np.load(folder / f"{letter}.npy")
    seeds = iter(range(10**9))
    return lambda: fx.select(errors, n, method, seed=next(seeds))


def _small(folder: Path) -> Callable[[], Any]:
    import flexicase as fx

    selector = fx.Selector(np.load(folder / "a.npy")[:20, :20], seed=1)
    return lambda: [selector.draw(1) for _ in range(1000)]


def _fast(folder: Path) -> Callable[[], Any]:
    import flexicase as fx

    errors = np.load(folder / "c.npy")[:64]
    return lambda: fx.FastLexicase(1000, seed=1).select(lambda i, c: errors[i[:, None], c], 64, 400)


def _push(_: Path) -> Callable[[], Any]:
    from flexicase import push

    rng = random.Random(1)
    instructions = list(push.InstructionSet.from_stacks("exec", "integer", "boolean", "vector_integer"))
    inputs = push.Symbol("in1"), push.Symbol("in2")
    genomes = [
        push.Genome(push.Gene(rng.choice([*instructions, *inputs]), rng.choice([0, 0, 0, 1])) for _ in range(200))
        for _ in range(300)
    ]
    programs = [genome.translate() for genome in genomes]
    cases = [[[rng.randint(-9, 9) for _ in range(20)], [rng.randint(-9, 9) for _ in range(20)]] for _ in range(100)]
    evaluator = push.Evaluator(cases, [True] * 100, stack="boolean", error="mismatch", limits=push.Limits(steps=600))
    return lambda: evaluator.errors(programs, threads=1)


def _generation(problem: str) -> Callable[[Path], Callable[[], Any]]:
    def make(_: Path) -> Callable[[], Any]:
        from flexicase import gp

        return lambda: gp.evolve(problem, population=200, generations=2, seed=3, threads=1, simplification_steps=0)

    return make


def _digits(_: Path) -> Callable[[], Any]:
    import torch

    from flexicase import torch as ft

    torch.set_num_threads(1)
    data = ft.data.load("digits")

    def generation() -> None:
        ft.GradientLexicase(lambda: ft.vgg("digits", channels=1, size=8), data.train, seed=1, generations=10).step()

    return generation


WORK: dict[str, Callable[[Path], Callable[[], Any]]] = {
    "a": lambda folder: _selection(folder, "a", 1000, "lexicase"),
    "a, weighted": lambda folder: _selection(folder, "a", 1000, "weighted-num-nonzeros"),
    "a, ranked": lambda folder: _selection(folder, "a", 1000, "ranked-num-nonzeros"),
    "b": lambda folder: _selection(folder, "b", 1000, "lexicase"),
    "c": lambda folder: _selection(folder, "c", 5000, "lexicase"),
    "d": lambda folder: _selection(folder, "d", 500, "epsilon-lexicase"),
    "a, tournament": lambda folder: _selection(folder, "a", 100_000, "tournament"),
    "one draw of 20 × 20": _small,
    "Fast Lexicase": _fast,
    "Push": _push,
    "gp, Mirror Image": _generation("mirror-image"),
    "gp, Last Index of Zero": _generation("last-index-of-zero"),
    "digits, one generation": _digits,
}


def serve(folder: Path, chosen: list[str]) -> None:
    """Time the work named on standard input, again and again."""
    ready = {name: WORK[name](folder) for name in chosen}
    for call in ready.values():
        call()
    print("ready", flush=True)
    for line in sys.stdin:
        call = ready[line.strip()]
        best, until = math.inf, time.process_time() + 0.03
        while best == math.inf or time.process_time() < until:
            start = time.process_time()
            call()
            best = min(best, time.process_time() - start)
        print(best, flush=True)


class Build:
    """One environment's process."""

    def __init__(self, python: str, folder: Path, chosen: list[str]) -> None:
        """Start it, and wait until all work is prepared."""
        self._python = python
        self._process = subprocess.Popen(
            [python, __file__, "--serve", str(folder), "--work", *chosen],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._python} ended with {self._process.wait()}")
        return line

    def seconds(self, name: str) -> float:
        """Processor seconds of one call."""
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def stop(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """Geometric mean and its 95 % t interval."""
    logs = [math.log(ratio) for ratio in ratios]
    degrees = max(k for k in T_975 if k < len(logs))
    half = T_975[degrees] * statistics.stdev(logs) / math.sqrt(len(logs))
    mean = statistics.fmean(logs)
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", metavar="BEFORE AFTER")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--turns", type=int, default=6, help="of each build in a pair; the best of them counts")
    parser.add_argument("--work", nargs="+", choices=list(WORK), default=list(WORK), metavar="NAME")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    chosen: list[str] = arguments.work
    if arguments.serve is not None:
        return serve(arguments.serve, chosen)
    from selection.workloads import WORKLOADS

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for letter, workload in WORKLOADS.items():
            np.save(folder / f"{letter}.npy", workload.build())
        print(f"{'work':26}{'before/after':>14}{'95 % interval':>18}{'after, ms':>12}")
        ratios: dict[str, list[float]] = {work: [] for work in chosen}
        latest: dict[str, float] = {}
        for pair in range(arguments.pairs):
            before, after = (Build(python, folder, chosen) for python in arguments.builds)
            for work in chosen:
                taken = {before: math.inf, after: math.inf}
                for turn in range(arguments.turns):
                    for build in (before, after) if (pair + turn) % 2 == 0 else (after, before):
                        taken[build] = min(taken[build], build.seconds(work))
                ratios[work].append(taken[before] / taken[after])
                latest[work] = min(latest.get(work, math.inf), taken[after])
            before.stop()
            after.stop()
        for work, found in ratios.items():
            mean, low, high = interval(found)
            print(f"{work:26}{mean:14.3f}{low:10.3f} – {high:.3f}{1000 * latest[work]:12.3f}")


if __name__ == "__main__":
    main()
