"""Selection on a cluster: what a second worker gains, what Ray costs, and whether the formula and the simulation hold.

    python benchmarks/scaling.py                                 everything, some minutes
    python benchmarks/scaling.py --parts overhead                what a piece costs
    python benchmarks/scaling.py --parts local --before DIR      this machine's path against another checkout
    python benchmarks/scaling.py --parts figure --plot docs/images/scaling.png

Starts a Ray of its own. Work is real: hashing that takes 20 ms of processor time per pair, calibrated at the start.
The load of the machine is printed, since a second worker gains little where there is no second processor to be had.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np

import flexicase as fx
from cluster_model import Costs, estimate, pool_sizes, simulate
from flexicase._provenance import usable_cores
from flexicase.data import SyntheticPopulation
from flexicase.evaluation import RayEvaluator

PARTS = ("overhead", "efficiency", "local", "figure")
WORKERS = (1, 2, 10, 30, 100, 300, 1000, 3000, 10_000)
LOCAL = """
import time
import numpy as np
import flexicase as fx
errors = np.random.default_rng(1).integers(0, 3, (100, 2000)).astype(float)
evaluate = lambda individuals, cases: errors[individuals][:, cases]
for n_individuals, calls in ((1, 2000), (100, 200)):
    best = 1e9
    for repeat in range(30):
        fast = fx.FastLexicase(2000, seed=repeat)
        start = time.process_time()
        for _ in range(calls):
            fast.select(evaluate, n_individuals)
        best = min(best, time.process_time() - start)
    print(best / calls * 1e6)
"""


def burn(rounds: int, population: SyntheticPopulation, individuals: np.ndarray, cases: np.ndarray) -> np.ndarray:
    """The errors, after so much hashing per pair."""
    block = bytes(4096)
    for _ in range(rounds * len(individuals) * len(cases)):
        hashlib.sha256(block).digest()
    return population(individuals, cases)


def calibrated(seconds: float) -> int:
    """How many rounds of hashing take so long, at their fastest."""
    tiny, rounds = SyntheticPopulation(1, 1), 2000
    best = min(_timed(partial(burn, rounds, tiny, np.zeros(1, int), np.zeros(1, int))) for _ in range(5))
    return round(rounds * seconds / best)


def _timed(work, clock=time.process_time) -> float:
    start = clock()
    work()
    return clock() - start


def start_ray() -> None:
    import ray

    ray.init(
        "local",
        num_cpus=2,
        object_store_memory=80 * 2**20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
        _system_config={"worker_niceness": 0},
    )


def overhead(repeats: int) -> None:
    """What a piece costs besides its work: one at a time, and with the workers kept busy."""
    population = SyntheticPopulation(64, 64)
    with RayEvaluator(population, workers=1) as evaluate:
        evaluate(range(64), range(64))
        singles, cpu, stream = [], [], []
        for _ in range(repeats):
            single = partial(evaluate, [1], [1])
            singles.append(_timed(lambda single=single: [single() for _ in range(100)], time.perf_counter) / 100)
            start, clock, sent = time.process_time(), time.perf_counter(), 0
            while sent < 400:
                while evaluate.free_slots() > 0:
                    evaluate.submit(np.array([1]), np.array([1]))
                    sent += 1
                evaluate.collect()
            cpu.append((time.process_time() - start) / sent)
            stream.append((time.perf_counter() - clock) / sent)
    print("what a piece costs, in milliseconds: best and median of", repeats)
    for name, values in (("there and back", singles), ("one after another", stream), ("the caller's CPU", cpu)):
        print(f"  {name:18} {min(values) * 1e3:6.2f} {statistics.median(values) * 1e3:6.2f}")


def ceiling(repeats: int) -> None:
    """What two processes gain on this machine, as it is now, with no Ray and nothing to wait for."""
    work = partial(burn, calibrated(1.0), SyntheticPopulation(1, 1), np.zeros(1, int), np.zeros(1, int))
    gains = []
    for _ in range(repeats):
        seconds = []
        for count in (1, 2):
            processes = [multiprocessing.get_context("fork").Process(target=work) for _ in range(count)]
            start = time.perf_counter()
            for process in processes:
                process.start()
            for process in processes:
                process.join()
            seconds.append(time.perf_counter() - start)
        gains.append(2 * seconds[0] / seconds[1])
    median = statistics.median(gains)
    print(f"two processes that only compute are {max(gains):.2f} times as fast as one (median {median:.2f})")


def efficiency(repeats: int, pair_seconds: float, n_individuals: int) -> None:
    """One worker against two, on real work; and what the simulation and the formula say."""
    shape = (n_individuals, 200)
    population = SyntheticPopulation(*shape, copies=0.0)
    rounds = calibrated(pair_seconds)
    pools = pool_sizes(population, *shape, n=4, seed=1)
    expected = fx.FastLexicase(shape[1], seed=1)
    parents = [expected.select(population, shape[0], cache_key=k).indices.tolist() for k in range(4)]
    seconds: dict[int, list[float]] = {1: [], 2: []}
    speculated = {}
    for repeat in range(repeats):
        for workers in (1, 2):
            with RayEvaluator(partial(burn, rounds), population, workers=workers) as evaluate:
                evaluate(range(4), range(4))  # the actors are there, and the cost is known
                fast = fx.FastLexicase(shape[1], seed=1)
                found, wasted = [], 0

                def select(evaluate=evaluate, fast=fast, found=found) -> int:
                    speculated = 0
                    for _ in range(4):
                        evaluate.new_population(population)
                        s = fast.select(evaluate, shape[0])
                        found.append(s.indices.tolist())
                        speculated += int(s.pairs_unused.sum())
                    return speculated

                start = time.perf_counter()
                wasted = select()
                seconds[workers].append(time.perf_counter() - start)
                speculated[workers] = wasted
                assert found == parents, "other parents than without Ray"
        print(
            f"  round {repeat}: {seconds[1][-1] / seconds[2][-1]:.2f} times, load {os.getloadavg()[0]:.1f}", flush=True
        )
    print(
        f"{pair_seconds * 1e3:g} ms of work per pair, 4 selections from {n_individuals}: "
        f"{sum(map(sum, pools))} pairs needed; seconds, best of {repeats}"
    )
    costs = Costs(pair_seconds)
    for workers in (1, 2):
        sim, formula = simulate(population, *shape, workers, costs, n=4, seed=1), estimate(pools, workers, costs)
        print(
            f"  {workers} worker{'s' if workers > 1 else ' '}: {min(seconds[workers]):.2f}"
            f" (simulation {sim.seconds:.2f}, formula {formula.seconds:.2f});"
            f" speculated {speculated[workers]} ({sim.speculated}, {formula.speculated:.0f})"
        )
    median = statistics.median(one / two for one, two in zip(seconds[1], seconds[2], strict=True))
    best = min(seconds[1]) / min(seconds[2])
    print(f"  2 workers are {best:.2f} times as fast as 1 at best, {median:.2f} times in the median round (goal: 1.7)")


def local(before: Path | None, repeats: int) -> None:
    """A call of `select` with a plain function, against another checkout: processor time, in turns."""
    places = {"here": Path(fx.__file__).parents[1]} | ({"before": before / "src"} if before else {})
    best = {name: [float("inf")] * 2 for name in places}
    for _ in range(repeats):
        for name, place in places.items():
            done = subprocess.run(
                [sys.executable, "-c", LOCAL],
                env=os.environ | {"PYTHONPATH": str(place)},
                capture_output=True,
                text=True,
                check=True,
            )
            best[name] = [min(pair) for pair in zip(best[name], map(float, done.stdout.split()), strict=True)]
    for k, what in enumerate(("of one individual: nothing to evaluate", "of 100 individuals")):
        line = ", ".join(f"{name} {value[k]:.2f} µs" for name, value in best.items())
        ratio = f": {best['here'][k] / best['before'][k]:.3f} of the time before" if before else ""
        print(f"a selection {what}: {line}{ratio}")


def figure(path: Path | None) -> None:
    """Expected time and waste for 1 to 10,000 workers, by simulation (dots) and formula (lines)."""
    shape = (1000, 1000)
    population = SyntheticPopulation(*shape, copies=0.0)
    pools = pool_sizes(population, *shape, n=4, seed=1)
    table = {}
    print("pair cost   workers    seconds  formula  efficiency  evaluated in vain per pair needed")
    for pair in (0.001, 0.02, 1.0):
        for workers in WORKERS:
            sim, formula = (
                simulate(population, *shape, workers, Costs(pair), n=4, seed=1),
                estimate(pools, workers, Costs(pair)),
            )
            table[pair, workers] = (sim, formula)
            print(
                f"{pair * 1e3:6g} ms {workers:9,} {sim.seconds / 4:10.3g} {formula.seconds / 4:8.3g}"
                f" {sim.efficiency:10.0%} {sim.waste:10.2f}"
            )
    if path is not None:
        draw(path, table)


def draw(path: Path, table: dict) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    drawing, (time_axes, waste_axes) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    for colour, pair in zip(("#0b6e4f", "#d1603d", "#3d5a98"), (1.0, 0.02, 0.001), strict=True):
        made = [table[pair, workers] for workers in WORKERS]
        label = f"{pair:g} s per pair" if pair >= 1 else f"{pair * 1e3:g} ms per pair"
        time_axes.plot(WORKERS, [sim.seconds / 4 for sim, _ in made], "o", color=colour, label=label)
        time_axes.plot(WORKERS, [formula.seconds / 4 for _, formula in made], "-", color=colour, lw=1)
        waste_axes.plot(WORKERS, [sim.waste for sim, _ in made], "o", color=colour, label=label)
        waste_axes.plot(WORKERS, [formula.waste for _, formula in made], "-", color=colour, lw=1)
    for axes, title in (
        (time_axes, "seconds per selection"),
        (waste_axes, "pairs evaluated in vain per pair needed"),
    ):
        axes.set(xscale="log", yscale="log", xlabel="workers", title=title)
        axes.spines[["top", "right"]].set_visible(False)
    time_axes.legend(frameon=False)
    drawing.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pair-seconds", type=float, default=0.02, help="processor time per pair")
    parser.add_argument("--before", type=Path, help="a checkout to compare the local path with, its kernels built")
    parser.add_argument("--plot", type=Path, help="where to draw the figure")
    arguments = parser.parse_args()
    parts = arguments.parts.split(",")
    print(f"{usable_cores()} processors, load {', '.join(f'{load:.1f}' for load in os.getloadavg())}")
    if "efficiency" in parts:
        ceiling(arguments.repeats)
    if {"overhead", "efficiency"} & set(parts):
        start_ray()
    if "overhead" in parts:
        overhead(arguments.repeats)
    if "efficiency" in parts:
        for n_individuals in (8, 60):
            efficiency(arguments.repeats, arguments.pair_seconds, n_individuals)
    if "local" in parts:
        local(arguments.before, arguments.repeats)
    if "figure" in parts:
        figure(arguments.plot)


if __name__ == "__main__":
    main()
