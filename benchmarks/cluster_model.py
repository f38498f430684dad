"""What selection on a cluster takes, by a formula and by a simulation.

For one selection event whose pool has p(1) ≥ p(2) ≥ … candidates at the cases that it looks at, W workers, and
costs of c seconds per pair, o per piece on its worker and s per piece for the caller who sends it:

- a piece has at least q = max(1, ⌈0.015 / c⌉) pairs and takes t = q·c + o;
- at most a = q·min(W + max(1, ⌈0.002·W / t⌉), max(2, t / s)) pairs are at work as long as some of them may not be
  needed, for at most h = 16 cases, or twice as many as have filtered nobody so far;
- when they are begun at case j, about u(j) = a·p(j) / (a + 2·p(j)) candidates are not known there, and
  k(j) = u(j) + (p(j) - u(j))·p(j+1) / p(j) are expected at the next case: with A(j) = min(a, h·k(j)) pairs ahead,
  look-ahead wastes w = Σ A(j)·(1 - p(j+1) / p(j))·u(j) / k(j), where p = 0 after the last case;
- a pool of p makes the fewest of p / q, 2·W·(1 + ln(p / (2·W·q))) and 2·√(p·c / s) pieces, none of more than 0.25 s
  unless a pair takes longer; with w / q more these are n;
- with e = Σ p(j) pairs needed, the workers take ((e + w)·c + n·o) / W seconds, the caller takes n·s, and what has to
  come one after another takes t·max(1, Σ 1 / (1 + A(j) / p(j))).

The longest of the three is the time that the event takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import check_count, check_seconds
from flexicase.evaluation._pipelined import (
    BATCHES_PER_WORKER,
    MAX_SECONDS_PER_BATCH,
    SECONDS_PER_BATCH,
    batches_ahead,
)
from flexicase.evaluation._prefetch import CASES_AHEAD
from flexicase.evaluation._protocol import CaseEvaluator
from flexicase.rng import Seed
from flexicase.selection.fast_lexicase import FastLexicase
from simulated_cluster import SimulatedCluster


@dataclass(frozen=True)
class Costs:
    """What things cost on a cluster, in seconds.

    The defaults of the last two were measured with Ray on one machine of two cores; see the guide on scaling.

    Attributes:
        pair: One (individual, case) pair on a worker.
        piece: What a piece costs its worker besides.
        send: What a piece costs the caller, who sends one after another.

    Example:
        >>> from cluster_model import Costs
        >>> Costs(pair=0.02).pair
        0.02
    """

    pair: float
    piece: float = 0.001
    send: float = 0.0007

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("pair", "send"):
            check_seconds(getattr(self, name), name, above_zero=True)
        check_seconds(self.piece, "piece")


@dataclass(frozen=True)
class Estimate:
    """What to expect of some selection events on a cluster.

    Attributes:
        workers: How many.
        seconds: How long the events take.
        needed: Pairs that selection looks at.
        speculated: Pairs that are evaluated beyond that.
        work: Seconds that the needed pairs take one worker.

    Example:
        >>> from cluster_model import Estimate
        >>> Estimate(workers=10, seconds=2.5, needed=1000, speculated=200, work=20.0).efficiency
        0.8
    """

    workers: int
    seconds: float
    needed: int
    speculated: float
    work: float

    @property
    def efficiency(self) -> float:
        """The share of the workers' time that goes into pairs that are needed."""
        return self.work / (self.seconds * self.workers)

    @property
    def waste(self) -> float:
        """Pairs evaluated in vain, per pair needed."""
        return self.speculated / self.needed


def estimate(pools: Sequence[Sequence[int]], workers: int, costs: Costs) -> Estimate:
    """The formula: what some selection events take, one after another, nothing being known before any of them.

    Args:
        pools: The sizes of each event's pool before every case that it looks at, as from `pool_sizes`.
        workers: How many.
        costs: What things cost.

    Raises:
        ValueError: A pool is empty.

    Example:
        Twenty candidates, a third of which each case leaves, at a second per pair:

        >>> from cluster_model import Costs, estimate
        >>> for workers in (1, 10):
        ...     print(round(estimate([[20, 7, 2]], workers, Costs(pair=1.0)).seconds, 1))
        31.7
        4.9
    """
    workers = check_count(workers, "workers", 1)
    q = max(1, math.ceil(SECONDS_PER_BATCH / costs.pair))
    t = q * costs.pair + costs.piece
    a = q * min(batches_ahead(workers, t), max(BATCHES_PER_WORKER, t / costs.send))
    seconds = speculated = 0.0
    needed = 0
    for event in pools:
        w = pieces = in_turn = 0.0
        quiet = 0
        if min(event, default=1) < 1:
            raise ValueError(f"pools must have one candidate or more at every case, got {min(event)}")
        for p, after in zip(event, [*event[1:], 0], strict=True):
            unknown = a * p / (a + 2 * p)
            expected = unknown + (p - unknown) * after / p
            ahead = min(a, max(CASES_AHEAD, 2 * quiet) * expected)
            w += ahead * (1 - after / p) * unknown / expected
            in_turn += 1 / (1 + ahead / p)
            pieces += _pieces(p, q, workers, costs)
            quiet = quiet + 1 if after == p else 0
        e = sum(event)
        pieces += w / q
        work = (e + w) * costs.pair + pieces * costs.piece
        seconds += max(work / workers, pieces * costs.send, t * max(1.0, in_turn) if event else 0.0)
        needed += e
        speculated += w
    return Estimate(workers, seconds, needed, speculated, needed * costs.pair)


def _pieces(pool: int, least: int, workers: int, costs: Costs) -> float:
    """How many pieces a pool makes: of the least size, or shares of what is left, or as large as is best to send."""
    shares = BATCHES_PER_WORKER * workers
    guided = shares * (1 + math.log(max(1.0, pool / (shares * least))))
    pieces = min(pool / least, guided, 2 * math.sqrt(pool * costs.pair / costs.send))
    return max(pieces, pool / max(least, MAX_SECONDS_PER_BATCH / costs.pair))


def simulate(
    evaluate: CaseEvaluator, n_individuals: int, n_cases: int, workers: int, costs: Costs, *, n: int = 1, seed: Seed = 0
) -> Estimate:
    """The simulation: `FastLexicase` itself, with real errors, on workers and a clock that are made up.

    Args:
        evaluate: ``evaluate(individuals, cases)`` gives the (m, b) errors; a `flexicase.data.SyntheticPopulation`, say.
        n_individuals: Size of the population.
        n_cases: Number of cases.
        workers: How many.
        costs: What things cost.
        n: Selection events, one after another, each of a new generation.
        seed: Fixes the events.

    Example:
        >>> from cluster_model import Costs, simulate
        >>> from flexicase.data import SyntheticPopulation
        >>> made = simulate(SyntheticPopulation(100, 50), 100, 50, workers=10, costs=Costs(pair=0.1))
        >>> 0.5 < made.efficiency < 1
        True
    """
    cluster = SimulatedCluster(
        evaluate, workers, pair_seconds=costs.pair, piece_seconds=costs.piece, send_seconds=costs.send
    )
    fast = FastLexicase(n_cases, seed=seed)
    needed = speculated = 0
    for _ in range(check_count(n, "n", 1)):
        cluster.new_population(evaluate)
        s = fast.select(cluster, n_individuals)
        needed += int(s.evaluations.sum()) if s.evaluations is not None else 0
        speculated += int(s.pairs_unused.sum())
    return Estimate(cluster.workers, cluster.clock, needed, speculated, needed * costs.pair)


def pool_sizes(
    evaluate: CaseEvaluator, n_individuals: int, n_cases: int, *, n: int = 1, seed: Seed = 0
) -> list[list[int]]:
    """The sizes of the pool before every case that some selection events look at, each of a new generation.

    Args:
        evaluate: ``evaluate(individuals, cases)`` gives the (m, b) errors.
        n_individuals: Size of the population.
        n_cases: Number of cases.
        n: How many events.
        seed: Fixes the events.

    Example:
        >>> import numpy as np
        >>> from cluster_model import pool_sizes
        >>> pool_sizes(lambda individuals, cases: np.array(individuals)[:, None] + 0 * cases, 5, 3)
        [[5]]
    """
    sizes: list[list[int]] = []

    def watched(individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> object:
        sizes[-1].append(len(individuals))
        return evaluate(individuals, cases)

    fast = FastLexicase(n_cases, seed=seed, lookahead=1)
    for _ in range(check_count(n, "n")):
        fast.clear_cache()
        sizes.append([])
        fast.select(watched, n_individuals)  # type: ignore[arg-type]
    return sizes
