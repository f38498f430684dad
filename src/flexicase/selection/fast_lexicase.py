"""`FastLexicase`: lexicase selection that evaluates only what it needs; `run_event` is the paper's Algorithm 1."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_flag, per_case, room_for, shown
from flexicase._native import FastRun
from flexicase.evaluation._cache import CacheInfo, ErrorCache, SharedRows
from flexicase.evaluation._lookahead import Blocks, BlockSizer, LookAhead, PairBudget, SequentialBlocks, check_lookahead
from flexicase.evaluation._pipelined import PipelinedEvaluator
from flexicase.evaluation._prefetch import InFlight, PrefetchedBlocks
from flexicase.evaluation._protocol import CaseEvaluator, check_block, check_known, raise_evaluation_error
from flexicase.rng import Lane, Seed, Stream, key_from_seed
from flexicase.selection._fast_events import (
    NATIVE_BIASES,
    CallOptions,
    EventBatch,
    EventSettings,
    check_state,
    choose_backend,
    first_of_each,
    largest_solved_error,
    native_runner,
    partial_method,
    recorded_settings,
)
from flexicase.selection._reference import case_limit, survivors
from flexicase.selection.epsilon import MadEpsilon
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.orders import Uniform, draw_order
from flexicase.selection.protocol import Backend, Ended, FastSelection, Method
from flexicase.selection.select import MAX_EVENTS
from flexicase.selection.weights import CaseWeights, DefaultWeight

CACHE_BYTES = 256 * 2**20
BLOCK_SHARE = 8
MAX_LENGTH = 2**31 - 1  # of individuals and of cases, as in a matrix


def run_event(
    batch: EventBatch, event: int, everyone: NDArray[np.int64], blocks: Blocks
) -> tuple[tuple[int, ...], Ended]:
    """One selection event: the paper's Algorithm 1, on errors along a case order that was drawn with the old weights.

    Returns:
        Parent, evaluations, cases used, pairs, unused pairs, candidates left; and why the event ended.
    """
    settings, weights = batch.settings, batch.weights
    pool, ended = everyone, Ended.ONE_LEFT
    evaluations = cases_used = pairs_used = 0
    while batch.cache.n_distinct(pool) > 1:
        found = blocks.next_case(pool)  # evaluate the candidates on the next case
        if found is None:
            ended = Ended.CASES_EXHAUSTED if cases_used == len(weights.values) else Ended.TRUNCATED
            if blocks.is_over_budget:
                ended = Ended.OUT_OF_BUDGET
            break
        case, answers, computed_now = found
        errors = settings.as_errors(answers)
        above_solved = settings.above_solved(case, errors)
        evaluations += len(pool)
        cases_used += 1
        pairs_used += int(np.count_nonzero(computed_now))
        weights.values[case] = weights.weight_of(above_solved)  # update the weight of the case
        if settings.stop_on_all_fail and above_solved.all():
            pool, ended = everyone, Ended.ALL_FAILED
            break
        pool = pool[survivors(errors, settings.epsilon_for(case, errors))]  # keep the best candidates
    parent = int(pool[Stream.of(batch.key, event, Lane.PICK).bounded(len(pool))])  # one of them at random
    return (parent, evaluations, cases_used, blocks.computed, blocks.computed - pairs_used, len(pool)), ended


def run_in_python(batch: EventBatch) -> None:
    """Run events one after another."""
    settings, evaluate, everyone = batch.settings, batch.evaluate, np.arange(batch.cache.n_individuals)
    in_flight = InFlight(evaluate, batch.cache) if isinstance(evaluate, PipelinedEvaluator) else None
    for i in range(len(batch.ended)):
        weights, event = batch.weights.values, batch.first + i
        order = draw_order(settings.order, batch.key, event, len(weights), weights)
        order = itertools.islice(order, case_limit(settings.max_cases, batch.key, event, len(weights)))
        sizer = BlockSizer(settings.lookahead, settings.block_bytes)
        if in_flight is None:
            blocks: Blocks = SequentialBlocks(order, sizer, batch.cache, evaluate, batch.budget)
        else:
            shared = (settings.lookahead, in_flight, everyone)
            blocks = PrefetchedBlocks(order, sizer, *shared, possible=settings.possible_survivors)
        batch.counts[:, i], batch.ended[i] = run_event(batch, event, everyone, blocks)


class FastLexicase:
    """Lexicase selection that evaluates only what it needs (Algorithm 1).

    Errors are computed in blocks: the candidates left × the next cases. Look-ahead and cache change what is computed
    when, never the outcome. Threads may share a selector; their calls run one after another. An evaluator may call the
    selector that calls it, on the same thread.

    Args:
        method: A lexicase method's name or object, of which order, epsilon and max_cases are used. Whenever a case is
            used, its new weight is the bias of the pool's errors on it, plus 1 (see `CaseWeights`). Epsilon is None, a
            number, one number per case, or ``"mad-dynamic"``.
        default_weight: Weight of cases not used yet: ``"max"`` or ``"min"``.
        w_min: Smallest weight, above 0.
        w_max: Largest weight; by default the largest number of individuals in any call of `select`, plus 1. Cases at
            the largest weight rise with it under ``default_weight="max"``; before the first call they are infinite.
        stop_on_all_fail: Whether a case that no candidate solves ends the event with a random choice from the whole
            population (`Ended.ALL_FAILED`).
        maximize: Whether evaluator, ``known`` and `known_errors` give scores, of which higher is better.
        solved: What solves a case, for biases and ``stop_on_all_fail``: errors up to this number, or scores from it on;
            one number, or one per case, compared as float64. None: an error of exactly 0.
        lookahead: ``"auto"`` grows the blocks while cases filter out no candidate; an int computes that many cases at a
            time. Evaluators that work on many batches at a time, such as `RayEvaluator`, are kept busy that far ahead.
        cache_bytes: Memory for blocks and cached errors.
        seed: As for `flexicase.select`.
        backend: As for `flexicase.select`. The native one supports the biases num_nonzeros, num_zeros and split, but
            neither ``stop_on_all_fail`` nor evaluators that work on many batches at a time: for these None chooses the
            reference and ``"native"`` raises. The attribute ``backend`` tells which it is.

    Example:
        Of 5 × 1000 pairs, few are computed:

        >>> import numpy as np
        >>> import flexicase as fx
        >>> errors = np.random.default_rng(1).integers(0, 3, (5, 1000))
        >>> fast = fx.FastLexicase(1000, "weighted-num-nonzeros", default_weight="max", seed=7)
        >>> s = fast.select(lambda individuals, cases: errors[np.ix_(individuals, cases)], 5)
        >>> bool(s.pairs.sum() < 50)
        True
    """

    def __init__(
        self,
        n_cases: int,
        method: str | Method = "weighted-num-nonzeros",
        *,
        default_weight: DefaultWeight = "max",
        w_min: float = 1.0,
        w_max: float | None = None,
        stop_on_all_fail: bool = False,
        maximize: bool = False,
        solved: ArrayLike | None = None,
        lookahead: Literal["auto"] | int = "auto",
        cache_bytes: int = CACHE_BYTES,
        seed: Seed = None,
        backend: Backend | None = None,
    ) -> None:
        self.n_cases = check_count(n_cases, "n_cases", 0, MAX_LENGTH)
        self._method = chosen = partial_method(method)
        bias: Any = "num_nonzeros" if isinstance(chosen.order, Uniform) else chosen.order.bias
        self._weights = CaseWeights(self.n_cases, bias, default_weight, w_min, w_max)
        self._cache_bytes = check_count(cache_bytes, "cache_bytes")
        epsilon = chosen.epsilon
        self._settings = EventSettings(
            order=chosen.order.kind,
            epsilon=per_case(epsilon, self.n_cases, "epsilon") if isinstance(epsilon, np.ndarray) else None,
            mad=isinstance(epsilon, MadEpsilon),
            lookahead=check_lookahead(lookahead),
            block_bytes=self._cache_bytes // BLOCK_SHARE,
            stop_on_all_fail=check_flag(stop_on_all_fail, "stop_on_all_fail"),
            max_cases=chosen.max_cases,
            maximize=check_flag(maximize, "maximize"),
            solved=largest_solved_error(solved, self.n_cases, maximize),
        )
        self._asked_backend = backend
        self._backend = self._plain_backend = choose_backend(backend, self._not_native())
        self._key = key_from_seed(seed)
        self._next_event = 0
        self._native: FastRun | None = None
        self._cache: ErrorCache | None = None
        self._spare_cache: ErrorCache | None = None
        self._cache_key: Any = None
        self._lock = threading.RLock()

    @property
    def method(self) -> Lexicase:
        """The lexicase method, of which order, epsilon and max_cases are used."""
        return self._method

    @property
    def backend(self) -> Backend:
        """The backend of the last call of `select`; before the first, the one for an ordinary evaluator."""
        return self._backend

    def _not_native(self) -> str | None:
        """What the native backend does not support, or None."""
        bias = self._weights.bias
        if not isinstance(bias, str) or bias not in NATIVE_BIASES:
            return f"bias {shown(bias)}"
        return "stop_on_all_fail" if self._settings.stop_on_all_fail else None

    @property
    def weights(self) -> NDArray[np.float64]:
        """The current weights: (n_cases,) float64, a read-only copy."""
        values = self._weights.values.copy()
        values.flags.writeable = False
        return values

    @property
    def lookahead(self) -> LookAhead:
        """How many cases are asked for at once; may be changed between calls, which never changes an outcome."""
        return self._settings.lookahead

    @lookahead.setter
    def lookahead(self, lookahead: LookAhead) -> None:
        checked = check_lookahead(lookahead)
        with self._lock:
            if checked != self._settings.lookahead:
                self._settings = dataclasses.replace(self._settings, lookahead=checked)
                self._native = None

    def cache_info(self) -> CacheInfo:
        """What the error cache holds, and whether it ran out of memory."""
        budget = self._cache_bytes - self._cache_bytes // BLOCK_SHARE
        if self._cache is None:
            return CacheInfo(0, 0, budget, 0)
        store = self._cache.store
        return CacheInfo(store.pairs, store.nbytes, budget, store.refused)

    def known_errors(self) -> NDArray[np.float64]:
        """(n_individuals, n_cases) errors of the last population that are cached, NaN where unknown.

        Hand them to the next call as ``known``, with rows of NaN for new individuals, when a population grows.
        """
        with self._lock:
            return np.empty((0, self.n_cases)) if self._cache is None else self._cache.known()

    def clear_cache(self) -> None:
        """Forget the errors of the last population; the weights stay."""
        with self._lock:
            self._recycle_cache()
            self._cache = self._cache_key = None

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the cache, which a copy or a pickle leaves behind."""
        with self._lock:
            empty = dict.fromkeys(("_native", "_cache", "_spare_cache", "_cache_key", "_lock"))
            return self.__dict__ | {"_weights": self._weights.copy()} | empty

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def select(
        self,
        evaluate: CaseEvaluator,
        n_individuals: int,
        n: int = 1,
        *,
        seed: Seed = None,
        cache_key: Any = None,
        known: ArrayLike | None = None,
        budget: int | None = None,
        same_as: Sequence[Hashable] | None = None,
    ) -> FastSelection:
        """Select ``n`` parents, with replacement; each event draws its order by the current weights.

        If the call fails or is interrupted, the selector is as it was before.

        Args:
            evaluate: ``evaluate(individuals, cases)`` gives (m, b) errors or scores of (m,) individuals on (b,) cases.
            n_individuals: Size of the population; individuals are 0 … n_individuals - 1.
            n: Number of parents.
            seed: Draws for this call alone, its events counted from 0. None: the selector's own stream goes on.
            cache_key: Anything comparable that identifies the population, such as the number of the generation. Errors
                are cached from call to call as long as it is the same; without it, as long as ``evaluate`` is the same
                and `clear_cache` is not called.
            known: (n_individuals, n_cases) errors that are known already, NaN where unknown. They are cached, not
                evaluated, and not counted as ``pairs``.
            budget: Pairs that this call may compute, at most. An event whose next case needs more ends there, with a
                random choice from the pool so far (`Ended.OUT_OF_BUDGET`). Pairs computed ahead are paid for.
            same_as: (n_individuals,) labels, equal for copies, such as the texts of prompts. Only the first of several
                copies is evaluated, and an event ends when copies alone are left (`Ended.ONE_LEFT`).

        Raises:
            EvaluationError: The evaluator raised, or did not return (m, b) numbers.
        """
        n_individuals = check_count(n_individuals, "n_individuals", 1, MAX_LENGTH)
        n = check_count(n, "n", 0, MAX_EVENTS)
        if not callable(evaluate):
            raise TypeError(f"evaluate must be callable, got {shown(evaluate)}")
        options = CallOptions(
            None if known is None else check_known(known, (n_individuals, self.n_cases)),
            None if budget is None else PairBudget(check_count(budget, "budget")),
            None if same_as is None else first_of_each(same_as, n_individuals),
        )
        with self._lock:
            return self._select(evaluate, n_individuals, n, options, seed=seed, cache_key=cache_key)

    def _select(
        self, evaluate: CaseEvaluator, n_individuals: int, n: int, options: CallOptions, *, seed: Seed, cache_key: Any
    ) -> FastSelection:
        key, first = (self._key, self._next_event) if seed is None else (key_from_seed(seed), 0)
        weights = self._weights.with_bounds_for(n_individuals)
        generation = evaluate.generation if isinstance(evaluate, PipelinedEvaluator) else None
        obstacle = options.obstacle(evaluate)
        backend = self._plain_backend if obstacle is None else choose_backend(self._asked_backend, obstacle)
        if backend == "reference":
            weights = weights.copy()
        token = ("cache_key", cache_key) if cache_key is not None else ("evaluator", evaluate, generation)
        valid = self._valid_cache(token, n_individuals)
        cache = self._empty_cache(n_individuals) if valid is None else valid
        counts, ended = room_for((6, n), np.int64, "n"), np.empty(n, np.uint8)
        try:
            with cache.transaction():
                errors = cache if options.first is None else SharedRows(cache, options.first)
                if options.known is not None:
                    errors.add(options.known)
                if backend == "native":
                    self._native = native = self._native or native_runner(self._settings, weights)
                    values, revision, w_max = weights.values, weights.revision, weights.w_max
                    assert w_max is not None
                    called = (evaluate, check_block, raise_evaluation_error)
                    weights.revision = native.select(
                        cache.store, values, revision, w_max, key.k0, key.k1, first, counts, ended, *called
                    )
                else:
                    shared = (self._settings, weights, errors, evaluate, options.budget)
                    run_in_python(EventBatch(*shared, key, first, counts, ended))
        except MemoryError:
            raise MemoryError(
                f"n_individuals and n_cases must fit into memory, got {n_individuals} and {self.n_cases}"
            ) from None
        if valid is None:
            self._recycle_cache()
        self._weights, self._cache, self._cache_key, self._backend = weights, cache, token, backend
        if seed is None:
            self._next_event += n
        return FastSelection(counts, ended)

    def _empty_cache(self, n_individuals: int) -> ErrorCache:
        spare, self._spare_cache = self._spare_cache, None
        if spare is not None and spare.n_individuals == n_individuals:
            spare.clear()
            return spare
        reuse_limit = self._cache_bytes // BLOCK_SHARE
        return ErrorCache(n_individuals, self.n_cases, self._cache_bytes - reuse_limit, reuse_limit)

    def _recycle_cache(self) -> None:
        """Keep the memory of the cache for the next one, unless it is large or still in use."""
        cache = self._cache
        if cache is not None and cache.is_reusable and not cache.n_users:
            self._spare_cache = cache

    def _valid_cache(self, token: Any, n_individuals: int) -> ErrorCache | None:
        if self._cache is None or self._cache.n_individuals != n_individuals:
            return None
        try:
            return self._cache if self._cache_key == token else None
        except Exception:
            raise TypeError(
                f"cache_key must be comparable with ==, as a number or a string is, got {shown(token[1])}"
            ) from None

    def state_dict(self) -> dict[str, Any]:
        """Weights, random stream and settings, as plain values and arrays; without the cache.

        Example:
            >>> import flexicase as fx
            >>> fast, other = fx.FastLexicase(3, seed=1), fx.FastLexicase(3)
            >>> other.load_state_dict(fast.state_dict())
            >>> other.state_dict()["key"] == fast.state_dict()["key"]
            True
        """
        return {
            "settings": recorded_settings(self._settings, self._weights),
            "weights": self._weights.values.copy(),
            "w_max": self._weights.w_max,
            "key": tuple(self._key),
            "next_event": self._next_event,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue where the selector that `state_dict` describes left off; it must have the same settings."""
        settings = recorded_settings(self._settings, self._weights)
        values, w_max, key, next_event = check_state(state, settings, self._weights)
        with self._lock:
            self._weights = self._weights.copy()
            self._weights.values, self._weights.w_max = values, w_max
            self._key, self._next_event = key, next_event
            self.clear_cache()
