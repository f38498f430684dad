"""Valid calls of every public entry point of selection, whose arguments a fuzzer replaces one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import flexicase as fx
from flexicase import data, evaluation, plot, push
from flexicase.adapters import deap, geneticengine, gepa, leap_ec, pygad, pymoo
from flexicase.evaluation import _lookahead as lookahead
from flexicase.selection import methods as registry
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.verify import read_battery
from simulated_cluster import SimulatedCluster

ERRORS = np.array([[0, 1, 2], [1, 0, 2], [2, 2, 0], [1, 1, 1]])


class Call(NamedTuple):
    """A call that succeeds.

    Attributes:
        name: What is called.
        function: Takes the arguments by name.
        arguments: Valid values.
    """

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]


def _evaluate(individuals: Any, cases: Any) -> Any:
    return ERRORS[np.ix_(individuals, cases)]


def _use(make: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method and select with it by both back ends; ask for its probabilities."""

    def use(**arguments: Any) -> None:
        method = make(**arguments)
        fx.select(ERRORS, 3, method, seed=1)
        fx.select(ERRORS, 3, method, seed=1, backend="reference")
        if isinstance(method, fx.Lexicase):
            fx.trace(ERRORS, 3, method, seed=1)
        if not (isinstance(method, fx.Lexicase) and method.sampling is not None) and not isinstance(method, fx.DALex):
            fx.probabilities(ERRORS, method)

    return use


def _register(name: Any, method: Any) -> None:
    known = dict(registry._METHODS)
    try:
        fx.register(name, method)
    finally:
        registry._METHODS.clear()
        registry._METHODS.update(known)


def _population() -> list[Any]:
    return [SimpleNamespace(fitness=SimpleNamespace(wvalues=tuple(-row), weights=(-1.0,) * 3)) for row in ERRORS]


def _fast(backend: str) -> Callable[..., Any]:
    def fast(**arguments: Any) -> None:
        selector = fx.FastLexicase(**{"n_cases": 3, "seed": 1, "backend": backend} | arguments)
        selector.select(_evaluate, 4, 2)
        selector.load_state_dict(selector.state_dict())

    return fast


def _fast_select(backend: str) -> Callable[..., Any]:
    def select(**arguments: Any) -> None:
        fast = fx.FastLexicase(3, seed=1, backend=backend)
        for _ in range(2):
            fast.select(**arguments)

    return select


def _state(**changes: Any) -> None:
    fast = fx.FastLexicase(3, seed=1)
    fast.select(_evaluate, 4, 2)
    fast.load_state_dict(fast.state_dict() | changes)
    fast.select(_evaluate, 4, 2)


def _set_lookahead(lookahead: Any) -> None:
    fast = fx.FastLexicase(3, seed=1)
    fast.lookahead = lookahead
    fast.select(_evaluate, 4)


def _returning(backend: str) -> Callable[..., Any]:
    """Selection with an evaluator that returns a hostile value."""
    return lambda evaluator: fx.FastLexicase(3, seed=1, lookahead=3, backend=backend).select(lambda i, c: evaluator, 4)


def _in_cells(backend: str) -> Callable[..., Any]:
    def select(evaluator: Any) -> None:
        fast = fx.FastLexicase(3, seed=1, lookahead=3, backend=backend)
        fast.select(lambda i, c: [[evaluator] * len(c)] * len(i), 4)

    return select


def _evaluator(kind: Callable[..., Any]) -> Callable[..., Any]:
    def use(*, individuals: Any, cases: Any, **arguments: Any) -> None:
        with kind(**arguments) as evaluate:
            evaluate(individuals, cases)

    return use


async def _rollout(individual: int, case: int) -> float:
    return 0.0


def _cluster(**arguments: Any) -> None:
    cluster = SimulatedCluster(**arguments)
    fx.FastLexicase(3, seed=1).select(cluster, 4)


def _picture(draw: Callable[..., Any]) -> Callable[..., Any]:
    def use(**arguments: Any) -> None:
        from matplotlib import pyplot

        try:
            draw(**arguments)
        finally:
            pyplot.close("all")

    return use


def _methods() -> Iterator[Call]:
    lexicase = {
        "order": fx.Weighted(),
        "epsilon": 0.5,
        "sampling": None,
        "batch_size": 1,
        "max_cases": 3,
        "slippage": 0.1,
        "elitism": 1,
    }
    yield Call("Lexicase", _use(fx.Lexicase), lexicase)
    yield Call("Weighted", _use(lambda bias: fx.Lexicase(order=fx.Weighted(bias))), {"bias": "average"})
    yield Call("Ranked", _use(lambda bias: fx.Lexicase(order=fx.Ranked(bias))), {"bias": [1, 2, 3]})
    yield Call("bias returns", _use(lambda bias: fx.Lexicase(order=fx.Ranked(lambda s: bias))), {"bias": [1, 2, 3]})
    yield Call("Mad", _use(lambda mode: fx.Lexicase(epsilon=fx.MadEpsilon(mode))), {"mode": "static"})
    sample = {"size": 0.5, "kind": "random", "per": "event"}
    yield Call("DownSample", _use(lambda **a: fx.Lexicase(sampling=fx.DownSample(**a))), sample)
    informed = {"size": 0.5, "parent_rate": 2}
    yield Call("InformedDownSample", _use(lambda **a: fx.Lexicase(sampling=fx.InformedDownSample(**a))), informed)
    yield Call("Cohorts", _use(lambda n_cohorts: fx.Lexicase(sampling=fx.Cohorts(n_cohorts))), {"n_cohorts": 2})
    yield Call("Tournament", _use(fx.Tournament), {"size": 2})
    yield Call("BatchTournament", _use(fx.BatchTournament), {"size": 2, "batch_size": 2})
    yield Call("Plexicase", _use(fx.Plexicase), {"alpha": 1.0})
    yield Call("DALex", _use(fx.DALex), {"std": 2.0})


def _selection() -> Iterator[Call]:
    yield from _methods()
    options = {"seed": 1, "nan": "raise"}
    select = {"errors": ERRORS, "n": 3, "method": "lexicase", **options}
    for method in ("lexicase", "tournament", "dalex", "plexicase", "fitness-proportionate", "cohort-lexicase"):
        yield Call(f"select {method}", fx.select, select | {"method": method, "threads": 2})
    yield Call("select backend", fx.select, select | {"backend": "reference"})
    yield Call("select epsilon", fx.select, select | {"method": "epsilon-lexicase"})
    scores = {"method": "ranked-average", "maximize": True, "solved": 3.0, "replace": False}
    yield Call("select scores", fx.select, select | scores)
    yield Call("Selector", fx.Selector, {"errors": ERRORS, "method": "dalex", **options, "backend": "native"})
    draw = {"n": 2, "threads": 1}
    yield Call("Selector.draw", lambda **a: fx.Selector(ERRORS, seed=1).draw(**a), draw)
    yield Call("Selector.draw_indices", lambda **a: fx.Selector(ERRORS, seed=1).draw_indices(**a), draw)
    yield Call("select_indices", fx.select_indices, select | {"threads": 2})
    yield Call("trace", fx.trace, select)
    yield Call("mean_pool", lambda **a: fx.trace(ERRORS, n=2, seed=1).mean_pool(**a), {"distinct": False})
    exact = {"errors": ERRORS, "method": "lexicase", "nan": "raise", "max_states": 1000}
    yield Call("probabilities", fx.probabilities, exact)
    estimate = {"errors": ERRORS, "method": "down-sampled-lexicase", "n_draws": 3, "seed": 1, "threads": 1}
    yield Call("estimate_probabilities sampling", fx.estimate_probabilities, estimate)
    yield Call("estimate_probabilities", fx.estimate_probabilities, estimate | {"method": "lexicase", "nan": "raise"})
    draws = {name: fx.select_indices(rows, 100, seed=1) for name, rows in read_battery()["matrices"].items()}
    yield Call("verify_draws", fx.verify_draws, {"draws": draws, "method": "lexicase"})
    verify = {"select": lambda errors, n, rng: np.zeros(n, int), "method": "lexicase", "seed": 1, "n_draws": 100}
    yield Call("verify", fx.verify, verify)
    yield Call("register", _register, {"name": "hostile", "method": fx.Lexicase()})
    advise = {"n_individuals": 4, "n_cases": 3, "n": 2, "errors": ERRORS, "method": "ranked-split"}
    yield Call("advise", fx.advise, advise | {"default_weight": "min", "seed": 1, "known": 0.5, "same_as": True})
    start = {"stacks": {"integer": [1, 2]}, "inputs": [1]}
    execute = {**start, "limits": push.Limits()}
    yield Call("push.execute", lambda **a: push.execute("integer_add", **a), execute)
    yield Call("push.run", push.run, start | {"program": "(in1 integer_add)"})
    yield Call("advise without errors", fx.advise, {"n_individuals": 4, "n_cases": 3, "n": 2, "seed": 1})


def _partial() -> Iterator[Call]:
    method = fx.Lexicase(order=fx.Ranked("split"), epsilon=0.1)
    fast = {"n_cases": 3, "method": method, "default_weight": "min", "w_min": 0.5, "w_max": 9.0}
    fast |= {
        "stop_on_all_fail": False,
        "lookahead": 2,
        "cache_bytes": 10_000,
        "seed": 1,
        "maximize": True,
        "solved": 1.0,
    }
    run = {
        "evaluate": _evaluate,
        "n_individuals": 4,
        "n": 2,
        "seed": 1,
        "cache_key": 0,
        "known": None,
        "budget": None,
        "same_as": None,
    }
    for backend in ("native", "reference"):
        yield Call(f"FastLexicase {backend}", _fast(backend), fast)
        yield Call(f"FastLexicase.select {backend}", _fast_select(backend), run)
        yield Call(f"evaluator returns {backend}", _returning(backend), {"evaluator": ERRORS})
        yield Call(f"evaluator returns cells {backend}", _in_cells(backend), {"evaluator": 1})
    state = fx.FastLexicase(3, seed=1).state_dict()
    yield Call("load_state_dict", lambda state: fx.FastLexicase(3).load_state_dict(state), {"state": state})
    yield Call("load_state_dict entries", _state, state)
    yield Call("lookahead", _set_lookahead, {"lookahead": 2})
    yield Call("Growing", lambda min_cases: _set_lookahead(lookahead.Growing(min_cases)), {"min_cases": 2})
    asked = {"individuals": [0, 1], "cases": [0]}
    yield Call("PairEvaluator", _evaluator(evaluation.PairEvaluator), {"function": lambda i, c: 0, **asked})
    rollouts = {"function": _rollout, "concurrency": 2, **asked}
    yield Call("AsyncEvaluator", _evaluator(evaluation.AsyncEvaluator), rollouts)
    threads = {"function": _evaluate, "workers": 2, **asked}
    yield Call("ThreadEvaluator", _evaluator(evaluation.ThreadEvaluator), threads)
    yield Call("ProcessEvaluator", evaluation.ProcessEvaluator, {"function": np.subtract.outer, "workers": 1})
    cluster = {"evaluate": _evaluate, "workers": 2, "pair_seconds": 1.0, "piece_seconds": 0.1, "send_seconds": 0.1}
    yield Call("SimulatedCluster", _cluster, cluster)
    ray = {
        "function": lambda *asked: _evaluate(*asked[-2:]),
        "population": None,
        "workers": 1,
        "address": None,
        "attempts": 3,
        "options": None,
    }
    if find_spec("ray"):
        yield Call("RayEvaluator", evaluation.RayEvaluator, ray)
    made = {"n_individuals": 4, "n_cases": 3, "copies": 0.5, "seed": 1}
    yield Call("SyntheticPopulation", data.SyntheticPopulation, made)
    yield Call("SyntheticPopulation()", data.SyntheticPopulation(4, 3), asked)
    asked = {"problem": "none", "individuals": [0], "cases": [0]}
    yield Call("EvaluationError", fx.EvaluationError, asked)


def _deap() -> Iterator[Call]:
    call = {"individuals": _population(), "k": 2, "seed": 1, "threads": 1, "nan": "raise"}
    yield Call("selLexicase", deap.selLexicase, call | {"method": "ranked-num-zeros", "solved": 0.0})
    yield Call("selEpsilonLexicase", deap.selEpsilonLexicase, call | {"epsilon": 0.1})
    yield Call("selAutomaticEpsilonLexicase", deap.selAutomaticEpsilonLexicase, call)
    fast = {"individuals": [0, 1, 2], "k": 2, "evaluate": lambda i, c: np.zeros(len(c)), "n_cases": 3, "seed": 1}
    yield Call("selFastLexicase", deap.selFastLexicase, fast | {"mapping": map, "method": "lexicase"})
    kept = {"individuals": [0, 1, 2], "k": 2, "evaluate": lambda i, c: np.zeros(len(c)), "fast": fx.FastLexicase(3)}
    yield Call("selFastLexicase fast", deap.selFastLexicase, kept)
    yield Call("errors_of", deap.errors_of, {"individuals": _population(), "solved": 0.0})
    yield Call("fitness", _fitness, {"individuals": (1.0,), "weights": (-1.0,)})


def _other_hosts() -> Iterator[Call]:
    given = {"method": "lexicase", "solved": 0.0, "nan": "worst"}
    yield Call("LexicaseCandidateSelector", gepa.LexicaseCandidateSelector, given | {"seed": 1})
    yield Call("LexicaseSelection", pymoo.LexicaseSelection, given | {"key": "F", "threads": 1})
    yield Call("LexicaseStep", geneticengine.LexicaseStep, given | {"threads": 1})
    leap = {"population": [SimpleNamespace(problem=SimpleNamespace(maximize=True), fitness=[1.0, 2.0])]}
    yield Call("lexicase_selection", leap_ec.lexicase_selection, given | leap | {"threads": 1})
    yield Call("lexicase_parents", pygad.lexicase_parents, given | {"scores": len, "threads": 1})
    state = SimpleNamespace(i=0, prog_candidate_val_subscores=[{0: 1.0}])
    yield Call("select_candidate_idx", gepa.LexicaseCandidateSelector().select_candidate_idx, {"state": state})
    population = {"F": np.zeros((2, 2)), "feas": np.ones(2, bool)}
    mating = {"pop": population, "n_select": 2, "n_parents": 2}
    yield Call("LexicaseSelection.do", _mating, mating)
    generator = SimpleNamespace(population=np.zeros((2, 1)), numpy_random_generator=np.random.default_rng(1))
    yield Call(
        "lexicase_parents()", pygad.lexicase_parents(), {"fitness": [[1], [2]], "num_parents": 2, "ga": generator}
    )


def _mating(pop: Any, n_select: Any, n_parents: Any) -> None:
    pymoo.LexicaseSelection().do(None, pop, n_select, n_parents, to_pop=False)


def _fitness(individuals: Any, weights: Any) -> None:
    deap.errors_of([SimpleNamespace(fitness=SimpleNamespace(wvalues=individuals, weights=weights))])


def _pictures() -> Iterator[Call]:
    funnel = {"errors": ERRORS, "methods": ["lexicase"], "n": 3, "seed": 1, "ax": None, "log": True, "distinct": False}
    yield Call("funnel", _picture(plot.funnel), funnel | {"maximize": False, "solved": 1.0})
    weights = {"errors": ERRORS, "method": "weighted-num-zeros", "ax": None, "sort": True}
    yield Call("case_weights", _picture(plot.case_weights), weights | {"maximize": True, "solved": 1.0})
    selections = {"selections": {"a": fx.select(ERRORS, 3, seed=1)}, "ax": None, "distinct": False}
    yield Call("evaluations", _picture(plot.evaluations), selections)
    each = _picture(lambda selections: plot.evaluations({"a": selections}))
    yield Call("evaluations of", each, {"selections": fx.select(ERRORS, seed=1)})


def _readers() -> Iterator[Call]:
    yield Call("ErrorMatrix.from_array", ErrorMatrix.from_array, {"errors": ERRORS, "nan": "worst"})


def calls() -> list[Call]:
    """Every call."""
    pictures = _pictures() if find_spec("matplotlib") else ()
    return [*_selection(), *_partial(), *_deap(), *_other_hosts(), *pictures, *_readers()]
