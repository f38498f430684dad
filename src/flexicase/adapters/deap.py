"""Selectors in DEAP's call shape: ``toolbox.register("select", selLexicase)``.

DEAP is not imported: an individual is anything with a ``fitness`` that has ``wvalues``, and ``weights`` where they are
not all 1 or -1. Selectors return the individuals themselves, not copies. Each call draws one seed from Python's
`random` module, as DEAP does, so ``random.seed(...)`` repeats a run; ``seed=`` replaces it.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_function, per_case, shown
from flexicase.adapters._common import check_solved
from flexicase.rng import Seed, check_seed
from flexicase.selection.epsilon import Epsilon
from flexicase.selection.fast_lexicase import FastLexicase
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.matrix import NanPolicy
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method
from flexicase.selection.select import MAX_EVENTS, select_indices

__all__ = ["selAutomaticEpsilonLexicase", "selEpsilonLexicase", "selFastLexicase", "selLexicase"]

Individual = TypeVar("Individual")


def selLexicase(
    individuals: Sequence[Individual],
    k: int,
    method: str | Method = "lexicase",
    *,
    solved: ArrayLike = 0.0,
    seed: Seed = None,
    threads: int = 1,
    nan: NanPolicy = "raise",
) -> list[Individual]:
    """Select ``k`` individuals by lexicase selection or any other method, with replacement.

    Biases such as Num-Zeros count the individuals that solve a case: those whose fitness value on it is ``solved``.
    That is 0 for errors that are minimised. When scores are maximised, set ``solved`` to the score of a solved case, or
    the two biases change places.

    Args:
        individuals: Individuals whose fitness has one value per case. Cases of positive weight are maximised, cases of
            negative weight minimised.
        k: Number of parents.
        method: A method's name (`flexicase.methods` lists them) or object.
        solved: The fitness value, before weighting, of a solved case: one for all or one per case.
        seed: As for `flexicase.select`; None draws one from `random`.
        threads: Number of threads; the outcome does not depend on it.
        nan: ``"raise"`` refuses a NaN fitness value, ``"worst"`` counts it as the worst.

    Example:
        >>> from types import SimpleNamespace as Some
        >>> from flexicase.adapters.deap import selLexicase
        >>> best = Some(fitness=Some(wvalues=(0.0, -1.0)))
        >>> worse = Some(fitness=Some(wvalues=(-2.0, -3.0)))
        >>> [chosen is best for chosen in selLexicase([worse, best], k=3)]
        [True, True, True]
    """
    k = check_count(k, "k", 0, MAX_EVENTS)
    _check_sequence(individuals)
    resolved = resolve_method(method)
    if not k:
        return []
    errors = errors_of(individuals, solved)
    chosen = select_indices(errors, k, resolved, seed=_seed(seed), threads=threads, nan=nan)
    return [individuals[i] for i in chosen]


def selEpsilonLexicase(
    individuals: Sequence[Individual],
    k: int,
    epsilon: Epsilon,
    *,
    seed: Seed = None,
    threads: int = 1,
    nan: NanPolicy = "raise",
) -> list[Individual]:
    """Select ``k`` individuals by lexicase selection that keeps all within ``epsilon`` of the pool's best.

    ``epsilon`` is a number, or one per case, in fitness values before weighting.

    Example:
        >>> from types import SimpleNamespace as Some
        >>> from flexicase.adapters.deap import selEpsilonLexicase
        >>> a, b, c = (Some(name=n, fitness=Some(wvalues=(v,))) for n, v in [("a", 0.0), ("b", -0.1), ("c", -2.0)])
        >>> sorted({chosen.name for chosen in selEpsilonLexicase([a, b, c], 50, epsilon=0.5, seed=1)})
        ['a', 'b']
    """
    return selLexicase(individuals, k, Lexicase(epsilon=epsilon), seed=seed, threads=threads, nan=nan)


def selAutomaticEpsilonLexicase(
    individuals: Sequence[Individual], k: int, *, seed: Seed = None, threads: int = 1, nan: NanPolicy = "raise"
) -> list[Individual]:
    """Select ``k`` individuals by epsilon-lexicase; epsilon is the median absolute deviation of the pool at every case.

    DEAP defines it so; `flexicase.MadEpsilon` calls it ``"dynamic"``.
    """
    return selLexicase(individuals, k, "epsilon-lexicase-dynamic", seed=seed, threads=threads, nan=nan)


def selFastLexicase(
    individuals: Sequence[Individual],
    k: int,
    evaluate: Callable[[Individual, NDArray[np.int64]], ArrayLike],
    n_cases: int | None = None,
    method: str | Method = "weighted-num-nonzeros",
    *,
    fast: FastLexicase | None = None,
    mapping: Callable[..., Iterable[Any]] = map,
    seed: Seed = None,
) -> list[Individual]:
    """Select ``k`` individuals, evaluating only the pairs that selection uses.

    The individuals need no fitness. Every call is a generation of its own: it uses no error of an earlier call, only
    the case weights that ``fast`` has learnt.

    Args:
        individuals: Anything that ``evaluate`` understands.
        k: Number of parents.
        evaluate: ``evaluate(individual, cases)`` gives the (b,) errors on (b,) int64 cases, lower is better.
        n_cases: Number of cases, for a new `flexicase.FastLexicase`.
        method: The method of the new one.
        fast: A `flexicase.FastLexicase` to use instead of a new one; it keeps its weights from call to call.
        mapping: Applies a function to individuals, as `map` does, and ``toolbox.map`` perhaps in parallel.
        seed: As for `selLexicase`.

    Example:
        >>> import numpy as np
        >>> from flexicase.adapters.deap import selFastLexicase
        >>> def evaluate(individual, cases):
        ...     return np.abs(individual - cases)
        >>> len(selFastLexicase([0, 1, 2, 3], 5, evaluate, n_cases=4, seed=1))
        5
    """
    if (n_cases is None) == (fast is None):
        raise TypeError(f"pass either n_cases or fast, got n_cases={shown(n_cases)} and fast={shown(fast)}")
    k = check_count(k, "k", 0, MAX_EVENTS)
    _check_sequence(individuals)
    check_function(evaluate, "evaluate", 2)
    check_function(mapping, "mapping", 2)
    if not (fast is None or isinstance(fast, FastLexicase)):
        raise TypeError(f"fast must be a FastLexicase, got {shown(fast)}")
    if not k:
        return []
    if fast is None:
        fast = FastLexicase(n_cases, method)  # type: ignore[arg-type]

    def errors(rows: NDArray[np.int64], cases: NDArray[np.int64]) -> list[Any]:
        return list(mapping(_OnCases(evaluate, cases), [individuals[row] for row in rows]))

    chosen = fast.select(errors, len(individuals), k, seed=_seed(seed)).indices
    fast.clear_cache()
    return [individuals[i] for i in chosen]


@dataclass(frozen=True, slots=True)
class _OnCases:
    """``evaluate`` with its cases, as a function of one argument that a process pool can send."""

    evaluate: Callable[..., Any]
    cases: NDArray[np.int64]

    def __call__(self, individual: Any) -> Any:
        return self.evaluate(individual, self.cases)


def _seed(seed: Seed) -> Seed:
    return random.getrandbits(64) if seed is None else check_seed(seed)


def errors_of(individuals: Sequence[Any], solved: ArrayLike = 0.0) -> NDArray[np.float64]:
    """(n_individuals, n_cases) errors of evaluated individuals: how far each fitness value is from ``solved``.

    On a case of weight 0 every individual has error 0.

    >>> from types import SimpleNamespace as Some
    >>> fitness = Some(weights=(-1.0, 2.0), wvalues=(-3.0, 2.0))  # 3 to minimise, 1 to maximise
    >>> errors_of([Some(fitness=fitness)]).tolist()
    [[3.0, -1.0]]
    """
    _check_sequence(individuals)
    if not len(individuals):
        raise ValueError("individuals must not be empty")
    try:
        rows = [individual.fitness.wvalues for individual in individuals]
        n_cases = len(rows[0])
        uneven = not n_cases or any(len(row) != n_cases for row in rows)
    except Exception:
        raise TypeError(
            f"individuals must have a fitness with wvalues, one per case, got {shown(individuals)}"
        ) from None
    if uneven:
        _refuse(rows)
    try:
        weighted = np.fromiter(itertools.chain.from_iterable(rows), np.float64, len(rows) * n_cases)
    except Exception:
        raise TypeError(f"individuals must have numbers as wvalues, got {shown(rows)}") from None
    weighted = weighted.reshape(len(rows), n_cases)
    given = getattr(individuals[0].fitness, "weights", None)
    weights = np.ones(n_cases) if given is None else per_case(given, n_cases, "weights of the individuals' fitness")
    if not np.isin(weights, (-1.0, 1.0)).all():
        weighted /= np.where(weights == 0, 1.0, np.abs(weights))
    return check_solved(solved, n_cases) * np.sign(weights) - weighted + 0.0  # no error is -0.0


def _check_sequence(individuals: Any) -> None:
    if isinstance(individuals, str | bytes | bytearray | dict | type) or not (
        hasattr(individuals, "__getitem__") and hasattr(individuals, "__len__")
    ):
        raise TypeError(f"individuals must be a sequence, got {shown(individuals)}")
    try:
        len(individuals)
    except Exception:
        raise TypeError(f"individuals must be a sequence with a length, got {shown(individuals)}") from None


def _refuse(rows: list[Sequence[float]]) -> None:
    for position, row in enumerate(rows):
        if not len(row):
            raise ValueError(
                f"individuals must all have been evaluated, but the fitness of individual {position} is not valid "
                "(it has no values)"
            )
    position = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
    raise ValueError(
        f"individuals must all have as many fitness values as the first, {len(rows[0])}, "
        f"but individual {position} has {len(rows[position])}"
    )
