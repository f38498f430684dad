"""Speed of a generation of PushGP, by phase and beside Clojush: ``python benchmarks/gp.py``.

CPU time on one thread, the same run each time; a machine that is busy with other things makes all figures worse.
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.gp.evolve import Evolution, evolve_settings
from flexicase.gp.records import GenerationRecord


@dataclass(frozen=True)
class Clojush:
    """Clojush 3.32 on OpenJDK 17 and two cores of a machine of this kind, population 1000, generation 3.

    Attributes:
        seconds: Wall-clock time of the generation, evaluation and breeding.
        runs: Programs times cases.
        instructions: Per run.
    """

    seconds: float
    runs: int
    instructions: float

    def running(self, instructions: float) -> float:
        """CPU time of runs of so many instructions each."""
        return self.runs * instructions / INSTRUCTIONS_PER_CPU_SECOND

    def wall_seconds(self, instructions: float) -> float:
        """Wall-clock time of a generation if its runs had so many instructions; breeding stays as it was."""
        return self.seconds + (self.running(instructions) - self.running(self.instructions)) / CORES

    def cpu_seconds(self, instructions: float, selections: float) -> float:
        """The same in CPU time."""
        return self.running(instructions) + selections * CPU_SECONDS_PER_SELECTION


CLOJUSH = {
    "mirror-image": Clojush(seconds=59.0, runs=100_000, instructions=348),
    "last-index-of-zero": Clojush(seconds=43.0, runs=150_000, instructions=190),
}
CORES = 2
PHASES = ("translate", "evaluate", "select", "vary", "other")
INSTRUCTIONS_PER_CPU_SECOND = 0.47e6  # the better end of 0.38 to 0.47 million per second and core
CPU_SECONDS_PER_SELECTION = 8e-3  # the better end of 8 to 12 ms


class Stopwatch:
    """Adds up the time that a function takes."""

    def __init__(self, function: Any) -> None:
        """Nothing was called yet."""
        self.function = function
        self.seconds = 0.0

    def __call__(self, *args: Any) -> NDArray[np.float64]:
        """Call the function."""
        start = time.process_time()
        result: NDArray[np.float64] = self.function(*args)
        self.seconds += time.process_time() - start
        return result


def measure(problem: str, method: str, **arguments: Any) -> tuple[list[GenerationRecord], float]:
    """The records of a run in CPU seconds, and the seconds spent in running programs."""
    settings = evolve_settings(problem, method, threads=1, **arguments)
    evolution = Evolution(settings, clock=time.process_time)
    running = Stopwatch(evolution.train.errors)
    evolution.train.errors = running  # type: ignore[method-assign]
    records, seconds = [], 0.0
    while True:
        record, finished = evolution.step()
        if finished:  # it breeds nothing
            return records, seconds
        records.append(record)
        seconds = running.seconds


def report(problem: str, records: list[GenerationRecord], running: float, *, all_pairs: bool) -> float:
    """Print the phases of a generation. Returns its CPU seconds."""
    n = len(records)
    total = sum(record.seconds for record in records) / n
    steps, pairs = sum(r.push_steps for r in records) / n, sum(r.pairs for r in records) / n
    events = sum(r.events for r in records) / n
    print(
        f"{problem}: {n} generations, {events:,.0f} selections, {pairs:,.0f} runs of {steps / pairs:.0f} instructions"
    )
    print(f"  one generation  {total:.3f} s CPU on one thread, {steps / 1e6:.1f} million instructions")
    for name in PHASES:
        seconds = sum(getattr(record, f"seconds_{name}") for record in records) / n
        print(f"    {name:<10} {1e3 * seconds:8.2f} ms  {100 * seconds / total:5.1f} %")
    if all_pairs:
        print(f"  running Push programs  {100 * running / n / total:.1f} % of the CPU time")
        if problem in CLOJUSH:
            beside_clojush(CLOJUSH[problem], total, steps / pairs, events)
    return total


def beside_clojush(clojush: Clojush, seconds: float, instructions: float, events: float) -> None:
    wall, cpu = clojush.wall_seconds(instructions), clojush.cpu_seconds(instructions, events)
    print(f"  Clojush at {instructions:.0f} instructions a run (measured at {clojush.instructions:.0f}):")
    print(f"    {cpu:.0f} s CPU, {cpu / seconds:,.0f} times ours")
    print(f"    {wall:.0f} s wall clock on two cores, {wall / seconds:,.0f} times ours on one thread")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="*", default=list(CLOJUSH))
    parser.add_argument("--method", default="lexicase")
    parser.add_argument("--generations", type=int, default=5, help="of each run, unless it ends before")
    parser.add_argument("--repeats", type=int, default=3, help="the best counts")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--partial", action="store_true", help="evaluate what selection asks for")
    parser.add_argument(
        "--selections", type=int, help="selections per generation, as many as there are parents if left out"
    )
    parser.add_argument(
        "--sampling", nargs="*", default=["none"], help="samplings such as down:0.1; measured in turn, beside the first"
    )
    arguments = parser.parse_args()
    options = {"generations": arguments.generations, "seed": arguments.seed}
    options |= {"partial": arguments.partial, "n_selections": arguments.selections}
    for problem in arguments.problems:
        runs: dict[str, list[tuple[list[GenerationRecord], float]]] = {text: [] for text in arguments.sampling}
        for _ in range(arguments.repeats):
            for text, measured in runs.items():
                measured.append(measure(problem, arguments.method, sampling=text, **options))
        seconds = {}
        for text, measured in runs.items():
            records, running = min(measured, key=lambda run: sum(record.seconds for record in run[0]))
            name = problem if text == "none" else f"{problem} on {text}"
            seconds[text] = report(name, records, running, all_pairs=text == "none" and not arguments.partial)
        first, *others = seconds
        for text in others:
            print(f"{problem}: a generation on {text} costs {seconds[text] / seconds[first]:.2f} of one on {first}")
    print(f"memory  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


if __name__ == "__main__":
    main()
