"""Pieces begun ahead of time, on any number of workers, change what is computed when and nothing else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import flexicase as fx
from flexicase.evaluation import EvaluationError
from flexicase.evaluation._lookahead import Growing
from flexicase.evaluation._pipelined import BatchSizer, even_chunk, next_batch
from simulated_cluster import SimulatedCluster
from tests.selection._helpers import method_of, outcome

N_CASES = 60


def errors_of(seed: int, n_individuals: int, copies: bool) -> np.ndarray:
    rng = np.random.default_rng(seed)
    errors = rng.integers(0, 3, (n_individuals, N_CASES)) * (rng.random((n_individuals, N_CASES)) < 0.4)
    if copies:
        errors[n_individuals // 2 :] = errors[: n_individuals - n_individuals // 2]
    return errors.astype(float)


class Counting:
    """Looks errors up, and remembers which pairs it was asked for."""

    def __init__(self, errors: np.ndarray) -> None:
        self.errors, self.asked = errors, []

    def __call__(self, individuals, cases):
        self.asked += itertools.product(individuals.tolist(), cases.tolist())
        return self.errors[np.ix_(individuals, cases)]


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    n_individuals=st.integers(1, 40),
    copies=st.booleans(),
    workers=st.sampled_from([1, 2, 7, 100]),
    pair_seconds=st.sampled_from([1e-5, 1e-3, 0.02]),
    settings=st.sampled_from(
        [
            {},
            {"method": "ranked-split"},
            {"method": fx.Lexicase(epsilon="mad-dynamic")},
            {"default_weight": "min", "method": method_of(epsilon=1.0)},
            {"stop_on_all_fail": True},
            {"lookahead": 1},
            {"lookahead": 5},
            {"lookahead": Growing(delayed=True)},
        ]
    ),
)
def test_the_outcome_is_that_of_one_case_at_a_time(
    *, seed, n_individuals, copies, workers, pair_seconds, settings
) -> None:
    errors = errors_of(seed, n_individuals, copies)
    careful = fx.FastLexicase(N_CASES, seed=seed, **{**settings, "lookahead": 1})
    expected = careful.select(Counting(errors), n_individuals, 6)
    asked = Counting(errors)
    cluster = SimulatedCluster(asked, workers, pair_seconds=pair_seconds)
    fast = fx.FastLexicase(N_CASES, seed=seed, **settings)
    s = fast.select(cluster, n_individuals, 6)
    assert outcome(s) == outcome(expected)
    assert fast.weights.tolist() == careful.weights.tolist()
    assert int(s.pairs.sum()) == len(asked.asked)
    assert len(set(asked.asked)) == len(asked.asked), "a pair was computed twice"
    assert (s.pairs_unused >= 0).all()
    if settings.get("lookahead") == 1:
        assert int(s.pairs_unused.sum()) == 0


def test_nobody_who_is_beaten_is_evaluated_ahead() -> None:
    """Those that are known to be worse than another on the case that is being looked at will not be in the pool."""
    errors = np.zeros((40, N_CASES))
    errors[:20] = 1.0
    asked = Counting(errors)
    s = fx.FastLexicase(N_CASES, seed=1, lookahead=3).select(SimulatedCluster(asked, 1, pair_seconds=0.02), 40)
    assert sum(individual < 20 for individual, _ in asked.asked) == 20
    assert int(s.pairs_unused.sum()) == 0


def test_no_case_is_looked_at_ahead_when_one_candidate_is_left() -> None:
    errors = np.ones((40, N_CASES))
    errors[0] = 0.0
    asked = Counting(errors)
    fx.FastLexicase(N_CASES, seed=1).select(SimulatedCluster(asked, 1, pair_seconds=1.0), 40)
    assert len(asked.asked) <= 42  # the last ones are not known yet when two more are begun


@pytest.mark.slow
def test_a_memo_without_room_changes_nothing(backend: str) -> None:
    errors = errors_of(1, 30, copies=True)
    plain = fx.FastLexicase(N_CASES, seed=1, backend=backend).select(Counting(errors), 30, 10)
    fast = fx.FastLexicase(N_CASES, seed=1, cache_bytes=2000)
    s = fast.select(SimulatedCluster(Counting(errors), 5, pair_seconds=0.02), 30, 10)
    assert outcome(s) == outcome(plain)
    assert fast.cache_info().n_dropped > 0


def test_pieces_are_of_one_case_or_of_the_whole_pool_on_several() -> None:
    """A piece that is neither could not be cut from the block, or would leave somebody out."""
    asked = []

    def evaluate(individuals, cases):
        asked.append((len(individuals), len(cases)))
        return np.zeros((len(individuals), len(cases)))

    fx.FastLexicase(N_CASES, seed=1).select(SimulatedCluster(evaluate, 2, pair_seconds=1e-3), 7)
    assert sum(m * b for m, b in asked) == 7 * N_CASES
    assert all(b == 1 or m == 7 for m, b in asked)
    assert max(m * b for m, b in asked) >= 15


def test_a_new_population_is_not_mistaken_for_the_old_one() -> None:
    one, other = errors_of(1, 20, copies=False), errors_of(2, 20, copies=False)
    cluster = SimulatedCluster(Counting(one), 4, pair_seconds=0.02)
    fast, twin = (fx.FastLexicase(N_CASES, seed=3) for _ in range(2))
    for errors in (one, other):
        if errors is other:
            cluster.new_population(Counting(other))
        found, expected = fast.select(cluster, 20, 3), twin.select(Counting(errors), 20, 3)
        assert outcome(found) == outcome(expected)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3, 50])
def test_an_error_is_raised_just_where_one_case_at_a_time_would_raise_it(workers: int) -> None:
    """Failures of pieces that turn out not to be needed are nobody's business."""
    errors = errors_of(4, 16, copies=False)

    def fails(individuals, cases):
        if 3 in individuals and {5, 17, 40} & set(cases.tolist()):
            raise ZeroDivisionError("3")
        return errors[np.ix_(individuals, cases)]

    raised = 0
    for seed in range(30):
        careful, fast = (fx.FastLexicase(N_CASES, seed=seed, lookahead=k) for k in (1, "auto"))
        cluster = SimulatedCluster(fails, workers, pair_seconds=0.02)
        try:
            expected = careful.select(fails, 16)
        except EvaluationError:
            raised += 1
            with pytest.raises(EvaluationError, match="ZeroDivisionError"):
                fast.select(cluster, 16)
            assert fast.state_dict()["next_event"] == 0
        else:
            assert outcome(fast.select(cluster, 16)) == outcome(expected)
    assert 0 < raised < 30


@pytest.mark.parametrize(("m", "b", "pairs"), [(1, 1, 1), (7, 9, 1), (7, 9, 4), (7, 9, 20), (7, 9, 1000), (100, 2, 30)])
def test_a_block_is_cut_without_gap_or_overlap(m: int, b: int, pairs: int) -> None:
    covered = np.zeros((m, b), dtype=int)
    row = column = 0
    while column < b:
        rows, columns = next_batch(m, b, row, column, pairs)
        covered[rows, columns] += 1
        row, column = (rows.stop, column) if rows.stop < m else (0, columns.stop)
    assert (covered == 1).all()


@pytest.mark.parametrize("whole", range(1, 40))
def test_shares_are_large_enough_and_leave_no_small_rest(whole: int) -> None:
    for least in (1, 3, 10):
        left = whole
        while left:
            share = even_chunk(left, least)
            assert share >= min(least, whole)
            left -= share


def test_a_piece_grows_to_what_a_call_is_worth_and_shrinks_again() -> None:
    size = BatchSizer()
    for _ in range(30):
        size.observe(size.pairs, 0.002 + 1e-5 * size.pairs)  # a call has a cost of its own
    assert 1000 <= size.pairs <= 1600
    for _ in range(30):
        size.observe(size.pairs, 0.1 * size.pairs)
    assert size.pairs == 1


def test_a_large_piece_tells_more_about_the_cost_than_a_small_one() -> None:
    large, small = BatchSizer(), BatchSizer()
    for size, pairs in ((large, 100), (small, 1)):
        size.observe(1, 0.02)
        size.observe(pairs, 0.001 * pairs)
    assert large.size_for(0, 1) == 15
    assert small.size_for(0, 1) < 15


@pytest.mark.parametrize("workers", [1, 2, 10, 500])
def test_certain_work_is_shared_in_fewer_pieces_than_it_has_units_and_ends_with_small_ones(workers: int) -> None:
    """One message per 15 ms would make the caller the bottleneck; one piece per worker would make all wait for one."""
    size = BatchSizer()
    size.observe(1, 0.02)
    left, sizes = 1000, []
    while left:
        sizes.append(min(left, size.size_for(left, workers)))
        left -= sizes[-1]
    assert max(sizes) * 0.02 <= 0.25
    assert sizes[-1] == 1
    assert len(sizes) < 200 or workers == 500
    assert sizes == sorted(sizes, reverse=True)


def test_nothing_is_made_large_before_the_cost_is_known() -> None:
    assert BatchSizer().size_for(1000, 2) == 1


def test_what_may_not_be_needed_is_not_sent_faster_than_it_can_be() -> None:
    """A caller who is the bottleneck would otherwise delay what is needed for what is not."""
    zeros = lambda i, c: np.zeros((len(i), len(c)))  # noqa: E731
    slow, quick = (SimulatedCluster(zeros, 1000, pair_seconds=0.02, send_seconds=s) for s in (0.001, 1e-6))
    for cluster in (slow, quick):
        cluster.submit(np.array([0]), np.array([0]))
        cluster.collect()
    assert slow.free_slots() == quick.free_slots() == 2000
    assert slow.free_slots(speculative=True) == 20
    assert quick.free_slots(speculative=True) == 1100
