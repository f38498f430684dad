"""Fast Lexicase when an evaluator, a bias or the caller is wrong: a clear error, and nothing has happened."""

from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from tests.selection.recording import Evaluator, method_of, outcome


class Failing(Evaluator):
    """Works for a number of calls, and then does something else."""

    def __init__(self, errors, calls: int, failure) -> None:
        super().__init__(errors)
        self.calls, self.failure = calls, failure

    def __call__(self, individuals, cases):
        if len(self.asked) == self.calls:
            return self.failure(individuals, cases)
        return super().__call__(individuals, cases)


def interrupt(individuals, cases):
    raise KeyboardInterrupt("stop")


def zero_division(individuals, cases):
    return 1 / 0


FAILURES = {
    "raises": (zero_division, fx.EvaluationError, "the evaluator raised ZeroDivisionError: division by zero"),
    "shape": (
        lambda i, c: np.zeros((len(i) + 1, len(c))),
        fx.EvaluationError,
        r"must have shape \(\d+, \d+\), got \(\d+, \d+\)",
    ),
    "nan": (lambda i, c: np.full((len(i), len(c)), np.nan), fx.EvaluationError, r"individual \d+, case \d+ has nan"),
    "text": (lambda i, c: [["a"] * len(c)] * len(i), fx.EvaluationError, "must be real numbers, got dtype <U1"),
    "none": (lambda i, c: None, fx.EvaluationError, "must be real numbers, got None"),
    "ragged": (lambda i, c: [[1], [1, 2]], fx.EvaluationError, "must be an array with rows of equal length"),
    "-inf": (
        lambda i, c: np.full((len(i), len(c)), -np.inf),
        fx.EvaluationError,
        r"above -inf, but individual \d+, case \d+ has -inf",
    ),
    "masked": (
        lambda i, c: np.ma.masked_all((len(i), len(c))),
        fx.EvaluationError,
        r"above -inf, but individual \d+, case \d+ has nan",
    ),
    "masked rows": (
        lambda i, c: [np.ma.masked_array(np.zeros(len(c)), mask=True)] * len(i),
        fx.EvaluationError,
        r"above -inf, but individual \d+, case \d+ has nan",
    ),
    "object text": (
        lambda i, c: np.full((len(i), len(c)), "7", dtype=object),
        fx.EvaluationError,
        r"must be real numbers, but entry \[0, 0\] is '7'",
    ),
    "smallest": (
        lambda i, c: np.full((len(i), len(c)), -(2**63)),
        fx.EvaluationError,
        r"integers beyond 2\*\*53, found 9223372036854775808",
    ),
    "large": (lambda i, c: np.full((len(i), len(c)), 2**60), fx.EvaluationError, r"integers beyond 2\*\*53"),
    "complex": (
        lambda i, c: np.full((len(i), len(c)), 1j),
        fx.EvaluationError,
        "numbers, got dtype complex128",
    ),
    "ctrl-c": (interrupt, KeyboardInterrupt, "^stop$"),
}


@pytest.mark.parametrize("memory", [2**20, 30_000])
@pytest.mark.parametrize("kind", FAILURES)
def test_after_a_failure_everything_is_as_before_the_call(kind: str, memory: int, backend: str) -> None:
    failure, exception, message = FAILURES[kind]
    rng = np.random.default_rng(1)
    errors = rng.integers(0, 2, (30, 60)) * (rng.random((30, 60)) < 0.3)
    fast, twin = (fx.FastLexicase(60, seed=3, backend=backend, cache_bytes=memory) for _ in range(2))
    evaluate = Failing(errors, -1, failure)
    fast.select(evaluate, 30, cache_key="a")
    twin.select(Evaluator(errors), 30, cache_key="a")
    weights, memo = fast.weights.tolist(), fast.cache_info()
    evaluate.calls = len(evaluate.asked) + 7
    with pytest.raises(exception, match=message) as caught:
        fast.select(evaluate, 30, 50, cache_key="a")
    assert fast.weights.tolist() == weights
    assert (fast.cache_info().pairs, fast.cache_info().n_dropped) == (memo.pairs, memo.n_dropped)
    if exception is fx.EvaluationError:
        assert len(caught.value.individuals) > 0
        assert len(caught.value.cases) > 0
        assert f"cases {caught.value.cases[0]}" in str(caught.value)
    evaluate.calls = -1
    after, undisturbed = (f.select(evaluate, 30, 50, cache_key="a") for f in (fast, twin))
    assert outcome(after) == outcome(undisturbed)
    assert after.pairs.tolist() == undisturbed.pairs.tolist()


def test_the_cause_of_a_failure_is_kept() -> None:
    with pytest.raises(fx.EvaluationError, match=r"individuals 0, 1, 2, 3, 4, … 99, 100 in all; cases \d") as caught:
        fx.FastLexicase(5).select(zero_division, 100)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_failing_bias_leaves_everything_as_it_was() -> None:
    fast = fx.FastLexicase(5, method_of(bias=lambda pool: float("nan")), w_max=9.0)
    with pytest.raises(ValueError, match=r"bias <lambda>\(\) must be a number, got NaN"):
        fast.select(Evaluator(np.zeros((3, 5))), 3)
    assert fast.weights.tolist() == [9.0] * 5
    fast = fx.FastLexicase(5, method_of(bias=lambda pool: "heavy"))
    with pytest.raises(TypeError, match=r"bias <lambda>\(\) must be real numbers, got dtype <U5"):
        fast.select(Evaluator(np.zeros((3, 5))), 3)


def test_an_evaluator_cannot_disturb_the_selection() -> None:
    """The index arrays are the evaluator's own to overwrite."""
    errors = np.random.default_rng(1).integers(0, 2, (20, 50))

    def rude(individuals, cases):
        block = errors[np.ix_(individuals, cases)]
        individuals[:] = cases[:] = -1
        return block

    one, two = fx.FastLexicase(50, seed=3), fx.FastLexicase(50, seed=3)
    assert outcome(one.select(rude, 20, 9)) == outcome(two.select(Evaluator(errors), 20, 9))


@pytest.mark.parametrize("kind", [list, np.float32, np.int8, bool, "fortran", "int64"])
def test_errors_of_any_kind_of_number(kind) -> None:
    errors = np.random.default_rng(1).integers(0, 2, (20, 50))

    def evaluate(individuals, cases):
        block = errors[np.ix_(individuals, cases)]
        if kind is list:
            return block.tolist()
        return np.asfortranarray(block) if kind == "fortran" else block.astype(kind)

    one, two = fx.FastLexicase(50, seed=3), fx.FastLexicase(50, seed=3)
    assert outcome(one.select(evaluate, 20, 9)) == outcome(two.select(Evaluator(errors), 20, 9))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_cases": -1}, ValueError, "n_cases must be at least 0, got -1"),
        ({"method": "random"}, ValueError, r"only order and epsilon .* got 'random', which uses all cases at once; "),
        (
            {"method": "dalex"},
            ValueError,
            "these work: lexicase, weighted.*, epsilon-lexicase-dynamic, ",
        ),
        ({"method": "weighted-num-zero"}, ValueError, "unknown method .*; did you mean 'weighted-num-zeros'"),
        ({"method": 3}, TypeError, "method must be a name or an object with prepare"),
        ({"method": "batch-lexicase"}, ValueError, "'batch-lexicase', which has batch_size=10"),
        ({"method": fx.Lexicase(slippage=0.5)}, ValueError, "which has slippage=0.5"),
        ({"method": fx.Lexicase(max_cases=5)}, ValueError, "which has max_cases=5"),
        ({"method": fx.Lexicase(elitism=1)}, ValueError, "which has elitism=1"),
        ({"method": "cohort-lexicase"}, ValueError, "which has sampling=Cohorts"),
        ({"method": method_of(bias=[1.0] * 5)}, ValueError, "which has explicit weights"),
        ({"default_weight": "mean"}, ValueError, "default_weight must be one of 'max', 'min', got 'mean'"),
        ({"stop_on_all_fail": "stop"}, TypeError, "stop_on_all_fail must be"),
        ({"w_min": 0}, ValueError, "w_min must be positive and finite, got 0"),
        ({"w_max": 0.5}, ValueError, "w_max must be at least w_min = 1, got 0.5"),
        ({"w_max": 1e308}, ValueError, "w_max times the number of cases must be finite"),
        (
            {"method": method_of(epsilon=[1.0])},
            ValueError,
            r"epsilon must have one number per case: .*\(5,\), got \(1,\)",
        ),
        ({"method": method_of(epsilon="mad")}, ValueError, "whose epsilon is semi-dynamic and needs all errors"),
        ({"method": "epsilon-lexicase-static"}, ValueError, "whose epsilon is static and needs all errors"),
        ({"lookahead": 0}, ValueError, "lookahead must be at least 1, got 0"),
        ({"lookahead": "all"}, ValueError, "lookahead must be one of 'auto', got 'all'"),
        ({"cache_bytes": -1}, ValueError, "cache_bytes must be at least 0, got -1"),
        ({"backend": "cuda"}, ValueError, "backend must be one of"),
    ],
)
def test_wrong_settings_are_refused(arguments: dict, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.FastLexicase(**{"n_cases": 5, **arguments})


def test_wrong_calls_are_refused() -> None:
    fast = fx.FastLexicase(5, seed=1)
    with pytest.raises(ValueError, match="n_individuals must be at least 1, got 0"):
        fast.select(Evaluator([]), 0)
    with pytest.raises(ValueError, match="n must be at least 0, got -1"):
        fast.select(Evaluator([]), 1, -1)
    with pytest.raises(TypeError, match="evaluate must be callable, got 7"):
        fast.select(7, 1)
    with pytest.raises(ValueError, match="read-only"):
        fast.weights[0] = 3.0
    with pytest.raises(ValueError, match="w_max must be at least w_min"):
        fx.FastLexicase(5, w_min=9.0).select(Evaluator(np.zeros((3, 5))), 3)
