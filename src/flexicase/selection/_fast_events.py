"""What a run of Fast Lexicase events needs: its settings, from a method, and the native runner."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import MAX_COUNT, check_count, check_number, per_case, shown
from flexicase._native import FastRun
from flexicase.evaluation._cache import ErrorCache
from flexicase.evaluation._lookahead import MAX_CASES, BlockSizer, Growing, LookAhead, PairBudget
from flexicase.evaluation._pipelined import PipelinedEvaluator
from flexicase.evaluation._protocol import CaseEvaluator
from flexicase.rng import Key
from flexicase.selection._reference import MaxCases
from flexicase.selection.epsilon import MadEpsilon, median_absolute_deviation
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.matrix import SOLVED_NEEDED, check_solved, distance_above
from flexicase.selection.methods import methods, resolve_method
from flexicase.selection.orders import OrderKind, Uniform
from flexicase.selection.protocol import Backend, Method, resolve_backend
from flexicase.selection.weights import CaseWeights, check_upper_bound, is_explicit

NATIVE_BIASES = {"num_nonzeros": 0, "num_zeros": 1, "split": 2}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EventSettings:
    """What all events of a selector share; ``epsilon`` is (n_cases,) or None, ``mad`` takes it from the pool.

    ``max_cases`` is as for `Lexicase`. An evaluator's answers are scores if ``maximize``. ``solved`` is (n_cases,) the
    largest error that counts as solved, of scores their negative; None: an error of exactly 0.
    """

    order: OrderKind
    epsilon: NDArray[np.float64] | None
    mad: bool
    lookahead: LookAhead
    block_bytes: int
    stop_on_all_fail: bool
    max_cases: MaxCases = None
    maximize: bool = False
    solved: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        computes = self.stop_on_all_fail or self.order != OrderKind.UNIFORM
        if self.maximize and self.solved is None and computes:
            raise ValueError(SOLVED_NEEDED)

    def as_errors(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert an evaluator's answers to errors; NaN stays NaN."""
        return 0.0 - answers if self.maximize else answers

    def above_solved(self, case: int, errors: NDArray[np.float64]) -> NDArray[np.float64]:
        """(pool,) how far the errors on a case are above what counts as solved."""
        return errors if self.solved is None else distance_above(self.solved[case], errors)

    def epsilon_for(self, case: int, errors: NDArray[np.float64]) -> float | None:
        """How much worse than the best a survivor may be, given the (pool,) errors on a case."""
        if self.mad:
            return median_absolute_deviation(errors)
        return None if self.epsilon is None else float(self.epsilon[case])

    def possible_survivors(self, case: int, answers: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(pool,) candidates that may survive a case, given their answers on it, NaN where unknown."""
        errors = self.as_errors(answers)
        epsilon = math.inf if self.mad else 0.0 if self.epsilon is None else float(self.epsilon[case])
        return ~(errors > float(np.fmin.reduce(errors)) + epsilon)


class CallOptions(NamedTuple):
    """What a call knows and allows; ``known`` is NaN where unknown, ``first`` is from `first_of_each`."""

    known: NDArray[np.float64] | None
    budget: PairBudget | None
    first: NDArray[np.int64] | None

    def obstacle(self, evaluate: CaseEvaluator) -> str | None:
        """What the native backend does not support, or None."""
        if isinstance(evaluate, PipelinedEvaluator):
            kind = type(evaluate).__name__
            for name, value in (("budget", self.budget), ("same_as", self.first)):
                if value is not None:
                    raise ValueError(f"{name} must be None with a {kind}, which computes pairs ahead as time allows")
            return f"a {kind}"
        return "a budget" if self.budget is not None else "same_as" if self.first is not None else None


def first_of_each(same_as: Any, n_individuals: int) -> NDArray[np.int64]:
    """(n_individuals,) the first individual with the same label."""
    if isinstance(same_as, str | bytes):
        raise TypeError(f"same_as must be a sequence of labels, not a string, got {shown(same_as)}")
    try:
        labels = list(same_as)
        first = dict(reversed([(label, i) for i, label in enumerate(labels)]))
    except TypeError:
        raise TypeError(f"same_as must be a sequence of hashable labels, got {shown(same_as)}") from None
    if len(labels) != n_individuals:
        raise ValueError(f"same_as must have one label per individual: expected {n_individuals}, got {len(labels)}")
    return np.array([first[label] for label in labels], dtype=np.int64)


def choose_backend(asked: Backend | None, obstacle: str | None) -> Backend:
    """The backend asked for; if none was, one that works despite the obstacle."""
    wanted = resolve_backend(asked)
    if obstacle is None or wanted == "reference":
        return wanted
    if asked is not None:
        raise ValueError(
            f'backend must be "reference" or None with {obstacle}, which the native back end does not support, '
            'got "native"'
        )
    return "reference"


class EventBatch(NamedTuple):
    """Some events and what they share; they fill ``counts``, (6, n) as for `FastSelection`, and ``ended``, (n,)."""

    settings: EventSettings
    weights: CaseWeights
    cache: ErrorCache
    evaluate: CaseEvaluator
    budget: PairBudget | None
    key: Key
    first: int
    counts: NDArray[np.int64]
    ended: NDArray[np.uint8]


def native_runner(settings: EventSettings, weights: CaseWeights) -> FastRun:
    """The native runner of a selector's events; it keeps its working memory from call to call."""
    assert isinstance(weights.bias, str)
    lookahead = settings.lookahead
    if isinstance(lookahead, int):
        code, min_cases = min(lookahead, MAX_CASES), 1
    else:
        growing = Growing() if lookahead == "auto" else lookahead
        code, min_cases = -1 if growing.delayed else 0, growing.min_cases
    n_cases, max_cases = len(weights.values), settings.max_cases
    return FastRun(
        n_cases,
        settings.order,
        NATIVE_BIASES[weights.bias],
        weights.w_min,
        settings.epsilon,
        settings.mad,
        settings.solved,
        settings.maximize,
        code,
        min_cases,
        BlockSizer(lookahead, settings.block_bytes).max_pairs,
        max_cases if isinstance(max_cases, int) else n_cases,
        max_cases == "random",
    )


def partial_method(method: str | Method) -> Lexicase:
    """The lexicase method by this name; refuses one that needs more than partial evaluation can know."""
    found = resolve_method(method)
    obstacle = _obstacle(found)
    if obstacle is None:
        assert isinstance(found, Lexicase)
        return found
    works = ", ".join(name for name in methods() if _obstacle(resolve_method(name)) is None)
    raise ValueError(
        f"method must be a lexicase method with only order, epsilon and max_cases under partial evaluation, "
        f"got {shown(method)}, {obstacle}; these work: {works}, and Lexicase(order=…, epsilon=…, max_cases=…)"
    )


def _obstacle(method: Method) -> str | None:
    """What partial evaluation cannot know or do, or None."""
    if not isinstance(method, Lexicase):
        return "which uses all cases at once"
    for name, plain in (("sampling", None), ("batch_size", 1), ("slippage", 0.0), ("elitism", 0)):
        if getattr(method, name) != plain:
            return f"which has {name}={getattr(method, name)!r}"
    if not isinstance(method.order, Uniform) and is_explicit(method.order.bias):
        return "which has explicit weights instead of a bias to learn from"
    if isinstance(method.epsilon, MadEpsilon) and method.epsilon.mode != "dynamic":
        return f'whose epsilon is {method.epsilon.mode} and needs all errors (use epsilon="mad-dynamic")'
    return None


def largest_solved_error(solved: Any, n_cases: int, maximize: bool) -> NDArray[np.float64] | None:
    """(n_cases,) the largest error that counts as solved, from a number or one per case; None if it is 0 alone."""
    if solved is None:
        return None
    limit = check_solved(solved, n_cases)
    return 0.0 - limit if maximize else limit


def recorded_settings(settings: EventSettings, weights: CaseWeights) -> dict[str, Any]:
    """What a state records of the selector, as plain values."""
    bias, epsilon = weights.bias, settings.epsilon
    recorded = {
        "n_cases": len(weights.values),
        "order": settings.order.name.lower(),
        "bias": bias if isinstance(bias, str) else f"callable {getattr(bias, '__qualname__', type(bias).__name__)}",
        "default_weight": weights.default_weight,
        "w_min": weights.w_min,
        "w_max": None if weights.follows_population else weights.w_max,
        "epsilon": "mad-dynamic" if settings.mad else None if epsilon is None else epsilon.tolist(),
        "stop_on_all_fail": settings.stop_on_all_fail,
    }
    solved = None if settings.solved is None else settings.solved.tolist()
    later = {"max_cases": settings.max_cases, "maximize": settings.maximize or None, "solved": solved}
    return recorded | {name: value for name, value in later.items() if value is not None}


def check_state(
    state: Any, settings: dict[str, Any], weights: CaseWeights
) -> tuple[NDArray[np.float64], float | None, Key, int]:
    """Weights, largest weight, key and next event of a `FastLexicase.state_dict` with these settings."""
    if not isinstance(state, dict) or not isinstance(state.get("settings", {}), dict):
        raise TypeError(f"state must be what state_dict returned, with a dict of settings, got {shown(state)}")
    missing = [name for name in ("settings", "weights", "w_max", "key", "next_event") if name not in state]
    if missing:
        raise ValueError(f"state must be what state_dict returned, but has no {', '.join(map(repr, missing))}")
    for name in settings | state["settings"]:
        found, value = state["settings"].get(name), settings.get(name)
        if type(found) is not type(value) or found != value:
            raise ValueError(
                f"state has settings of a selector with {name}={shown(found)}, this one has {name}={shown(value)}"
            )
    n_cases = len(weights.values)
    values = per_case(state["weights"], n_cases, "weights in state")
    w_max = None if state["w_max"] is None else check_number(state["w_max"], "w_max in state")
    if w_max is not None:
        check_upper_bound(w_max, weights.w_min, n_cases)
    if not ((values >= weights.w_min) & (values <= (np.inf if w_max is None else w_max))).all():
        raise ValueError("weights in state must lie between w_min and w_max")
    key = state["key"]
    if not (isinstance(key, list | tuple) and len(key) == 2):
        raise TypeError(f"key in state must be two integers, got {shown(key)}")
    k0, k1 = (check_count(word, "key in state", 0, 2**64 - 1) for word in key)
    return values, w_max, Key(k0, k1), check_count(state["next_event"], "next_event in state", 0, MAX_COUNT // 2)
