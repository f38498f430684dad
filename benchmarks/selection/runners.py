"""Who selects: flexicase, a plain NumPy loop, and the peers, called alike and timed alike.

This file imports nothing but NumPy until a runner is made, so that a peer's own environment can
run it as a script, without flexicase: ``python runners.py PEER errors.npy std|epsilon`` then answers
each line of JSON on standard input (the arguments of `Bench.time`) with one on standard output.

Only what a user would have at hand before selecting is made outside the timed call: the error
matrix with the peer's sign, or the peer's population with its fitness. All that a library computes from
it (checks, groups, MAD) is inside. Seconds are processor seconds of the process.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Call: TypeAlias = Callable[[int, int], Sequence[int] | NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Timing:
    """The best of several equal calls.

    Attributes:
        n: Selections per call.
        seconds: Processor seconds of the best call.
        wall_seconds: Wall-clock seconds of the call that was best by that clock.
        calls: How many calls were timed.
    """

    n: int
    seconds: float
    wall_seconds: float
    calls: int

    def best(self, other: Timing) -> Timing:
        """Both together."""
        return Timing(
            self.n,
            min(self.seconds, other.seconds),
            min(self.wall_seconds, other.wall_seconds),
            self.calls + other.calls,
        )


class Times(Protocol):
    """Something that can be timed on one error matrix: `Bench`, or a process that has one."""

    def time(self, n: int, *, seed: int, seconds: float, limit: float, **options: Any) -> Timing:
        """See `Bench.time`."""
        ...


class Bench:
    """One runner on one error matrix.

    Args:
        runner: A key of `RUNNERS`.
        errors: (n_individuals, n_cases) errors, lower is better.
        epsilon: Whether to run epsilon lexicase with the MAD.

    Example:
        >>> import numpy as np
        >>> from selection.runners import Bench
        >>> bench = Bench("numpy", np.eye(5), epsilon=False)
        >>> bench.time(10, seed=1, seconds=0.0, limit=1.0).n
        10
    """

    def __init__(self, runner: str, errors: NDArray[np.float64], *, epsilon: bool) -> None:
        """Keep the matrix; calls are made when they are first timed."""
        self._make = RUNNERS[runner]
        self._errors = errors
        self._epsilon = epsilon
        self._calls: dict[str, tuple[Call, int]] = {}

    def time(self, n: int, *, seed: int, seconds: float, limit: float, **options: Any) -> Timing:
        """Call again and again, with a new seed each time, and keep the best.

        Args:
            n: Selections per call; fewer if a call would take longer than ``limit``.
            seed: The first call's seed; the others count up from it.
            seconds: Go on until the calls have used this many processor seconds; one call at least.
            limit: Processor seconds that a call may take.
            options: What to run, for `flexicase_call`; peers have no options.

        Raises:
            RuntimeError: The runner did not return ``n`` indices of individuals.
        """
        key = json.dumps([n, limit, options], sort_keys=True)
        if key not in self._calls:
            call = self._make(self._errors, self._epsilon, **options)
            self._calls[key] = call, affordable(call, n, limit)
        call, n = self._calls[key]
        best: Timing | None = None
        used = 0.0
        while best is None or used < seconds:
            calls = 0 if best is None else best.calls
            timing = self._once(call, n, seed + calls)
            best = timing if best is None else best.best(timing)
            used += timing.seconds
        return best

    def _once(self, call: Call, n: int, seed: int) -> Timing:
        wall, start = time.perf_counter(), time.process_time()
        chosen = call(n, seed)
        seconds, wall_seconds = time.process_time() - start, time.perf_counter() - wall
        indices = np.asarray(chosen)
        if indices.shape != (n,) or (n and not 0 <= indices.min() <= indices.max() < len(self._errors)):
            raise RuntimeError(f"expected {n} indices below {len(self._errors)}, got {indices!r:.80}")
        return Timing(n, max(seconds, 1e-9), wall_seconds, 1)


def affordable(call: Call, n: int, limit: float) -> int:
    """The largest number of selections up to ``n`` that should take no longer than ``limit``.

    Tried on ever larger numbers; work that does not grow with the number is not counted as if it did.
    """
    tried, first = 1, 0.0
    while True:
        start = time.process_time()
        call(tried, 0)
        last = time.process_time() - start
        if tried == n and last <= limit:
            return n
        if tried == 1:
            first = last
        elif last > limit / 2 or last > max(limit / 10, 2 * first):
            break
        if tried == n or last > limit:
            break
        tried = min(4 * tried, n)
    each = last if tried == 1 else max((last - first) / (tried - 1), 1e-12)
    fixed = 0.0 if tried == 1 else first
    return max(1, min(n, int((limit - fixed) / each)))


def flexicase_call(
    errors: NDArray[np.float64],
    epsilon: bool,
    *,
    method: str | None = None,
    counts: bool = False,
    cases_major: bool = False,
    threads: int = 1,
) -> Call:
    """flexicase: a fresh `flexicase.select` every time."""
    flexicase = importlib.import_module("flexicase")
    matrix = np.asfortranarray(errors) if cases_major else errors
    chosen = method or ("epsilon-lexicase" if epsilon else "lexicase")

    def call(n: int, seed: int) -> NDArray[Any]:
        found = (flexicase.select if counts else flexicase.select_indices)(
            matrix, n, chosen, seed=seed, threads=threads
        )
        indices: NDArray[Any] = found.indices if counts else found
        return indices

    return call


def numpy_call(errors: NDArray[np.float64], epsilon: bool) -> Call:
    """Lexicase selection as one writes it down in NumPy."""
    n_individuals, n_cases = errors.shape

    def call(n: int, seed: int) -> NDArray[Any]:
        rng = np.random.default_rng(seed)
        tolerance = np.zeros(n_cases)
        if epsilon:
            tolerance = np.median(np.abs(errors - np.median(errors, axis=0)), axis=0)
        chosen = np.empty(n, dtype=np.int64)
        for event in range(n):
            pool = np.arange(n_individuals)
            for case in rng.permutation(n_cases):
                if len(pool) == 1:
                    break
                column = errors[pool, case]
                pool = pool[column <= column.min() + tolerance[case]]
            chosen[event] = pool[rng.integers(len(pool))]
        return chosen

    return call


def lexicase_call(errors: NDArray[np.float64], epsilon: bool) -> Call:
    """The package ``lexicase``: higher is better there; epsilon is the MAD of the population."""
    lexicase = importlib.import_module("lexicase")
    select = lexicase.epsilon_lexicase_selection if epsilon else lexicase.lexicase_selection
    fitness = np.ascontiguousarray(-errors)

    def call(n: int, seed: int) -> NDArray[Any]:
        return np.asarray(select(fitness, n, seed=seed))

    return call


def deap_call(errors: NDArray[np.float64], epsilon: bool) -> Call:
    """DEAP: individuals with a fitness each; epsilon is the MAD of the pool (dynamic)."""
    base, tools = importlib.import_module("deap.base"), importlib.import_module("deap.tools")
    select = tools.selAutomaticEpsilonLexicase if epsilon else tools.selLexicase
    fitness = type("ErrorVector", (base.Fitness,), {"weights": (-1.0,) * errors.shape[1]})
    population = _population(errors, fitness)

    def call(n: int, seed: int) -> list[int]:
        random.seed(seed)
        return [individual[0] for individual in select(population, n)]

    return call


def deap_er_call(errors: NDArray[np.float64], epsilon: bool) -> Call:
    """deap-er with its matrix path: individuals, and their errors as a matrix beside them."""
    library = importlib.import_module("deap_er")
    tools = importlib.import_module("deap_er.tools")
    fitness = type("ErrorVector", (library.Fitness,), {"weights": (-1.0,) * errors.shape[1]})
    population = _population(errors, fitness)
    matrix = np.ascontiguousarray(errors)

    def call(n: int, seed: int) -> list[int]:
        tools.rng.seed(seed)
        if epsilon:
            chosen = tools.sel_epsilon_lexicase(population, n, mode="epsilon_semi", matrix=matrix, trust_matrix=True)
        else:
            chosen = tools.sel_lexicase(population, n, matrix=matrix, trust_matrix=True)
        return [individual[0] for individual in chosen]

    return call


class _Individual(list[int]):
    fitness: Any


def _population(errors: NDArray[np.float64], fitness: Any) -> list[_Individual]:
    population = []
    for index, row in enumerate(errors):
        individual = _Individual([index])
        individual.fitness = fitness()
        individual.fitness.values = tuple(row.tolist())
        population.append(individual)
    return population


RUNNERS: dict[str, Callable[..., Call]] = {
    "flexicase": flexicase_call,
    "numpy": numpy_call,
    "lexicase": lexicase_call,
    "deap": deap_call,
    "deap-er": deap_er_call,
}


def serve(runner: str, path: str, kind: str) -> None:
    """Answer timing requests on standard input until it ends.

    Args:
        runner: A key of `RUNNERS`.
        path: An ``.npy`` file with the (n_individuals, n_cases) errors.
        kind: ``"std"`` or ``"epsilon"``.
    """
    bench = Bench(runner, np.load(path), epsilon=kind == "epsilon")
    for line in sys.stdin:
        print(json.dumps(asdict(bench.time(**json.loads(line)))), flush=True)


if __name__ == "__main__":
    serve(*sys.argv[1:])
