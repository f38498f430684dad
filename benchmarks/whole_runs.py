"""Whole runs of PushGP on two builds: ``python benchmarks/whole_runs.py BEFORE AFTER``.

BEFORE and AFTER are the Python interpreters of two environments. Both make the same runs in turn, each in a process of
its own. Records must be identical, times excepted. A ratio is processor time BEFORE / AFTER of one pair of runs (above
1: AFTER is faster), given as the geometric mean with a 95 % t interval over the pairs.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import subprocess
import sys
import time

from compare import interval

PROBLEMS = (
    "mirror-image",
    "last-index-of-zero",
    "negative-to-zero",
    "replace-space-with-newline",
    "median",
    "count-odds",
)


def evolve(problem: str, seed: int, population: int | None, generations: int) -> None:
    """Make one run; print its processor seconds, its generations and a digest of its records."""
    from flexicase import gp

    start = time.process_time()
    run = gp.evolve(problem, population=population, generations=generations, seed=seed, threads=1)
    seconds = time.process_time() - start
    records = [dataclasses.asdict(record) for record in run.records]
    kept = [{name: value for name, value in row.items() if not name.startswith("seconds")} for row in records]
    result = (kept, str(run.best), str(run.simplified), run.train_errors.tolist(), run.test_errors.tolist())
    print(seconds, len(kept), hashlib.sha256(repr(result).encode()).hexdigest())


def measured(python: str, arguments: list[str]) -> tuple[float, int, str]:
    """The run as another build makes it."""
    command = [python, __file__, "--evolve", *arguments]
    seconds, n, digest = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), int(n), digest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", metavar="BEFORE AFTER")
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS))
    parser.add_argument("--seeds", type=int, default=3, help="runs of each problem")
    parser.add_argument("--population", type=int, default=0, help="the problem's setting if 0")
    parser.add_argument("--generations", type=int, default=60)
    parser.add_argument("--evolve", nargs=2, metavar=("PROBLEM", "SEED"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.evolve:
        problem, seed = arguments.evolve
        return evolve(problem, int(seed), arguments.population or None, arguments.generations)
    size = ["--population", str(arguments.population), "--generations", str(arguments.generations)]
    print(f"{'problem':28}{'seed':>5}{'generations':>13}{'before, s':>11}{'after, s':>10}{'ratio':>8}")
    ratios = []
    for seed in range(1, arguments.seeds + 1):
        for i, problem in enumerate(arguments.problems):
            order = arguments.builds if (seed + i) % 2 else arguments.builds[::-1]
            found = {python: measured(python, [problem, str(seed), *size]) for python in order}
            before, after = (found[python] for python in arguments.builds)
            if before[1:] != after[1:]:
                sys.exit(f"{problem}, seed {seed}: the records differ")
            ratios.append(before[0] / after[0])
            print(f"{problem:28}{seed:5}{after[1]:13}{before[0]:11.2f}{after[0]:10.2f}{ratios[-1]:8.3f}", flush=True)
    if len(ratios) > 2:
        mean, low, high = interval(ratios)
        print(f"geometric mean of {len(ratios)} pairs {mean:.3f}, 95 % interval {low:.3f} – {high:.3f}")


if __name__ == "__main__":
    main()
