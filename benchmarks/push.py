"""Speed of the Push engine: random programs of the Mirror Image generator, ``python benchmarks/push.py``."""

from __future__ import annotations

import argparse
import random
import time

from flexicase.push import Evaluator, Gene, Genome, InstructionSet, Limits, Program, Symbol, run
from flexicase.push.program import Value
from push_peer import pyshgp_rate

CLOSE = ([0, 1, 2, 3], [0.772, 0.206, 0.021, 0.001])


def random_gene(rng: random.Random, instructions: list[Symbol]) -> Gene:
    """A gene: a Boolean, a tag, a tagged, an input or an instruction, each entry equally likely."""
    entry = rng.randrange(5 + len(instructions))
    item: Value
    if entry == 0:
        item = rng.random() < 0.5
    elif entry == 1:
        stack = rng.choice(["integer", "boolean", "vector_integer", "exec"])
        item = Symbol(f"tag_{stack}_{rng.randrange(1000)}")
    elif entry == 2:
        item = Symbol(f"tagged_{rng.randrange(1000)}")
    else:
        item = Symbol(f"in{entry - 2}") if entry < 5 else instructions[entry - 5]
    return Gene(item, rng.choices(*CLOSE)[0])


def mirror_cases(rng: random.Random, count: int) -> tuple[list[list[Value]], list[Value]]:
    """Two vectors of up to 50 integers, mirror images of one another in about half of the cases."""
    inputs: list[list[Value]] = []
    for i in range(count):
        first = [rng.randint(-1000, 1000) for _ in range(rng.randint(0, 50))]
        second = first[::-1] if i % 2 else rng.sample(first, len(first))
        inputs.append([first, second])
    return inputs, [first == second[::-1] for first, second in inputs]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=15, help="the best of so many counts")
    arguments = parser.parse_args()
    rng = random.Random(1)
    instructions = list(InstructionSet.from_stacks("exec", "integer", "boolean", "vector_integer"))
    sizes = (rng.randint(100, 300) for _ in range(arguments.programs))
    genomes = [Genome(random_gene(rng, instructions) for _ in range(size)) for size in sizes]
    inputs, expected = mirror_cases(rng, arguments.cases)
    evaluator = Evaluator(inputs, expected, stack="boolean", error="mismatch", limits=Limits(steps=600, keep_nan=True))

    translation = evaluation = float("inf")
    for _ in range(arguments.repeats):
        start = time.process_time()
        programs = [genome.translate() for genome in genomes]
        translation = min(translation, time.process_time() - start)
        evaluator.steps = 0
        start = time.process_time()
        evaluator.errors(programs, threads=1)
        evaluation = min(evaluation, time.process_time() - start)
    print(f"{evaluator.steps:,} steps of {arguments.programs} programs on {arguments.cases} cases, one thread")
    print(f"evaluation   {evaluation:.3f} s CPU, {evaluator.steps / evaluation / 1e6:.0f} million steps per CPU-second")
    print(f"translation  {translation:.4f} s CPU, {100 * translation / evaluation:.1f} % of the evaluation")

    walls = {1: float("inf"), 2: float("inf")}
    for _ in range(arguments.repeats):
        for threads, best in walls.items():
            start = time.perf_counter()
            evaluator.errors(programs, threads=threads)
            walls[threads] = min(best, time.perf_counter() - start)
    print(f"threads      {walls[1]:.3f} s wall clock with one, {walls[2]:.3f} s with two: {walls[1] / walls[2]:.2f} x")
    trivial = Program("(1)")
    one_run = float("inf")
    for _ in range(arguments.repeats):
        start = time.process_time()
        for _ in range(10_000):
            run(trivial)
        one_run = min(one_run, (time.process_time() - start) / 10_000)
    print(f"run of a trivial program from Python  {1e6 * one_run:.2f} µs")

    peer = pyshgp_rate(inputs, programs=20, cases=10)
    if peer is None:
        print("pyshgp       not installed: no ratio to another Push system")
        return
    runs = arguments.programs * arguments.cases / evaluation
    print(f"pyshgp       {peer.runs:,.0f} program runs, {peer.steps:,.0f} steps per CPU-second")
    print(f"ratio        {runs / peer.runs:,.0f} x the program runs ({runs:,.0f}), ", end="")
    print(f"{evaluator.steps / evaluation / peer.steps:,.0f} x the steps")


if __name__ == "__main__":
    main()
