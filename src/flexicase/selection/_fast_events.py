"""Algorithm 1 replayed over a block of errors that were computed together.

The native twin is native/select/fast/replay.cpp.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase._native import FastRun
from flexicase.evaluation._cache import ErrorCache
from flexicase.evaluation._lookahead import BYTES_PER_PAIR, MAX_CASES, BlockSizer, Growing, LookAhead, SequentialBlocks
from flexicase.evaluation._pipelined import PipelinedEvaluator
from flexicase.evaluation._prefetch import InFlight, PrefetchedBlocks
from flexicase.evaluation._protocol import CaseEvaluator, check_block, raise_evaluation_error
from flexicase.rng import Key, Lane, Stream
from flexicase.selection._reference import survivors
from flexicase.selection.epsilon import median_absolute_deviation
from flexicase.selection.orders import OrderKind, draw_order
from flexicase.selection.protocol import Ended
from flexicase.selection.weights import CaseWeights


@dataclass(frozen=True, slots=True, eq=False)
class BlockOutcome:
    """What one block did to the pool.

    Attributes:
        survivors: (k,) rows of the block that are still in the pool.
        visited: How many of the block's cases were looked at.
        evaluations: Sizes of the pool before each of them, summed.
        fresh_used: How many of the pairs looked at had been computed for this block.
        last_filter: Position of the last case that removed anybody, or None.
        stopped: Whether the last case looked at is one that nobody in the pool solved, and that ends the event.
    """

    survivors: NDArray[np.int64]
    visited: int
    evaluations: int
    fresh_used: int
    last_filter: int | None
    stopped: bool = False


def apply_block(
    block: NDArray[np.float64],
    fresh: NDArray[np.bool_],
    cases: NDArray[np.int64],
    weights: CaseWeights,
    *,
    epsilon: NDArray[np.float64] | None,
    mad: bool,
    stop_on_all_fail: bool = False,
) -> BlockOutcome:
    """Look at the cases one after another until one candidate is left.

    Args:
        block: (m, b) errors of the pool on the next cases.
        fresh: (m, b) which of them were computed for this block.
        cases: (b,) the cases; those looked at get a new weight.
        weights: The weights to renew.
        epsilon: (b,) how far from the best a survivor may be on each case; None: not at all.
        mad: Use the median absolute deviation of the pool instead.
        stop_on_all_fail: Whether a case on which no candidate has error 0 ends the event.
    """
    rows = np.arange(len(block))
    visited = evaluations = fresh_used = 0
    last_filter = None
    for j, case in enumerate(cases.tolist()):
        if len(rows) == 1:
            break
        errors = block[rows, j]
        weights.values[case] = weights.weight_of(errors)
        visited += 1
        evaluations += len(rows)
        fresh_used += int(np.count_nonzero(fresh[rows, j]))
        if stop_on_all_fail and errors.all():
            return BlockOutcome(rows, visited, evaluations, fresh_used, last_filter, stopped=True)
        tolerance = median_absolute_deviation(errors) if mad else None if epsilon is None else float(epsilon[j])
        close = survivors(errors, tolerance)
        if not close.all():
            rows, last_filter = rows[close], j
    return BlockOutcome(rows, visited, evaluations, fresh_used, last_filter)


NATIVE_BIASES = {"num_nonzeros": 0, "num_zeros": 1, "split": 2}
Blocks: TypeAlias = SequentialBlocks | PrefetchedBlocks


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EventSettings:
    """How every event of a selector goes.

    Attributes:
        order: Which shuffle.
        epsilon: (n_cases,) how far from the best a survivor may be, or None.
        mad: Use the median absolute deviation of the pool instead.
        lookahead: How many cases to ask for at once.
        block_bytes: Memory budget of a block.
        stop_on_all_fail: Whether a case that no candidate solves ends the event.
    """

    order: OrderKind
    epsilon: NDArray[np.float64] | None
    mad: bool
    lookahead: LookAhead
    block_bytes: int
    stop_on_all_fail: bool = False

    def tolerance(self, case: int) -> float:
        """How far from the best a survivor may be on a case, whoever is in the pool."""
        if self.mad:
            return math.inf
        return 0.0 if self.epsilon is None else float(self.epsilon[case])


@dataclass(slots=True, eq=False)
class EventBatch:
    """Some events, and what they share.

    Attributes:
        rule: How they go.
        weights: The weights, renewed by each event.
        memo: The errors known.
        key: Key of the random streams.
        first: Number of the first event.
    """

    rule: EventSettings
    weights: CaseWeights
    memo: ErrorCache
    key: Key
    first: int


def run_in_python(
    run: EventBatch, evaluate: CaseEvaluator, counts: NDArray[np.int64], ended: NDArray[np.uint8]
) -> None:
    """Run events one after another.

    Args:
        run: The events.
        evaluate: Who computes unknown errors.
        counts: (5, n) gets parents, evaluations, cases used, pairs evaluated, pairs speculated.
        ended: (n,) gets why each event ended.
    """
    flight = InFlight(evaluate, run.memo) if isinstance(evaluate, PipelinedEvaluator) else None
    for i in range(len(ended)):
        event = run.first + i
        values = run.weights.values
        order = draw_order(run.rule.order, run.key, event, len(values), values)
        size = BlockSizer(run.rule.lookahead, run.rule.block_bytes)
        everyone = np.arange(run.memo.n_individuals)
        if flight is None:
            blocks: Blocks = SequentialBlocks(order, size, run.memo, evaluate)
        else:
            blocks = PrefetchedBlocks(order, size, run.rule.lookahead, flight, everyone, tolerance=run.rule.tolerance)
        counts[:, i], ended[i] = _event(run, event, everyone, blocks)


def _event(run: EventBatch, event: int, pool: NDArray[np.int64], blocks: Blocks) -> tuple[tuple[int, ...], Ended]:
    rule, weights = run.rule, run.weights
    evaluations = cases_used = needed = 0
    ended = Ended.ONE_LEFT
    while len(pool) > 1:
        found = blocks.next(pool)
        if found is None:
            ended = Ended.CASES_EXHAUSTED
            break
        cases, errors, fresh = found
        epsilon = None if rule.epsilon is None else rule.epsilon[cases]
        step = apply_block(
            errors, fresh, cases, weights, epsilon=epsilon, mad=rule.mad, stop_on_all_fail=rule.stop_on_all_fail
        )
        blocks.observe(step.visited, step.last_filter)
        pool = pool[step.survivors]
        evaluations += step.evaluations
        cases_used += step.visited
        needed += step.fresh_used
        if step.stopped:
            pool, ended = np.arange(run.memo.n_individuals), Ended.ALL_FAILED
            break
    parent = int(pool[Stream.of(run.key, event, Lane.PICK).bounded(len(pool))])
    return (parent, evaluations, cases_used, blocks.computed, blocks.computed - needed), ended


def native_events(rule: EventSettings, weights: CaseWeights) -> FastRun:
    """The native runner of a selector's events; it keeps its working memory from call to call."""
    assert isinstance(weights.bias, str)
    return FastRun(
        len(weights.values),
        rule.order,
        NATIVE_BIASES[weights.bias],
        weights.w_min,
        rule.epsilon,
        rule.mad,
        *_native_lookahead(rule.lookahead),
        rule.block_bytes // BYTES_PER_PAIR,
    )


def _native_lookahead(lookahead: LookAhead) -> tuple[int, int]:
    """The kind of look-ahead, or the fixed number of cases; and the least block of one that adapts."""
    if isinstance(lookahead, int):
        return min(lookahead, MAX_CASES), 1
    growing = Growing() if lookahead == "auto" else lookahead
    return -1 if growing.delayed else 0, growing.min_cases


def run_natively(
    native: FastRun, run: EventBatch, evaluate: CaseEvaluator, counts: NDArray[np.int64], ended: NDArray[np.uint8]
) -> None:
    """The same as `run_in_python`, natively: also the calls of the evaluator, and the checks of ordinary answers.

    The weights are renewed when all is done, and only then.
    """
    weights, (k0, k1) = run.weights, run.key
    assert weights.w_max is not None
    weights.revision = native.select(
        run.memo.store,
        weights.values,
        weights.revision,
        weights.w_max,
        k0,
        k1,
        run.first,
        counts,
        ended,
        evaluate,
        check_block,
        raise_evaluation_error,
    )
