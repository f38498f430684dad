"""Sizes of pieces, and how many of them are begun."""

from __future__ import annotations

import numpy as np
import pytest

from flexicase.evaluation._pipelined import BatchSizer, even_chunk, next_batch
from simulated_cluster import SimulatedCluster


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
