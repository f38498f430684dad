"""`advise`: whether partial evaluation pays, from a cheap simulation.

If one event uses a pair of an individual and a case with probability p, then n events compute it with probability 1 -
(1 - p)^n. The simulation finds how long each individual stays in the pool; order and weights give which cases come
early.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_flag, check_fraction
from flexicase.data import SyntheticPopulation
from flexicase.rng import Seed, generator_from_seed
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.orders import first_case_probabilities
from flexicase.selection.protocol import Ended, Method
from flexicase.selection.weights import DefaultWeight

WORTH_IT = 0.5  # of the pairs; beyond that, evaluating whole batches is faster
MAX_INDIVIDUALS = 1000
MAX_CASES = 1000
MAX_EVENTS = 200
MAX_LOOKS = 6_000  # cases used, over all simulated events

Looks: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Advice:
    """What `advise` found; prints as its reason.

    Attributes:
        share: Expected share, 0 to 1, of the (individual, case) pairs that one generation's selections need.
        mode: ``"partial"``: evaluate on demand, with `FastLexicase`; ``"full matrix"``: evaluate all, then `select`.
        reason: Why, in a sentence.

    Example:
        >>> import flexicase as fx
        >>> fx.Advice(0.02, "partial", "One selection needs little.").mode
        'partial'
    """

    share: float
    mode: Literal["partial", "full matrix"]
    reason: str

    def __str__(self) -> str:
        return self.reason


def advise(
    n_individuals: int,
    n_cases: int,
    n: int,
    method: str | Method = "weighted-num-nonzeros",
    *,
    default_weight: DefaultWeight = "max",
    errors: ArrayLike | None = None,
    maximize: bool = False,
    solved: ArrayLike | None = None,
    known: float = 0.0,
    same_as: bool = False,
    seed: Seed = 0,
) -> Advice:
    """Estimate the share of all evaluations that partial evaluation needs, and whether to use it.

    Simulates at most 200 events of `FastLexicase` on at most 1000 individuals and 1000 cases. Fewer cases leave more
    individuals tied, so the share is an overestimate if there are more cases.

    Args:
        n_individuals: Size of the population.
        n_cases: Number of cases.
        n: Selections per generation.
        method: As for `FastLexicase`; an epsilon must be the same for all cases. A limit on cases lowers the share.
        default_weight: As for `FastLexicase`.
        errors: (n_individuals, n_cases) errors of a typical generation; by default a
            `flexicase.data.SyntheticPopulation` of pass/fail cases and many copies.
        maximize: As for `flexicase.select`.
        solved: As for `flexicase.select`.
        known: Share, 0 to 1, of the pairs that are known already, spread evenly over the matrix.
        same_as: Whether ``same_as`` names the copies in each call of `FastLexicase.select`.
        seed: Seed of the simulation.

    Example:
        One parent of a thousand individuals needs little; a whole generation of parents nearly all:

        >>> import flexicase as fx
        >>> fx.advise(1000, 100, n=1).mode
        'partial'
        >>> fx.advise(1000, 100, n=1000).mode
        'full matrix'
        >>> print(fx.advise(1000, 100_000, n=10))
        10 selections from 1000 individuals need about ... % of the 100,000,000 pairs: evaluate on demand ...
    """
    n_individuals = check_count(n_individuals, "n_individuals", 1)
    n_cases = check_count(n_cases, "n_cases", 1)
    n = check_count(n, "n", 1)
    known = check_fraction(known, "known")
    check_flag(same_as, "same_as")
    rng = generator_from_seed(seed)
    whole, sample = (n_individuals, n_cases), (min(n_individuals, MAX_INDIVIDUALS), min(n_cases, MAX_CASES))
    if errors is None:
        part = SyntheticPopulation(*sample, seed=int(rng.integers(2**63)))(*map(np.arange, sample))
    else:
        values = ErrorMatrix.from_array(errors, maximize=maximize, solved=solved).above_solved.values
        if values.shape != whole:
            raise ValueError(f"errors must be n_individuals × n_cases: expected shape {whole}, got {values.shape}")
        rows, columns = (np.sort(rng.choice(whole[i], sample[i], replace=False)) for i in (0, 1))
        part = values[np.ix_(rows, columns)]
    fast = FastLexicase(sample[1], method, default_weight=default_weight, lookahead=1)
    labels = ErrorMatrix.from_array(part).first_identical_row.tolist() if same_as else None
    share = (1.0 - known) * _share(_simulate(fast, part, rng, labels), n, n_cases, fast.method.max_cases)
    return _advice(share, n_individuals, n_cases, n)


def _simulate(fast: FastLexicase, errors: NDArray[Any], rng: np.random.Generator, labels: list[int] | None) -> Looks:
    """The pairs that a mean event uses.

    Returns:
        (n_individuals,) cases used while in a pool that still shrank later; (n_individuals,) share of the events in
        which they were left in a pool that no case could split; (n_cases,) probability of each case to come first.
    """
    n_individuals, n_cases = errors.shape
    filtered, stuck, first = np.zeros(n_individuals), np.zeros(n_individuals), np.zeros(n_cases)
    pools: list[NDArray[np.int64]] = []

    def evaluate(individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[Any]:
        pools.append(individuals)
        return errors[np.ix_(individuals, cases)]

    events = looks = 0
    while events < MAX_EVENTS and looks < MAX_LOOKS:
        pools.clear()
        fast.clear_cache()  # every case used is then a call of the evaluator
        outcome = fast.select(evaluate, n_individuals, 1, seed=int(rng.integers(2**63)), same_as=labels)
        first += first_case_probabilities(fast.method.order.kind, fast.weights)
        events += 1
        looks += len(pools)
        n_stuck = 0
        if pools and outcome.ended[0] == Ended.CASES_EXHAUSTED:
            n_stuck = len(pools[-1])
            stuck[pools[-1]] += 1
        for pool in pools:
            if len(pool) > n_stuck:
                filtered[pool] += 1
    return filtered / events, stuck / events, first / events


def _share(looks: Looks, n: int, n_cases: int, max_cases: int | str | None) -> float:
    """The mean over all pairs of the probability that one of n events uses it."""
    filtered, stuck, first = looks
    if isinstance(max_cases, int):  # a pool that no case can split uses so many
        stuck = stuck * min(1.0, max_cases / n_cases)
    stays = filtered * (len(first) / n_cases)
    each = np.minimum(1.0, stuck[:, None] + stays[:, None] * first)
    with np.errstate(divide="ignore"):
        return float(-np.expm1(n * np.log1p(-each)).mean())


def _advice(share: float, n_individuals: int, n_cases: int, n: int) -> Advice:
    mode: Literal["partial", "full matrix"] = "partial" if share <= WORTH_IT else "full matrix"
    do = "evaluate on demand (FastLexicase)" if mode == "partial" else "evaluate everything, then select"
    need = f"{n} selection{'s' if n > 1 else ''} from {n_individuals} individuals need{'' if n > 1 else 's'}"
    percent = f"{100 * share:.2g}" if share < 0.1 else f"{100 * share:.0f}"
    return Advice(share, mode, f"{need} about {percent} % of the {n_individuals * n_cases:,} pairs: {do}.")
