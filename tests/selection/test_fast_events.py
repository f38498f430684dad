"""The native events of Fast Lexicase: the answers they read themselves, and what they keep from event to event."""

from __future__ import annotations

import copy
import pickle
import signal

import numpy as np
import pytest

import flexicase as fx
from flexicase.evaluation._lookahead import Growing
from tests.hostile.values import EFFORT
from tests.selection._helpers import Evaluator, method_of, outcome

N_INDIVIDUALS, N_CASES = 30, 2300


def sparse_errors(seed: int) -> np.ndarray:
    """Errors on which events look at some cases, but not at most."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 3, (N_INDIVIDUALS, N_CASES)) * (rng.random((N_INDIVIDUALS, N_CASES)) < 0.15)


@pytest.mark.slow
@pytest.mark.parametrize("bounds", [(1.0, None), (0.3, None), (1.0, 2.0**45), (2.0**31, 2.0**31 + 5.0)])
@pytest.mark.parametrize("order", ["weighted", "ranked", "uniform"])
def test_weights_kept_up_to_date_give_the_orders_of_the_definition(order: str, bounds: tuple) -> None:
    """A few weights change from event to event: sums and ranks must be those of all of them, summed in sequence."""
    errors = sparse_errors(1)
    selectors = [
        fx.FastLexicase(N_CASES, method_of(order), w_min=bounds[0], w_max=bounds[1], seed=5, backend=backend)
        for backend in ("native", "reference")
    ]
    for n in (1, 12, 1, 1):
        found = [outcome(fast.select(Evaluator(errors), N_INDIVIDUALS, n)) for fast in selectors]
        assert found[0] == found[1]
        assert selectors[0].weights.tolist() == selectors[1].weights.tolist()


class _Refused(Exception):
    """What an evaluator raises to make a call fail."""


def _history(backend: str, order: str, seed: int) -> list[object]:
    """What a selector gives and holds over calls that end well, fail, happen within each other or on copies."""
    rng, errors = np.random.default_rng(seed), sparse_errors(seed)
    fast, seen = fx.FastLexicase(N_CASES, method_of(order), seed=seed, backend=backend), []

    def fails(_individuals: np.ndarray, _cases: np.ndarray) -> np.ndarray:
        raise _Refused

    def nests(individuals: np.ndarray, cases: np.ndarray) -> np.ndarray:
        seen.append(fast.select(Evaluator(errors), N_INDIVIDUALS, 1, seed=int(cases[0])).indices.tolist())
        return errors[np.ix_(individuals, cases)]

    for _ in range(30):
        event = rng.choice(["select", "select", "select", "many", "fail", "nest", "copy", "load", "look-ahead"])
        if event == "fail":
            with pytest.raises(fx.EvaluationError):
                fast.select(fails, N_INDIVIDUALS, 2)
        elif event == "nest":
            seen.append(outcome(fast.select(nests, N_INDIVIDUALS, 2)))
        elif event == "copy":
            fast, left = copy.copy(fast), fast
            left.select(Evaluator(errors), N_INDIVIDUALS, 3)
        elif event == "load":
            fast.load_state_dict(fast.state_dict())
        elif event == "look-ahead":
            fast.lookahead = ("auto", Growing(delayed=True), 1, 3)[rng.integers(4)]
        else:
            n = 400 if event == "many" else int(rng.integers(1, 4))
            seen.append(outcome(fast.select(Evaluator(errors), N_INDIVIDUALS, n)))
        seen.append(fast.weights.tolist())
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("order", ["weighted", "ranked", "uniform"])
@pytest.mark.parametrize("seed", range(EFFORT))
def test_any_history_of_calls_leaves_the_weights_of_the_definition(order: str, seed: int) -> None:
    """The native run keeps a copy of the weights from call to call; a call it missed would leave it out of date."""
    assert _history("native", order, seed) == _history("reference", order, seed)


@pytest.mark.parametrize("order", ["weighted", "ranked"])
def test_weights_put_in_from_outside_are_noticed(order: str) -> None:
    """What native code keeps of the old weights would otherwise order the next event."""
    errors = sparse_errors(2)
    fast, fresh = (fx.FastLexicase(N_CASES, method_of(order), w_max=40.0, seed=5) for _ in range(2))
    fast.select(Evaluator(errors), N_INDIVIDUALS, 5)
    weights = np.random.default_rng(3).integers(1, 40, N_CASES).astype(float)
    state = fast.state_dict() | {"weights": weights}
    for selector in (fast, fresh):
        selector.load_state_dict(state)
    results = [outcome(f.select(Evaluator(errors), N_INDIVIDUALS, 5)) for f in (fast, fresh)]
    assert results[0] == results[1]


def big_endian(block: np.ndarray) -> np.ndarray:
    return block.astype(">f8")


def unaligned(block: np.ndarray) -> np.ndarray:
    packed = np.zeros(block.shape, dtype=np.dtype([("pad", "i1"), ("error", "f8")]))
    packed["error"] = block
    return packed["error"]


def reversed_twice(block: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(block[::-1, ::-1].astype(np.int16))[::-1, ::-1]


def read_only(block: np.ndarray) -> np.ndarray:
    block.flags.writeable = False
    return block


KINDS = {
    **{name: lambda block, name=name: block.astype(name) for name in ("u1", "u2", "u4", "u8", "i2", "i4", "f2", "f4")},
    "longdouble": lambda block: block.astype(np.longdouble),
    "objects": lambda block: block.astype(object),
    "bools of ones": lambda block: block.astype(bool),
    "big endian": big_endian,
    "unaligned": unaligned,
    "negative strides": reversed_twice,
    "read-only": read_only,
    "masked": np.ma.MaskedArray,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_array_is_read_rightly(kind: str) -> None:
    errors = sparse_errors(4) if kind != "bools of ones" else sparse_errors(4) != 0
    answer = KINDS[kind]
    one, two = fx.FastLexicase(N_CASES, seed=3), fx.FastLexicase(N_CASES, seed=3)
    read = one.select(lambda i, c: answer(errors[np.ix_(i, c)]), N_INDIVIDUALS, 5)
    assert outcome(read) == outcome(two.select(Evaluator(errors), N_INDIVIDUALS, 5))


def test_negative_errors_keep_their_sign() -> None:
    """Signed and unsigned types of one width must not be taken for each other."""
    for kind in (np.int8, np.int16, np.int32, np.int64):
        errors = np.array([[-1, -1], [0, 0], [5, 5]], dtype=kind)
        assert fx.FastLexicase(2, seed=1).select(lambda i, c, e=errors: e[np.ix_(i, c)], 3).indices[0] == 0


@pytest.mark.parametrize("largest", [2**53, -(2**53)])
def test_the_largest_exact_integers_are_accepted(largest: int) -> None:
    errors = np.array([[largest], [largest + (1 if largest < 0 else -1)]])
    s = fx.FastLexicase(1, seed=1).select(lambda i, c: errors[np.ix_(i, c)], 2)
    assert s.indices.tolist() == [0 if largest < 0 else 1]


def test_index_arrays_may_be_kept() -> None:
    """Arrays that are cut from one piece of memory must not change when later ones are made."""
    errors = sparse_errors(5)
    kept, copied = [], []

    def evaluate(individuals, cases):
        kept.append((individuals, cases))
        copied.append((individuals.tolist(), cases.tolist()))
        return errors[np.ix_(individuals, cases)]

    fast = fx.FastLexicase(N_CASES, seed=6)
    for _ in range(4):
        fast.select(evaluate, N_INDIVIDUALS, 20)
        fast.clear_cache()
    assert [(i.tolist(), c.tolist()) for i, c in kept] == copied
    assert all(i.flags.writeable and i.dtype == np.int64 for i, _ in kept)


def test_an_evaluator_may_use_the_selector_itself() -> None:
    """Working memory that is kept from call to call belongs to one call at a time."""
    errors, others = sparse_errors(7), sparse_errors(8)
    fast, plain = (fx.FastLexicase(N_CASES, seed=6) for _ in range(2))
    inner = []

    def evaluate(individuals, cases):
        if len(inner) < 6:
            inner.append(fast.select(Evaluator(others), N_INDIVIDUALS, 3, seed=len(inner)).indices.tolist())
        return errors[np.ix_(individuals, cases)]

    found = outcome(fast.select(evaluate, N_INDIVIDUALS, 10, cache_key="outer"))
    assert len(inner) == 6
    assert found == outcome(plain.select(Evaluator(errors), N_INDIVIDUALS, 10, cache_key="outer"))


def test_room_that_is_used_again_has_nothing_in_it() -> None:
    """The errors of an old generation would otherwise be taken for those of the new one."""
    fast, plain = (fx.FastLexicase(N_CASES, seed=6) for _ in range(2))
    for generation in range(5):
        errors = sparse_errors(10 + generation)
        evaluate = Evaluator(errors)
        if generation % 2:
            fast.clear_cache()
        found = fast.select(evaluate, N_INDIVIDUALS, 6)
        again = fx.FastLexicase(N_CASES, seed=6)
        again.load_state_dict(plain.state_dict())
        assert outcome(found) == outcome(again.select(Evaluator(errors), N_INDIVIDUALS, 6))
        assert found.pairs.sum() == len(evaluate.pairs) == fast.cache_info().pairs
        plain = again


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs an alarm clock")
def test_events_that_need_no_evaluator_can_be_interrupted() -> None:
    """Native code that never comes back to Python would not notice Ctrl-C before the last of a million events."""
    fast = fx.FastLexicase(200, seed=6, lookahead=200)
    evaluate = Evaluator(np.zeros((8, 200)))
    fast.select(evaluate, 8)
    weights, state = fast.weights.tolist(), fast.state_dict()["next_event"]
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            fast.select(evaluate, 8, 1_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert (fast.weights.tolist(), fast.state_dict()["next_event"], len(evaluate.asked)) == (weights, state, 1)


def test_a_copy_goes_on_alike_without_the_memo() -> None:
    errors = sparse_errors(20)
    fast = fx.FastLexicase(N_CASES, seed=6)
    fast.select(Evaluator(errors), N_INDIVIDUALS, 3)
    twins = [copy.deepcopy(fast), pickle.loads(pickle.dumps(fast))]
    assert all(twin.cache_info().pairs == 0 for twin in twins)
    expected = outcome(fast.select(Evaluator(errors), N_INDIVIDUALS, 3))
    assert [outcome(twin.select(Evaluator(errors), N_INDIVIDUALS, 3)) for twin in twins] == [expected] * 2
