"""What an adapter costs and changes, against the selection that the host has itself.

``python benchmarks/adapters.py [HOST ...]`` measures the hosts of this environment. Those whose pins collide with ours
are in ``build/adapters/NAME``: run this with its ``bin/python`` after ``make test-adapters``. Before and after take
turns in one process; times are processor seconds. ``--best-candidate`` computes how often gepa's
Pareto sampler gives the best candidate no chance.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import flexicase as fx

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "examples")]
from tests.adapters.hosts import HOSTS  # noqa: E402

CANDIDATES, EXAMPLES, POOLS = 20, 100, 200


def own_selection(host: Any, population: Any) -> tuple[str, Callable[[int], Any]]:
    """The name of the host's own selection, and a function that selects so many parents with it."""
    if host.package == "deap":
        from deap import tools

        return "selAutomaticEpsilonLexicase", lambda n: tools.selAutomaticEpsilonLexicase(population, n)
    if host.package == "gepa":
        from gepa.strategies.candidate_selector import ParetoCandidateSelector

        pareto = ParetoCandidateSelector(random.Random(1))
        return "pareto", lambda n: [pareto.select_candidate_idx(population) for _ in range(n)]
    if host.package == "pymoo":
        from pymoo.operators.selection.tournament import TournamentSelection

        contest = TournamentSelection(host.example().by_error)
        return "tournament", lambda n: contest(None, population, n, 1, random_state=np.random.default_rng(1))
    if host.package == "geneticengine":
        from geneticengine.algorithms.gp.operators.selection import LexicaseSelection
        from geneticengine.evaluation.sequential import SequentialEvaluator
        from geneticengine.random.sources import NativeRandomSource

        step, evaluator, source = LexicaseSelection(epsilon=True), SequentialEvaluator(), NativeRandomSource(1)
        given = population.problem, evaluator, None, source
        return "LexicaseSelection", lambda n: list(step.apply(*given, iter(population.individuals), n, 1))
    if host.package == "leap_ec":
        from leap_ec import ops

        contests = ops.tournament_selection(population, key=host.example().minus_error)
        return "tournament", lambda n: list(itertools.islice(contests, n))
    fitness = population.fitness.mean(axis=1)
    return "tournament", lambda n: population.ga.tournament_selection(fitness, n)


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds of a call, and what it returned."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def compare(host: Any, rounds: int) -> str:
    """A row of the table: one generation of parents, the whole example and its result, before and after."""
    errors = np.abs(np.random.default_rng(1).normal(size=(100, 200)))
    n, method = 100, "epsilon-lexicase-dynamic"
    if host.package == "gepa":  # it selects one candidate a step
        errors, n, method = (errors[:CANDIDATES, :EXAMPLES] > 0.7) * 1.0, 1, "lexicase"
    population = host.population(errors)
    name, own = own_selection(host, population)
    run = host.example().run
    size = {"deap": 10, "gepa": 1500, "geneticengine": 1500}.get(host.package, 20)
    selection, whole, results = np.empty((3, rounds, 2))
    for i in range(-1, rounds):  # the first round warms up
        selection[i] = (
            timed(lambda: own(n))[0],
            timed(lambda i=i: host.select(population, n, i + 1, method=method))[0],
        )
        for ours in (False, True):
            whole[i, ours * 1], results[i, ours * 1] = timed(lambda ours=ours, i=i: run(ours, i + 1, size))
    before, after = np.median(selection, axis=0) * 1e3
    program, result = np.median(whole, axis=0), np.median(results, axis=0)
    return (
        f"| {host.package} {version(host.package)} | {name} | {before:.2f} ms | {after:.2f} ms | {after / before:.3f} "
        f"| {program[0]:.2f} s | {program[1]:.2f} s | {np.median(whole[:, 1] / whole[:, 0]):.2f} "
        f"| {result[0]:.3f} | {result[1]:.3f} |"
    )


def pools() -> Iterator[tuple[str, Callable[[np.random.Generator], NDArray[np.bool_]]]]:
    """Kinds of (CANDIDATES, EXAMPLES) binary scores."""
    for share in (0.2, 0.1, 0.03):

        def lineage(rng: np.random.Generator, share: float = share) -> NDArray[np.bool_]:
            rows = [rng.random(EXAMPLES) < 0.5]
            while len(rows) < CANDIDATES:
                child = rows[rng.integers(len(rows))].copy()
                changed = rng.random(EXAMPLES) < share
                child[changed] = rng.random(changed.sum()) < 0.5
                rows.append(child)
            return np.array(rows)

        yield f"children differ from a parent in {share:.0%} of redrawn scores", lineage
    for shared in (0.5, 0.8):

        def latent(rng: np.random.Generator, shared: float = shared) -> NDArray[np.bool_]:
            own = rng.normal(size=(CANDIDATES, EXAMPLES))
            return np.sqrt(shared) * rng.normal(size=EXAMPLES) + np.sqrt(1 - shared) * own > 0

        yield f"common difficulty explains {shared:.0%} of the variance", latent


def pareto_chances(scores: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The probabilities of gepa's Pareto sampler: how often a candidate is on a front after its pruning."""
    from gepa.gepa_utils import remove_dominated_programs

    fronts = {i: set(np.flatnonzero(column == column.max()).tolist()) for i, column in enumerate(scores.T)}
    kept = remove_dominated_programs(fronts, scores=scores.mean(axis=1).tolist())
    counts = np.bincount([one for front in kept.values() for one in front], minlength=len(scores))
    return counts / counts.sum()


def show_best_candidate() -> None:
    """The chance of the candidate of the highest mean score, which decides what gepa reports."""
    methods = {"gepa's Pareto": None, "lexicase": "lexicase", "batch-lexicase": "batch-lexicase"}
    print("| scores | sampler | pools where the best has no chance | its median chance |")
    print("|---|---|--:|--:|")
    for name, make in pools():
        rng = np.random.default_rng(1)
        matrices = [make(rng) for _ in range(POOLS)]
        for label, method in methods.items():
            chances = []
            for i, scores in enumerate(matrices):
                best = scores.mean(axis=1) == scores.mean(axis=1).max()
                if method is None:
                    found = pareto_chances(scores)
                else:
                    drawn = fx.select_indices(~scores, 20_000, method, seed=i)
                    found = np.bincount(drawn, minlength=CANDIDATES) / 20_000
                chances.append(found[best].sum())
            none = np.mean(np.array(chances) == 0)
            print(f"| {name} | {label} | {none:.1%} | {np.median(chances):.3f} |", flush=True)


def main() -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hosts", nargs="*", metavar="HOST", help="all that are installed by default")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--best-candidate", action="store_true", help="chances of the best candidate in gepa instead")
    options = parser.parse_args()
    if options.best_candidate:
        show_best_candidate()
        return
    titles = (
        "own selection",
        "own",
        "flexicase",
        "ratio",
        "program, own",
        "flexicase",
        "ratio",
        "result, own",
        "flexicase",
    )
    print("| host | " + " | ".join(titles) + " |")
    print("|---|---|" + "--:|" * 8)
    for kind in HOSTS:
        if find_spec(kind.package) and (not options.hosts or kind.package in options.hosts):
            print(compare(kind(), options.rounds), flush=True)


if __name__ == "__main__":
    main()
