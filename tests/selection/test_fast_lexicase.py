"""Fast Lexicase against an independent reading of Algorithm 1."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from itertools import product

import numpy as np
import pytest

import flexicase as fx
from flexicase.data import SyntheticPopulation
from flexicase.evaluation._lookahead import Growing
from flexicase.rng import Lane, Stream, key_from_seed
from flexicase.selection.orders import ranked_order, uniform_order, weighted_order
from simulated_cluster import SimulatedCluster
from tests.hostile.values import EFFORT
from tests.selection._helpers import Evaluator, method_of, outcome

DRAW = {
    "uniform": lambda key, event, w: uniform_order(key, event, len(w)),
    "weighted": weighted_order,
    "ranked": lambda key, event, w: list(ranked_order(key, event, w.copy())),
}
LOOKAHEADS = (1, 3, "auto", Growing(delayed=True))
BIASES = {
    "num_zeros": lambda results: 1 + sum(r == 0 for r in results),
    "num_nonzeros": lambda results: 1 + sum(r != 0 for r in results),
    "split": lambda results: 1 + 4 * sum(r == 0 for r in results) * sum(r != 0 for r in results) / len(results),
    "spread": lambda results: 10 * (max(results) - min(results)),
}


def spread(pool: fx.CaseStatistics) -> np.ndarray:
    return 10.0 * (pool.errors.max(axis=0) - pool.errors.min(axis=0))


def algorithm_1(errors, w, order, bias, bounds, key, event):  # noqa: PLR0917
    """One event, read from the paper: (parent, evaluations, cases used, ended)."""
    candidates, evaluations, used = list(range(len(errors))), 0, 0
    for case in DRAW[order](key, event, w) if len(candidates) > 1 and len(w) else ():
        if len(candidates) == 1:
            break
        results = {p: errors[p][case] for p in candidates}
        evaluations, used = evaluations + len(candidates), used + 1
        w[case] = min(max(BIASES[bias](results.values()), bounds[0]), bounds[1])
        best = min(results.values())
        candidates = [p for p in candidates if results[p] == best]
    pick = Stream.of(key, event, Lane.PICK).bounded(len(candidates))
    return candidates[pick], evaluations, used, int(len(candidates) > 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("order", "bias"),
    [("uniform", "num_nonzeros"), *product(("weighted", "ranked"), BIASES)],  # uniform learns weights, but uses none
)
@pytest.mark.parametrize("default", ["max", "min"])
def test_agrees_with_algorithm_1(bias: str, default: str, order: str, backend: str) -> None:
    rng = np.random.default_rng(3)
    chosen = spread if bias == "spread" else bias
    for n_individuals, n_cases, levels in [(1, 4, 3), (2, 1, 2), (9, 40, 2), (30, 60, 2), (12, 35, 4), (6, 0, 2)]:
        errors = rng.integers(0, levels, (n_individuals, n_cases))
        errors[n_individuals // 2 :] = errors[: n_individuals - n_individuals // 2]  # clones: cases run out
        only = None if bias == "spread" else backend  # a callable bias has no native back end
        settings = {"default_weight": default, "seed": 5, "backend": only}
        selectors = [fx.FastLexicase(n_cases, method_of(order, chosen), **settings) for _ in LOOKAHEADS]
        for fast, lookahead in zip(selectors, LOOKAHEADS, strict=True):
            fast.lookahead = lookahead
        bounds = (1.0, n_individuals + 1.0)
        w = np.full(n_cases, bounds[default == "max"])
        for call in range(2):
            expected = [
                algorithm_1(errors, w, order, bias, bounds, key_from_seed(5), event)
                for event in range(8 * call, 8 * call + 8)
            ]
            for fast in selectors:
                s = fast.select(Evaluator(errors), n_individuals, 8)
                assert outcome(s) == [list(column) for column in zip(*expected, strict=True)]
                assert fast.weights.tolist() == w.tolist()


def test_the_count_is_of_the_pool_before_each_case() -> None:
    """10 candidates, then 3, then 1: 13 evaluations, not 3 + 1."""
    errors = np.ones((10, 3), dtype=int)
    errors[:3] = 0
    errors[1:3, 1:] = 5
    fast = fx.FastLexicase(3, "weighted-num-zeros", default_weight="min", w_max=11, lookahead=1)
    fast.load_state_dict({**fast.state_dict(), "weights": [11.0, 1.0, 1.0]})
    for seed in range(50):
        s = fast.select(Evaluator(errors), 10, seed=seed)
        if s.cases_used[0] == 2 and fast.weights[0] == 4.0:
            assert s.evaluations.tolist() == [13]
            break
    else:
        pytest.fail("no event began with case 0")


def random_problem(rng: np.random.Generator):
    n_individuals, n_cases = int(rng.integers(1, 14)), int(rng.integers(0, 40))
    errors = rng.integers(0, int(rng.integers(1, 4)), (n_individuals, n_cases)).astype(float)
    errors[rng.random(errors.shape) < rng.choice([0.0, 0.7, 0.97])] = 0.0
    if rng.random() < 0.1 and errors.size:
        errors.flat[rng.integers(errors.size)] = rng.choice([np.inf, -1e308, -1.5])
    settings = {
        "method": method_of(
            str(rng.choice(["weighted", "ranked", "uniform"])),
            str(rng.choice(["num_zeros", "num_nonzeros", "split"])),
            [None, 0.5, 1.0, "mad-dynamic", rng.random(n_cases)][int(rng.integers(5))],
        ),
        "default_weight": str(rng.choice(["max", "min"])),
        "w_min": float(rng.choice([1.0, 0.25, 2.5])),
        "w_max": [None, 4.0][int(rng.integers(2))] if n_individuals > 2 else 4.0,
        "seed": int(rng.integers(1 << 40)),
    }
    return errors, settings


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(4))
def test_lookahead_memo_and_backend_change_nothing(chunk: int) -> None:
    """Hundreds of small problems: same parents, weights and counts; every pair computed at most once."""
    rng = np.random.default_rng(chunk)
    for _ in range(200 * EFFORT):
        errors, settings = random_problem(rng)
        n_individuals, n_cases = errors.shape
        n = int(rng.integers(1, 7))
        plain = fx.FastLexicase(n_cases, lookahead=1, cache_bytes=0, **settings)
        alone = Evaluator(errors)
        first = plain.select(alone, n_individuals, n)
        assert first.pairs_unused.sum() == 0
        assert first.pairs.tolist() == first.evaluations.tolist()  # no memo: every look is computed
        for lookahead, memory, backend in [
            ("auto", 2**20, "native"),
            ("auto", 2**20, "reference"),
            (int(rng.integers(2, 50)), 30_000, "native"),
            ("auto", int(rng.integers(0, 3000)), "native"),
        ]:
            other = fx.FastLexicase(n_cases, lookahead=lookahead, cache_bytes=memory, backend=backend, **settings)
            asked = Evaluator(errors)
            s = other.select(asked, n_individuals, n)
            assert outcome(s) == outcome(first)
            assert other.weights.tolist() == plain.weights.tolist()
            assert s.pairs.sum() == len(asked.pairs)
            if memory == 2**20:
                assert len(set(asked.pairs)) == len(asked.pairs)
                assert set(asked.pairs) >= set(alone.pairs)
                looked_at_anew = len(asked.pairs) - s.pairs_unused.sum()
                assert looked_at_anew <= len(set(alone.pairs))
                if n == 1:
                    assert looked_at_anew == len(alone.pairs)


def test_native_and_reference_ask_the_same_questions() -> None:
    errors = np.random.default_rng(8).integers(0, 2, (40, 300)) * (np.random.default_rng(9).random((40, 300)) < 0.1)
    asked = []
    for backend in ("native", "reference"):
        evaluate = Evaluator(errors)
        fx.FastLexicase(300, seed=2, backend=backend).select(evaluate, 40, 20)
        asked.append(evaluate.asked)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("order", DRAW)
def test_long_orders_are_those_of_the_definition(order: str) -> None:
    """The native order is drawn and sorted piece by piece; the pieces must join without a gap."""
    weights = np.random.default_rng(3).integers(1, 9, 3000).astype(float)
    fast = fx.FastLexicase(3000, method_of(order), w_max=9.0, lookahead=3000)
    fast.load_state_dict(fast.state_dict() | {"weights": weights})
    evaluate = Evaluator(np.zeros((2, 3000)))
    fast.select(evaluate, 2, seed=4)
    expected = list(DRAW[order](key_from_seed(4), 0, weights))
    assert evaluate.asked == [([0, 1], expected)]


def test_lookahead_asks_seldom_and_memo_never_twice() -> None:
    errors = np.zeros((20, 1000))
    evaluate = Evaluator(errors)
    fast = fx.FastLexicase(1000, seed=1)
    s = fast.select(evaluate, 20)
    assert len(evaluate.asked) == 10  # 1 + 2 + 4 + … reaches 1000
    assert (s.pairs.item(), s.pairs_unused.item(), s.cases_used.item()) == (20_000, 0, 1000)
    again = fast.select(evaluate, 20, 3)
    assert len(evaluate.asked) == 10
    assert again.pairs.tolist() == [0, 0, 0]
    assert again.evaluations.tolist() == [20_000] * 3


@pytest.mark.slow
def test_unseen_cases_come_before_easy_ones_under_default_max() -> None:
    """Ten cases are known to be easy; under Default-Max an event begins with one of the other ten."""
    errors = np.zeros((20, 20))
    known = np.where(np.arange(20) < 10, 1.0, 21.0)
    ranked = sum(sum(1 / bound for bound in range(rank, 21)) / 20 for rank in range(1, 11))
    expected = {"weighted": 10 * 21 / (10 * 21 + 10), "ranked": ranked}
    for order, share in expected.items():
        for default, unseen in (("max", 21.0), ("min", 1.0)):
            fast = fx.FastLexicase(20, method_of(order), default_weight=default, w_max=21.0, lookahead=1)
            state = fast.state_dict() | {"weights": np.minimum(known, unseen)}
            first_cases = []
            for seed in range(400):
                fast.load_state_dict(state)
                evaluate = Evaluator(errors)
                fast.select(evaluate, 20, seed=seed)
                first_cases.append(evaluate.asked[0][1][0])
            unseen_first = np.mean(np.array(first_cases) >= 10)
            if default == "min":
                assert 0.4 < unseen_first < 0.6
            else:
                assert abs(unseen_first - share) < 0.06


def test_calls_continue_the_stream_and_a_seed_stands_for_one_call() -> None:
    errors = np.random.default_rng(1).integers(0, 3, (20, 30))
    evaluate = Evaluator(errors)
    whole, parts = fx.FastLexicase(30, seed=3), fx.FastLexicase(30, seed=3)
    together = outcome(whole.select(evaluate, 20, 7))
    halves = [outcome(parts.select(evaluate, 20, k)) for k in (3, 4)]
    assert together == [a + b for a, b in zip(*halves, strict=True)]
    one, two = fx.FastLexicase(30, seed=1), fx.FastLexicase(30, seed=2)
    assert outcome(one.select(evaluate, 20, 5, seed=9)) == outcome(two.select(evaluate, 20, 5, seed=9))
    assert one.state_dict()["next_event"] == 0


def test_the_memo_lasts_for_one_population() -> None:
    rng = np.random.default_rng(4)
    old, new = Evaluator(rng.integers(0, 2, (9, 20))), Evaluator(rng.integers(0, 2, (9, 20)))
    fast = fx.FastLexicase(20, seed=1, lookahead=20)
    fast.select(old, 9)
    assert fast.cache_info().pairs == fast.cache_info().bytes / 8 == 180
    fast.select(new, 9)  # another evaluator: nothing of the old one is used
    assert len(new.asked) == 1
    fast.clear_cache()
    assert fast.cache_info().pairs == fast.cache_info().bytes == 0
    fast.select(new, 9)
    assert len(new.asked) == 2
    fast.select(new, 9, cache_key=1)
    fast.select(new.__call__, 9, cache_key=1)
    assert len(new.asked) == 3
    fast.select(new, 9, cache_key=2)
    assert len(new.asked) == 4
    fast.select(new, 8, cache_key=2)  # a population of another size is another population
    assert len(new.asked) == 5


def test_a_full_memo_says_so_and_stays_right() -> None:
    errors = np.random.default_rng(5).integers(0, 2, (50, 4000)) * (np.random.default_rng(6).random((50, 4000)) < 0.01)
    roomy, tight = fx.FastLexicase(4000, seed=1), fx.FastLexicase(4000, seed=1, cache_bytes=200_000)
    assert outcome(roomy.select(Evaluator(errors), 50, 10)) == outcome(tight.select(Evaluator(errors), 50, 10))
    assert roomy.cache_info().n_dropped == 0
    assert tight.cache_info().n_dropped > 0
    assert tight.cache_info().bytes <= tight.cache_info().max_bytes == 175_000
    assert tight.cache_info().pairs > 1000


def test_a_state_goes_on_where_it_was_taken(backend: str) -> None:
    errors = np.random.default_rng(1).integers(0, 3, (20, 30))
    fast = fx.FastLexicase(30, "ranked-num-nonzeros", seed=3, backend=backend)
    fast.select(Evaluator(errors), 20, 5)
    state = fast.state_dict()
    expected = outcome(fast.select(Evaluator(errors), 20, 5))
    other = fx.FastLexicase(30, "ranked-num-nonzeros", seed=99, backend=backend)
    other.load_state_dict(state)
    assert outcome(other.select(Evaluator(errors), 20, 5)) == expected
    assert other.weights.tolist() == fast.weights.tolist()
    assert other.state_dict()["w_max"] == 21.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"method": "ranked-num-nonzeros"},
            r"^state has settings of a selector with order='weighted', this one has order='ranked'$",
        ),
        ({"method": method_of(bias=spread)}, r"bias='num_nonzeros', this one has bias='callable spread'$"),
        ({"default_weight": "min"}, r"default_weight='max', this one has default_weight='min'$"),
        ({"method": method_of(epsilon=0.5)}, r"epsilon=None, this one has epsilon=\[0.5, 0.5, 0.5\]$"),
        ({"n_cases": 4}, r"n_cases=3, this one has n_cases=4$"),
        ({"w_max": 9}, r"w_max=None, this one has w_max=9"),
        ({"solved": 2}, r"solved=None, this one has solved=\[2.0, 2.0, 2.0\]$"),
        ({"maximize": True, "solved": 0}, r"maximize=None, this one has maximize=True$"),
    ],
)
def test_a_state_of_another_selector_is_refused(settings: dict, message: str) -> None:
    fast = fx.FastLexicase(**{"n_cases": 3, **settings})
    with pytest.raises(ValueError, match=message):
        fast.load_state_dict(fx.FastLexicase(3).state_dict())


def test_a_damaged_state_is_refused_and_changes_nothing() -> None:
    fast = fx.FastLexicase(3, seed=1)
    good = fast.state_dict()
    for change, message in [
        ({"weights": [1.0]}, r"weights in state must have one number per case: expected shape \(3,\), got \(1,\)"),
        ({"weights": [0.0, 1.0, 1.0]}, "weights in state must lie between w_min and w_max"),
        ({"next_event": -1}, "next_event in state must be at least 0, got -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            fast.load_state_dict(good | change)
        assert fast.weights.tolist() == good["weights"].tolist()
    with pytest.raises(ValueError, match=r"has no 'w_max', 'key'"):
        fast.load_state_dict({"settings": {}, "weights": [], "next_event": 0})


def zero_division(individuals, cases):
    return 1 / 0


def test_one_individual_costs_nothing() -> None:
    s = fx.FastLexicase(5).select(zero_division, 1, 3)
    assert outcome(s) == [[0] * 3, [0] * 3, [0] * 3, [0] * 3]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["weighted-num-nonzeros", "ranked-num-nonzeros", "lexicase"])
def test_a_million_cases_in_bounded_memory(method: str) -> None:
    """1000 × 10**6 pairs, of which an event looks at those of a few clones on every case."""
    script = f"""
        import resource
        import numpy as np
        import flexicase as fx

        def evaluate(individuals, cases):
            return ((individuals[:, None] >= 3) & ((individuals[:, None] * 7919 + cases) % 5 > 0)).astype(np.int8)

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        fast = fx.FastLexicase(10**6, {method!r}, seed=1)
        s = fast.select(evaluate, 1000)
        assert s.ended[0] == 1 and s.cases_used[0] == 10**6 and s.indices[0] < 3
        print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, fast.cache_info().bytes / 2**20)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    grown, memo = map(float, done.stdout.split())
    assert grown < 400
    assert memo < 192


def test_a_case_that_nobody_solves_ends_an_event_if_asked_to() -> None:
    """Everybody may be chosen then, also those who were out already."""
    errors = np.array([[0, 1], [1, 1], [0, 2]])
    for lookahead in (1, "auto", 2):
        fast = fx.FastLexicase(2, "lexicase", stop_on_all_fail=True, lookahead=lookahead, seed=3)
        s = fast.select(Evaluator(errors), 3, n=200)
        assert set(s.ended.tolist()) == {fx.Ended.ALL_FAILED}
        assert set(s.indices.tolist()) == {0, 1, 2}
        assert sorted(set(zip(s.evaluations.tolist(), s.cases_used.tolist(), strict=True))) == [(3, 1), (5, 2)]
    kept = fx.FastLexicase(2, "lexicase", seed=3).select(Evaluator(errors), 3, n=200)
    assert set(kept.ended.tolist()) == {0}


def test_look_ahead_can_be_changed_between_calls() -> None:
    errors = np.zeros((2, 64), np.int64)
    fast, other = fx.FastLexicase(64, seed=3, lookahead=1), fx.FastLexicase(64, seed=3)
    evaluate = Evaluator(errors)
    fast.select(evaluate, 2)
    one_by_one = len(evaluate.asked)
    fast.lookahead = "auto"
    assert fast.lookahead == "auto"
    fast.select(evaluate, 2, cache_key="next")
    assert (one_by_one, len(evaluate.asked) - one_by_one) == (64, 7)
    other.select(Evaluator(errors), 2, n=2)
    assert fast.weights.tolist() == other.weights.tolist()
    with pytest.raises(ValueError, match="lookahead must be at least 1"):
        fast.lookahead = 0


@pytest.mark.parametrize(
    ("settings", "obstacle"),
    [
        ({"method": method_of(bias=spread)}, "bias <function spread"),
        ({"method": "weighted-average"}, "bias 'average'"),
        ({"stop_on_all_fail": True}, "stop_on_all_fail"),
    ],
)
def test_a_native_back_end_that_cannot_be_had_is_refused(settings: dict, obstacle: str) -> None:
    """It must not run in Python without a word; None chooses, and says what."""
    with pytest.raises(ValueError, match=f'backend must be "reference" or None with {obstacle}.*, which the native'):
        fx.FastLexicase(3, backend="native", **settings)
    assert fx.FastLexicase(3, **settings).backend == "reference"
    assert fx.FastLexicase(3, backend="reference", **settings).backend == "reference"
    assert fx.FastLexicase(3, backend="native").backend == fx.FastLexicase(3).backend == "native"


def test_a_native_back_end_is_refused_for_evaluators_that_work_on_many_pieces() -> None:
    population = SyntheticPopulation(5, 4)
    cluster = SimulatedCluster(population, 2, pair_seconds=1.0)
    fast = fx.FastLexicase(4, backend="native", seed=1)
    with pytest.raises(ValueError, match='"reference" or None with a SimulatedCluster, which the native'):
        fast.select(cluster, 5)
    assert fast.select(population, 5).indices.shape == (1,)
    chosen = fx.FastLexicase(4, seed=1)
    chosen.select(cluster, 5)
    assert chosen.backend == "reference"
    chosen.select(population, 5)
    assert chosen.backend == "native"


def test_a_cache_key_that_cannot_be_compared_is_refused() -> None:
    fast, evaluate = fx.FastLexicase(2, seed=1), Evaluator(np.eye(2))
    fast.select(evaluate, 2, cache_key=np.arange(3))
    with pytest.raises(TypeError, match="cache_key must be comparable with =="):
        fast.select(evaluate, 2, cache_key=np.arange(3) + 1)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [{"n_individuals": 2**31 - 1}, {"n": 2**40}])
def test_what_does_not_fit_into_memory_is_refused_at_once(arguments: dict) -> None:
    script = f"""
        import resource
        import numpy as np
        import flexicase as fx

        resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, resource.RLIM_INFINITY))
        try:
            arguments = {{"n_individuals": 4}} | {arguments}
            fx.FastLexicase(3, seed=1).select(lambda i, c: np.zeros((len(i), len(c))), **arguments)
        except MemoryError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert f"{next(iter(arguments))} " in done.stdout, done.stderr
    assert "std::" not in done.stdout


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
    "masked": (
        lambda i, c: np.ma.masked_all((len(i), len(c))),
        fx.EvaluationError,
        r"must be numbers, but individual \d+, case \d+ has nan",
    ),
    "masked rows": (
        lambda i, c: [np.ma.masked_array(np.zeros(len(c)), mask=True)] * len(i),
        fx.EvaluationError,
        r"must be numbers, but individual \d+, case \d+ has nan",
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


@pytest.mark.slow
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
        (
            {"method": "random"},
            ValueError,
            r"only order, epsilon and max_cases .* got 'random', which uses all cases at once; ",
        ),
        (
            {"method": "dalex"},
            ValueError,
            "these work: lexicase, weighted.*, epsilon-lexicase-dynamic, ",
        ),
        ({"method": "weighted-num-zero"}, ValueError, "unknown method .*; did you mean 'weighted-num-zeros'"),
        ({"method": 3}, TypeError, "method must be a name or an object with prepare"),
        ({"method": "batch-lexicase"}, ValueError, "'batch-lexicase', which has batch_size=10"),
        ({"method": fx.Lexicase(slippage=0.5)}, ValueError, "which has slippage=0.5"),
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
        ({"maximize": "yes"}, TypeError, "maximize must be True or False, got 'yes'"),
        ({"maximize": True}, ValueError, "^solved must be the score that solves a case if maximize=True"),
        (
            {"maximize": True, "method": "lexicase", "stop_on_all_fail": True},
            ValueError,
            "^solved must be the score that solves a case if maximize=True",
        ),
        ({"solved": [1, 2]}, ValueError, r"solved must have one number per case: .*\(5,\), got \(2,\)"),
        ({"solved": np.nan}, ValueError, "solved must be a number or one number per case, got NaN"),
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


@pytest.mark.slow
@pytest.mark.parametrize("lookahead", [1, 4, "auto"])
@pytest.mark.parametrize("max_cases", [0, 1, 3, 1000, "random"])
def test_max_cases_ends_events_as_it_does_on_a_matrix(max_cases, lookahead, backend: str) -> None:
    """In uniform order an event is the one of `select`; look-ahead must not evaluate cases beyond the limit."""
    errors = np.random.default_rng(4).integers(0, 2, (8, 20)) * (np.random.default_rng(5).random((8, 20)) < 0.3)
    errors[4:] = errors[:4]
    method = fx.Lexicase(max_cases=max_cases)
    fast = fx.FastLexicase(20, method, lookahead=lookahead, cache_bytes=0, seed=3, backend=backend)
    expected = fx.select(errors, 40, method, seed=3)
    for event in range(40):
        evaluate = Evaluator(errors)
        s = fast.select(evaluate, 8)
        assert outcome(s) == [
            [int(column[event])]
            for column in (expected.indices, expected.evaluations, expected.cases_used, expected.ended)
        ]
        assert s.ended[0] == fx.Ended.CASES_EXHAUSTED or s.cases_used[0] < 20
        if isinstance(max_cases, int):
            assert len({case for _, case in evaluate.pairs}) <= max_cases
    assert s.candidates_left[0] >= 1


def test_candidates_left_counts_the_tied(backend: str) -> None:
    errors = np.array([[0, 0], [0, 0], [1, 1]])
    s = fx.FastLexicase(2, seed=1, backend=backend).select(Evaluator(errors), 3, 5)
    assert s.candidates_left.tolist() == [2] * 5


def test_a_state_keeps_the_limit_on_cases() -> None:
    limited, unlimited = fx.FastLexicase(3, fx.Lexicase(max_cases=2)), fx.FastLexicase(3, "lexicase")
    limited.load_state_dict(limited.state_dict())
    with pytest.raises(ValueError, match=r"with max_cases=2, this one has max_cases=None"):
        unlimited.load_state_dict(limited.state_dict())
    with pytest.raises(ValueError, match=r"with max_cases=None, this one has max_cases=2"):
        limited.load_state_dict(unlimited.state_dict())
    assert "max_cases" not in unlimited.state_dict()["settings"]


@pytest.mark.parametrize("method", ["weighted-num-nonzeros", "ranked-num-nonzeros"])
@pytest.mark.parametrize("default", ["max", "min"])
def test_the_largest_weight_follows_a_growing_population(default: str, method: str, backend: str) -> None:
    """A pool that starts with one candidate would otherwise keep weights between 1 and 2."""
    errors = np.random.default_rng(7).integers(0, 2, (40, 30))
    fast = fx.FastLexicase(30, method, default_weight=default, seed=2, backend=backend)
    seen: set[int] = set()
    for n_individuals in (1, 2, 5, 40, 7):
        evaluate = Evaluator(errors[:n_individuals])
        before = fast.weights
        fast.select(evaluate, n_individuals, 1)
        largest = max(n_individuals, 40 if n_individuals == 7 else 0) + 1.0
        assert fast.state_dict()["w_max"] == largest
        now = {case for _, case in evaluate.pairs}
        old, seen = sorted(seen - now), seen | now
        unused = np.setdiff1d(np.arange(30), list(seen))
        assert len(unused)
        assert set(fast.weights[unused]) == {largest if default == "max" else 1.0}
        assert default == "max" or [fast.weights[case] for case in old] == [before[case] for case in old]
    given = fx.FastLexicase(30, w_max=9.0, seed=2, backend=backend)
    for n_individuals in (1, 40):
        given.select(Evaluator(errors), n_individuals)
        assert given.state_dict()["w_max"] == 9.0 == given.weights.max()


def test_a_state_of_a_growing_population_goes_on_growing() -> None:
    errors = np.random.default_rng(7).integers(0, 2, (40, 30))
    fast, other = fx.FastLexicase(30, seed=2), fx.FastLexicase(30, seed=3)
    fast.select(Evaluator(errors), 3, 2)
    other.load_state_dict(fast.state_dict())
    results = [outcome(f.select(Evaluator(errors), 40, 5)) for f in (fast, other)]
    assert results[0] == results[1]
    assert fast.weights.tolist() == other.weights.tolist()
    assert fast.weights.max() == 41.0


def test_a_failed_call_does_not_raise_the_largest_weight() -> None:
    fast = fx.FastLexicase(30, seed=2)
    fast.select(Evaluator(np.eye(3, 30)), 3)
    before = fast.state_dict()
    with pytest.raises(fx.EvaluationError):
        fast.select(zero_division, 40)
    assert fast.state_dict()["w_max"] == before["w_max"] == 4.0
    assert fast.weights.tolist() == before["weights"].tolist()


def partly_known(errors: np.ndarray, share: float, seed: int = 1) -> np.ndarray:
    return np.where(np.random.default_rng(seed).random(errors.shape) < share, errors, np.nan)


@pytest.mark.slow
@pytest.mark.parametrize("lookahead", [1, "auto"])
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_known_pairs_are_neither_evaluated_nor_counted(share: float, lookahead, backend: str) -> None:
    errors = np.random.default_rng(2).integers(0, 2, (12, 50))
    known = partly_known(errors, share)
    before = known.copy()
    fast, plain = (fx.FastLexicase(50, lookahead=lookahead, seed=4, backend=backend) for _ in range(2))
    evaluate = Evaluator(errors)
    for given in (known, None):  # without them, the second call finds them in the cache
        s, expected = fast.select(evaluate, 12, 10, known=given), plain.select(Evaluator(errors), 12, 10)
        assert outcome(s) == outcome(expected)
        assert fast.weights.tolist() == plain.weights.tolist()
    assert np.array_equal(known, before, equal_nan=True)
    assert all(np.isnan(known[pair]) for pair in evaluate.pairs)
    evaluated = len(evaluate.pairs)
    assert fast.cache_info().pairs == evaluated + np.count_nonzero(~np.isnan(known))
    assert evaluated > 0 or share == 1.0
    again = Evaluator(errors)
    assert fast.select(again, 12, 10, known=errors).pairs.sum() == len(again.asked) == 0


def test_pairs_count_only_what_was_evaluated_beside_known_pairs(backend: str) -> None:
    errors = np.random.default_rng(2).integers(0, 2, (12, 50))
    evaluate = Evaluator(errors)
    s = fx.FastLexicase(50, seed=4, backend=backend).select(evaluate, 12, 10, known=partly_known(errors, 0.5))
    assert s.pairs.sum() == len(evaluate.pairs) == len(set(evaluate.pairs))


def test_a_growing_population_is_evaluated_once_with_known_errors() -> None:
    errors = np.random.default_rng(2).integers(0, 2, (12, 50))
    fast, seen = fx.FastLexicase(50, seed=4), []
    assert fast.known_errors().shape == (0, 50)
    known = fast.known_errors()
    for n_individuals in range(1, 13):
        known = np.vstack([known, np.full((1, 50), np.nan)])
        evaluate = Evaluator(errors)
        fast.select(evaluate, n_individuals, 2, known=known)
        seen += evaluate.pairs
        known = fast.known_errors()
    assert len(seen) == len(set(seen)) == np.count_nonzero(~np.isnan(known))
    assert all(known[pair] == errors[pair] for pair in seen)


def test_known_errors_survive_a_failed_call(backend: str) -> None:
    """The cache goes back to what it was before; known pairs of the failed call are not kept."""
    errors = np.random.default_rng(2).integers(0, 2, (12, 50))
    fast = fx.FastLexicase(50, seed=4, backend=backend)
    fast.select(Evaluator(errors), 12, cache_key="a")
    before = fast.known_errors()
    with pytest.raises(fx.EvaluationError):
        fast.select(zero_division, 12, 20, cache_key="a", known=partly_known(errors, 0.1))
    kept = fast.known_errors()
    assert not (~np.isnan(kept) & np.isnan(before)).any()


@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        (np.zeros((3, 4)), ValueError, r"known must be n_individuals × n_cases: expected shape \(3, 5\), got \(3, 4\)"),
        (0.5, ValueError, r"expected shape \(3, 5\), got \(\)"),
        ([["a"] * 5] * 3, TypeError, "known must be real numbers"),
        ([[1], [1, 2]], ValueError, "known must be an array with rows of equal length"),
        (np.full((3, 5), 2**60), ValueError, r"known must not have integers beyond 2\*\*53"),
    ],
)
def test_wrong_known_errors_are_refused(known, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.FastLexicase(5).select(Evaluator(np.zeros((3, 5))), 3, known=known)


def test_known_errors_that_do_not_fit_the_cache_are_refused() -> None:
    fast = fx.FastLexicase(5, cache_bytes=0)
    with pytest.raises(ValueError, match="known must fit into cache_bytes, but 15 pairs do not"):
        fast.select(Evaluator(np.zeros((3, 5))), 3, known=np.zeros((3, 5)))
    fast.select(Evaluator(np.eye(3, 5)), 3, known=np.full((3, 5), np.nan))


@pytest.mark.slow
@pytest.mark.parametrize("lookahead", [1, 5, "auto"])
def test_a_budget_is_never_exceeded_and_each_choice_rests_on_what_was_evaluated(lookahead) -> None:
    errors = np.random.default_rng(2).integers(0, 2, (12, 50))
    errors[6:] = errors[:6]
    plain = fx.FastLexicase(50, seed=4, lookahead=lookahead).select(Evaluator(errors), 12, 6)
    for budget in (*range(0, 100, 7), int(plain.pairs.sum()), 10**6):
        fast, evaluate = fx.FastLexicase(50, seed=4, lookahead=lookahead), Evaluator(errors)
        s = fast.select(evaluate, 12, 6, budget=budget)
        assert fast.backend == "reference"
        assert s.pairs.sum() == len(evaluate.pairs) <= budget
        stopped = s.ended == fx.Ended.OUT_OF_BUDGET
        same = 6 if not stopped.any() else int(np.argmax(stopped))
        if lookahead == 1:  # until the budget runs out, nothing differs
            assert [column[:same] for column in outcome(s)] == [column[:same] for column in outcome(plain)]
        if budget >= plain.pairs.sum():
            assert outcome(s) == outcome(plain)
        known = fast.known_errors()
        for event in np.flatnonzero(stopped):
            assert s.candidates_left[event] > 1
            assert np.count_nonzero(~np.isnan(known[s.indices[event]])) >= s.cases_used[event]
        assert budget >= 12 or (s.cases_used.sum() == 0 and (s.candidates_left == 12).all())


def test_a_budget_of_nothing_selects_from_what_is_known() -> None:
    errors = np.random.default_rng(2).integers(0, 2, (12, 50))
    s = fx.FastLexicase(50, seed=4).select(zero_division, 12, 6, known=errors, budget=0)
    assert outcome(s) == outcome(fx.FastLexicase(50, seed=4).select(Evaluator(errors), 12, 6))


def test_without_evidence_a_budget_chooses_any_individual() -> None:
    s = fx.FastLexicase(50, seed=4).select(zero_division, 4, 400, budget=3)
    assert np.bincount(s.indices, minlength=4).min() > 60
    assert set(s.ended) == {fx.Ended.OUT_OF_BUDGET}


def test_a_budget_is_for_one_call() -> None:
    errors = np.random.default_rng(2).integers(0, 2, (12, 50))
    fast, evaluate = fx.FastLexicase(50, seed=4, lookahead=1), Evaluator(errors)
    for call in range(1, 4):
        fast.select(evaluate, 12, 9, budget=12)
        assert len(evaluate.pairs) <= 12 * call
    assert len(evaluate.pairs) > 12


def test_wrong_budgets_are_refused() -> None:
    fast = fx.FastLexicase(5)
    for budget, error, message in [
        (-1, ValueError, "budget must be at least 0, got -1"),
        (2.5, TypeError, "budget must be an integer, got 2.5"),
        (True, TypeError, "budget must be an integer, got True"),
    ]:
        with pytest.raises(error, match=message):
            fast.select(zero_division, 3, budget=budget)
    with pytest.raises(ValueError, match='backend must be "reference" or None with a budget'):
        fx.FastLexicase(5, backend="native").select(zero_division, 3, budget=7)
    with pytest.raises(ValueError, match="budget must be None with a SimulatedCluster, which computes pairs ahead"):
        fast.select(SimulatedCluster(SyntheticPopulation(3, 5), 1, pair_seconds=1.0), 3, budget=7)


@pytest.mark.parametrize("epsilon", [None, "mad-dynamic"])
@pytest.mark.parametrize("lookahead", [1, "auto"])
def test_copies_are_evaluated_once_and_parents_stay_the_same(lookahead, epsilon) -> None:
    """In uniform order the cases do not depend on weights, so each parent must be that of evaluating every copy."""
    rng = np.random.default_rng(5)
    texts = [f"prompt {i}" for i in rng.integers(0, 5, 14)]
    errors = rng.integers(0, 2, (5, 60))[[int(text[-1]) for text in texts]]
    method, evaluate = method_of("uniform", epsilon=epsilon), Evaluator(errors)
    fast = fx.FastLexicase(60, method, seed=4, lookahead=lookahead)
    s = fast.select(evaluate, 14, 40, same_as=texts)
    every = fx.FastLexicase(60, method, seed=4, lookahead=lookahead).select(Evaluator(errors), 14, 40)
    assert s.indices.tolist() == every.indices.tolist()
    assert s.candidates_left.tolist() == every.candidates_left.tolist()
    assert {individual for individual, _ in evaluate.pairs} <= {texts.index(text) for text in texts}
    assert s.pairs.sum() == len(evaluate.pairs) == len(set(evaluate.pairs)) < every.pairs.sum()
    assert s.pairs_unused.sum() == 0 or lookahead != 1
    if epsilon is None:  # copies alone are left, instead of all cases being used
        assert set(s.ended) == {fx.Ended.ONE_LEFT}
        assert s.cases_used.max() < 60


def test_known_errors_of_a_copy_are_those_of_all_and_a_budget_counts_them_once() -> None:
    errors = np.repeat(np.random.default_rng(5).integers(0, 2, (4, 30)), 3, axis=0)
    labels = np.repeat(range(4), 3)
    known = np.full((12, 30), np.nan)
    known[2::3] = errors[2::3]  # the last copy of each
    before = known.copy()
    s = fx.FastLexicase(30, seed=1).select(zero_division, 12, 9, known=known, same_as=labels)
    assert s.pairs.sum() == 0
    assert np.array_equal(known, before, equal_nan=True)
    evaluate = Evaluator(errors)
    s = fx.FastLexicase(30, seed=1, lookahead=1).select(evaluate, 12, budget=4, same_as=labels)
    assert (s.pairs[0], s.cases_used[0]) == (4, 1)


def test_wrong_labels_are_refused() -> None:
    fast = fx.FastLexicase(5)
    for labels, error, message in [
        ([1, 2], ValueError, "same_as must have one label per individual: expected 3, got 2"),
        ("abc", TypeError, "same_as must be a sequence of labels, not a string, got 'abc'"),
        (3, TypeError, "same_as must be a sequence of hashable labels, got 3"),
        ([[1], [2], [3]], TypeError, "same_as must be a sequence of hashable labels"),
    ]:
        with pytest.raises(error, match=message):
            fast.select(zero_division, 3, same_as=labels)
    with pytest.raises(ValueError, match="same_as must be None with a SimulatedCluster"):
        fast.select(SimulatedCluster(SyntheticPopulation(3, 5), 1, pair_seconds=1.0), 3, same_as=[1, 1, 2])


@pytest.mark.slow
@pytest.mark.parametrize("bias", ["num_nonzeros", "num_zeros", "split", spread])
@pytest.mark.parametrize("epsilon", [None, 1.0, "mad-dynamic"])
@pytest.mark.parametrize("order", DRAW)
def test_scores_are_errors_upside_down(order: str, epsilon, bias, backend: str) -> None:
    errors = np.random.default_rng(5).integers(0, 4, (25, 40))
    best = np.arange(40.0)  # a different score solves each case
    options = {"seed": 2, "backend": None if bias is spread else backend}
    for stop in (False, True):
        if stop and backend == "native":
            continue
        method = method_of(order, bias, epsilon)
        plain = fx.FastLexicase(40, method, stop_on_all_fail=stop, **options)
        scored = fx.FastLexicase(40, method, stop_on_all_fail=stop, maximize=True, solved=best, **options)
        for _ in range(3):
            s, t = plain.select(Evaluator(errors), 25, 4), scored.select(Evaluator(best - errors), 25, 4)
            assert outcome(s) == outcome(t)
            assert s.pairs.tolist() == t.pairs.tolist()
            assert plain.weights.tolist() == scored.weights.tolist()


def test_what_counts_as_solved_changes_weights_not_the_order_of_errors(backend: str) -> None:
    """Scores beyond the one that solves a case count as solved, and still beat it."""
    for errors, options in [
        ([[-3.0], [-2.0], [-1.0], [5.0]], {"solved": -2}),
        ([[3.0], [2.0], [1.0], [-5.0]], {"solved": 2, "maximize": True}),
    ]:
        fast = fx.FastLexicase(1, "weighted-num-nonzeros", seed=1, backend=backend, **options)
        assert fast.select(Evaluator(errors), 4, 5).indices.tolist() == [0] * 5
        assert fast.weights.tolist() == [3.0]  # two of four do not solve it, plus one
    plain = fx.FastLexicase(1, "weighted-num-nonzeros", seed=1, backend=backend)
    plain.select(Evaluator([[-1.0], [0.0], [2.0]]), 3)
    assert plain.weights.tolist() == [3.0]  # without solved, an error below 0 is not solved


def test_no_two_scores_become_equal(backend: str) -> None:
    fast = fx.FastLexicase(1, seed=1, maximize=True, solved=1.0, backend=backend)
    assert fast.select(Evaluator([[0.0], [1e-300], [-np.inf]]), 3, 4).indices.tolist() == [1] * 4


def test_known_scores_go_in_and_come_out(backend: str) -> None:
    scores = np.random.default_rng(1).random((6, 9))
    options = {"maximize": True, "solved": 1, "seed": 1, "backend": backend}
    fast = fx.FastLexicase(9, **options)
    expected = outcome(fx.FastLexicase(9, **options).select(Evaluator(scores), 6, 20))
    assert outcome(fast.select(zero_division, 6, 20, known=scores)) == expected
    assert fast.known_errors().tolist() == scores.tolist()
