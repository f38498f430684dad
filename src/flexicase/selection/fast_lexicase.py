"""What selection with partial evaluation gives back."""

from __future__ import annotations

import dataclasses
import threading
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import MAX_COUNT, check_choice, check_count, check_number, per_case, room_for, shown
from flexicase._native import FastRun
from flexicase.evaluation._cache import ErrorCache
from flexicase.evaluation._lookahead import LookAhead, check_lookahead
from flexicase.evaluation._pipelined import PipelinedEvaluator
from flexicase.evaluation._protocol import CaseEvaluator
from flexicase.rng import Key, Seed, key_from_seed
from flexicase.selection._fast_events import EventBatch, EventSettings, native_events, run_in_python, run_natively
from flexicase.selection.epsilon import MadEpsilon, resolve_epsilon
from flexicase.selection.orders import ORDERS, OrderName
from flexicase.selection.protocol import Backend, Selection, resolve_backend
from flexicase.selection.select import MAX_EVENTS
from flexicase.selection.weights import CaseWeights, Default, PoolBias, check_upper_bound


@dataclass(slots=True, eq=False)
class FastSelection(Selection):
    """The outcome of ``n`` selection events with partial evaluation.

    ``evaluations_distinct`` is None: whole error vectors are not known.

    Attributes:
        pairs_evaluated: (n,) int64, (individual, case) pairs that each event had computed.
        pairs_speculated: (n,) int64, those of them that the event then did not look at.

    Example:
        >>> import numpy as np
        >>> import flexicase as fx
        >>> errors = np.array([[0, 1], [1, 0], [1, 1]])
        >>> s = fx.FastLexicase(2, seed=1).select(lambda i, c: errors[np.ix_(i, c)], 3)
        >>> s.evaluations.tolist(), s.pairs_evaluated.tolist(), s.pairs_speculated.tolist()
        ([3], [3], [0])
    """

    pairs_evaluated: NDArray[np.int64] | None = None
    pairs_speculated: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, counts: NDArray[np.int64], ended: NDArray[np.uint8]) -> FastSelection:
        """The outcome of some events.

        Args:
            counts: (5, n) parents, evaluations, cases used, pairs evaluated, pairs speculated.
            ended: (n,) why each event ended.
        """
        return cls(counts[0], counts[1], None, counts[2], ended, counts[3], counts[4])


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What the memo holds.

    Attributes:
        pairs: (individual, case) pairs whose errors are kept.
        bytes: Memory they take.
        most_bytes: The most it may take.
        refused: Pairs that were computed but not kept, for want of room.

    Example:
        >>> import flexicase as fx
        >>> fx.FastLexicase(10).memo.pairs
        0
    """

    pairs: int
    bytes: int
    most_bytes: int
    refused: int


MEMORY = 256 * 2**20
BLOCK_SHARE = 8
MAX_LENGTH = 2**31 - 1  # of individuals and of cases, as in a matrix


class FastLexicase:
    """Lexicase selection that evaluates only what it needs (Algorithm 1).

    The errors are asked for in blocks: the candidates left × the next cases. Look-ahead and memo
    change what is computed when, never the outcome. Threads may share a selector: its calls run one after another. An
    evaluator may call the selector that calls it, on the thread on which it is called.

    Args:
        n_cases: Number of cases.
        order: ``"weighted"`` or ``"ranked"`` shuffle by the current weights, or ``"uniform"``.
        bias: What a case's weight becomes when it is looked at: ``"num_nonzeros"`` or
            ``"num_zeros"`` of the pool, plus 1; ``"split"``, largest where half of the pool solves
            the case (see `CaseWeights`); or a callable from the (pool,) errors to a number.
        default: Weight of cases not looked at yet: ``"max"`` or ``"min"``.
        w_min: Smallest weight, above 0.
        w_max: Largest weight; None: individuals + 1, of the first call of `select`. Until then
            `weights` is infinite under ``default="max"``.
        epsilon: How far from the best of the pool a survivor may be: None (not at all), a number,
            one number per case, or ``"mad"``, the median absolute deviation of the pool's errors
            (the dynamic variant: nothing else is known).
        on_all_fail: What a case that nobody in the pool solves (error 0) does: ``"keep"``, it is like any other;
            ``"stop"``, it ends the event with a random choice among the whole population (``ended`` is then 2).
        lookahead: ``"auto"`` grows the blocks while cases filter nobody; ``"patient"`` only once 8 in a row
            have filtered nobody, for evaluators that gain little from blocks of two or four;
            `flexicase.evaluation._lookahead.Growing` grows them from more than one; an int asks
            for that many cases at a time, 1 for none that may not be needed. An evaluator that works on many
            pieces at a time, as `RayEvaluator`, is kept busy as far ahead as that allows, with ``"auto"`` and
            ``"patient"`` up to 16 cases or more.
        memory: Budget in bytes for blocks and memo; of an old memo, up to an eighth of it is kept as room for the next.
        seed: An int, a `numpy.random.Generator`, a `SeedSequence`, or None for fresh randomness.
        backend: ``"native"`` or ``"reference"``, as for `flexicase.Selector`. The native one does not support a
            callable bias, ``on_all_fail="stop"`` and evaluators that work on many pieces at a time: None chooses the
            reference for these, ``"native"`` refuses them. The attribute ``backend`` says which it is.

    Example:
        Of 5 × 1000 pairs, few are computed:

        >>> import numpy as np
        >>> import flexicase as fx
        >>> errors = np.random.default_rng(1).integers(0, 3, (5, 1000))
        >>> fast = fx.FastLexicase(1000, order="weighted", bias="num_nonzeros", default="max", seed=7)
        >>> s = fast.select(lambda individuals, cases: errors[np.ix_(individuals, cases)], 5)
        >>> bool(s.pairs_evaluated.sum() < 50)
        True
    """

    def __init__(
        self,
        n_cases: int,
        *,
        order: OrderName = "weighted",
        bias: PoolBias = "num_nonzeros",
        default: Default = "max",
        w_min: float = 1.0,
        w_max: float | None = None,
        epsilon: float | ArrayLike | str | None = None,
        on_all_fail: Literal["keep", "stop"] = "keep",
        lookahead: LookAhead = "auto",
        memory: int = MEMORY,
        seed: Seed = None,
        backend: Backend | None = None,
    ) -> None:
        """Check everything."""
        self.n_cases = check_count(n_cases, "n_cases", 0, MAX_LENGTH)
        self._weights = CaseWeights(self.n_cases, bias, default, w_min, w_max)
        self._given_w_max = self._weights.w_max
        self._memory = check_count(memory, "memory")
        tolerance, mad = _pool_epsilon(epsilon, self.n_cases)
        self._rule = EventSettings(
            order=check_choice(order, "order", ORDERS),
            epsilon=tolerance,
            mad=mad,
            lookahead=check_lookahead(lookahead),
            block_bytes=self._memory // BLOCK_SHARE,
            stops=check_choice(on_all_fail, "on_all_fail", ("keep", "stop")) == "stop",
        )
        self._asked_backend = backend
        self._backend = self._plain_backend = self._choose_backend(self._not_native())
        self._key = key_from_seed(seed)
        self._next_event = 0
        self._native: FastRun | None = None
        self._memo: ErrorCache | None = None
        self._spare: ErrorCache | None = None
        self._population: Any = None
        self._lock = threading.RLock()

    @property
    def backend(self) -> Backend:
        """The back end of the last call of `select`; before the first, the one that an ordinary evaluator gets."""
        return self._backend

    def _not_native(self) -> str | None:
        """What rules out the native back end, or None."""
        if not isinstance(self._weights.bias, str):
            return "a callable bias"
        return 'on_all_fail="stop"' if self._rule.stops else None

    def _choose_backend(self, obstacle: str | None) -> Backend:
        """The back end that was asked for, or, if none was, one that can do it.

        Raises:
            ValueError: The native one was asked for, and there is an obstacle.
        """
        wanted = resolve_backend(self._asked_backend)
        if obstacle is None or wanted == "reference":
            return wanted
        if self._asked_backend is not None:
            raise ValueError(
                f'backend must be "reference" or None with {obstacle}, which the native back end does not support, '
                'got "native"'
            )
        return "reference"

    @property
    def weights(self) -> NDArray[np.float64]:
        """The current weights: (n_cases,) float64, a read-only copy."""
        values = self._weights.values.copy()
        values.flags.writeable = False
        return values

    @property
    def lookahead(self) -> LookAhead:
        """How many cases are asked for at once; may be changed between calls, which never changes an outcome."""
        return self._rule.lookahead

    @lookahead.setter
    def lookahead(self, lookahead: LookAhead) -> None:
        checked = check_lookahead(lookahead)
        with self._lock:
            if checked != self._rule.lookahead:
                self._rule = dataclasses.replace(self._rule, lookahead=checked)
                self._native = None

    @property
    def memo(self) -> CacheInfo:
        """What the memo holds, and whether it ran out of room."""
        budget = self._memory - self._memory // BLOCK_SHARE
        if self._memo is None:
            return CacheInfo(0, 0, budget, 0)
        store = self._memo.store
        return CacheInfo(store.pairs, store.nbytes, budget, store.refused)

    def new_generation(self) -> None:
        """Forget the errors of the last population; the weights stay."""
        with self._lock:
            self._retire()
            self._memo = self._population = None

    def __getstate__(self) -> dict[str, Any]:
        """What a copy or a pickle takes along: all but the memo."""
        with self._lock:
            empty = dict.fromkeys(("_native", "_memo", "_spare", "_population", "_lock"))
            return self.__dict__ | {"_weights": self._weights.copy()} | empty

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` gave."""
        self.__dict__.update(state)
        self._lock = threading.RLock()

    def select(
        self,
        evaluate: CaseEvaluator,
        n_individuals: int,
        n: int = 1,
        seed: Seed = None,
        *,
        population: Any = None,
    ) -> FastSelection:
        """Select ``n`` parents, with replacement; each event draws its order with the weights as they then stand.

        If anything fails, also by Ctrl-C, the selector is as it was before the call.

        Args:
            evaluate: ``evaluate(individuals, cases)`` gives the (m, b) errors of (m,) individuals
                on (b,) cases, lower is better; called for what is needed, and what look-ahead adds.
            n_individuals: Size of the population; individuals are 0 … n_individuals - 1.
            n: How many parents.
            seed: Draws for this call alone, its events counted from 0. None: the selector's own
                stream goes on.
            population: Anything comparable that stands for the population, such as the number of
                the generation. Errors are remembered from call to call as long as it is the same;
                without it, as long as ``evaluate`` is the same and `new_generation` is not called.

        Raises:
            EvaluationError: The evaluator raised, or did not return (m, b) numbers.
            TypeError: An argument is of the wrong type.
            ValueError: An argument has a value that makes no sense, or the back end asked for does not support this
                evaluator.

        Example:
            >>> import numpy as np
            >>> import flexicase as fx
            >>> errors = np.array([[0, 0], [0, 1], [1, 1]])
            >>> fast = fx.FastLexicase(2, seed=1)
            >>> fast.select(lambda i, c: errors[np.ix_(i, c)], 3, n=4).indices.tolist()
            [0, 0, 0, 0]
        """
        n_individuals = check_count(n_individuals, "n_individuals", 1, MAX_LENGTH)
        n = check_count(n, "n", 0, MAX_EVENTS)
        if not callable(evaluate):
            raise TypeError(f"evaluate must be callable, got {shown(evaluate)}")
        with self._lock:
            return self._select(evaluate, n_individuals, n, seed, population)

    def _select(
        self, evaluate: CaseEvaluator, n_individuals: int, n: int, seed: Seed, population: Any
    ) -> FastSelection:
        key, first = (self._key, self._next_event) if seed is None else (key_from_seed(seed), 0)
        weights = self._weights.settled(n_individuals)
        generation = evaluate.generation if isinstance(evaluate, PipelinedEvaluator) else None
        backend = self._plain_backend
        if generation is not None:
            backend = self._choose_backend(f"a {type(evaluate).__name__}")
        natively = backend == "native"
        if not natively:
            weights = weights.copy()
        token = ("population", population) if population is not None else ("evaluator", evaluate, generation)
        known = self._memo if self._remembers(token, n_individuals) else None
        memo = known or self._empty_memo(n_individuals)
        counts, ended = room_for((5, n), np.int64, "n"), np.empty(n, np.uint8)
        run = EventBatch(self._rule, weights, memo, key, first)
        if known is not None:
            known.store.begin()
        memo.calls += 1
        try:
            if natively:
                self._native = self._native or native_events(self._rule, weights)
                run_natively(self._native, run, evaluate, counts, ended)
            else:
                run_in_python(run, evaluate, counts, ended)
        except BaseException as error:
            memo.store.rollback()
            if isinstance(error, MemoryError):
                raise MemoryError(
                    f"n_individuals and n_cases must fit into memory, got {n_individuals} and {self.n_cases}"
                ) from None
            raise
        finally:
            memo.calls -= 1
        memo.store.commit()
        if known is None:
            self._retire()
        self._weights, self._memo, self._population, self._backend = weights, memo, token, backend
        if seed is None:
            self._next_event += n
        return FastSelection.of(counts, ended)

    def _empty_memo(self, n_individuals: int) -> ErrorCache:
        spare, self._spare = self._spare, None
        if spare is not None and spare.n_individuals == n_individuals:
            spare.store.clear()
            return spare
        block_bytes = self._memory // BLOCK_SHARE
        return ErrorCache(n_individuals, self.n_cases, self._memory - block_bytes, worth_keeping=block_bytes)

    def _retire(self) -> None:
        """Keep the memo's room for the next one, unless it is large or a call is still at work on it."""
        memo = self._memo
        if memo is not None and memo.may_serve_again and not memo.calls:
            self._spare = memo

    def _remembers(self, token: Any, n_individuals: int) -> bool:
        if self._memo is None or self._memo.n_individuals != n_individuals:
            return False
        try:
            return bool(self._population == token)
        except Exception:
            raise TypeError(
                f"population must be comparable with ==, as a number or a string is, got {shown(token[1])}"
            ) from None

    def state_dict(self) -> dict[str, Any]:
        """Weights, random stream and settings, as plain values and arrays; the memo is left out.

        Example:
            >>> import flexicase as fx
            >>> fast = fx.FastLexicase(3, seed=1)
            >>> other = fx.FastLexicase(3)
            >>> other.load_state_dict(fast.state_dict())
            >>> other.state_dict()["key"] == fast.state_dict()["key"]
            True
        """
        return {
            "settings": self._settings(),
            "weights": self._weights.values.copy(),
            "w_max": self._weights.w_max,
            "key": tuple(self._key),
            "next_event": self._next_event,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where `state_dict` was taken; the memo is emptied.

        Raises:
            ValueError: The state is of a selector with other settings, or incomplete.
        """
        if not isinstance(state, dict) or not isinstance(state.get("settings", {}), dict):
            raise TypeError(f"state must be what state_dict returned, with a dict of settings, got {shown(state)}")
        missing = [name for name in ("settings", "weights", "w_max", "key", "next_event") if name not in state]
        if missing:
            raise ValueError(f"state must be what state_dict returned, but has no {', '.join(map(repr, missing))}")
        for name, value in self._settings().items():
            found = state["settings"].get(name)
            if type(found) is not type(value) or found != value:
                raise ValueError(
                    f"state has settings of a selector with {name}={shown(found)}, this one has {name}={shown(value)}"
                )
        values = per_case(state["weights"], self.n_cases, "weights in state")
        w_max = None if state["w_max"] is None else check_number(state["w_max"], "w_max in state")
        if w_max is not None:
            check_upper_bound(w_max, self._weights.w_min, self.n_cases)
        if not ((values >= self._weights.w_min) & (values <= (np.inf if w_max is None else w_max))).all():
            raise ValueError("weights in state must lie between w_min and w_max")
        key = state["key"]
        if not (isinstance(key, list | tuple) and len(key) == 2):
            raise TypeError(f"key in state must be two integers, got {shown(key)}")
        k0, k1 = (check_count(word, "key in state", 0, 2**64 - 1) for word in key)
        next_event = check_count(state["next_event"], "next_event in state", 0, MAX_COUNT // 2)
        with self._lock:
            self._weights = self._weights.copy()
            self._weights.values, self._weights.w_max = values, w_max
            self._key, self._next_event = Key(k0, k1), next_event
            self.new_generation()

    def _settings(self) -> dict[str, Any]:
        bias, epsilon = self._weights.bias, self._rule.epsilon
        return {
            "n_cases": self.n_cases,
            "order": self._rule.order,
            "bias": bias if isinstance(bias, str) else f"callable {getattr(bias, '__qualname__', type(bias).__name__)}",
            "default": self._weights.default,
            "w_min": self._weights.w_min,
            "w_max": self._given_w_max,
            "epsilon": "mad" if self._rule.mad else None if epsilon is None else epsilon.tolist(),
            "on_all_fail": "stop" if self._rule.stops else None,
        }


def _pool_epsilon(epsilon: float | ArrayLike | str | None, n_cases: int) -> tuple[NDArray[np.float64] | None, bool]:
    """The tolerance per case, or that it is the pool's median absolute deviation."""
    checked = resolve_epsilon(epsilon)
    if isinstance(checked, MadEpsilon):
        if isinstance(epsilon, str) and epsilon not in ("mad", "mad-dynamic"):
            raise ValueError(f"epsilon must be of the pool under partial evaluation: 'mad', got {shown(epsilon)}")
        if isinstance(epsilon, MadEpsilon) and epsilon.mode != "dynamic":
            raise ValueError(f"epsilon must be Mad('dynamic') under partial evaluation, got {epsilon!r}")
        return None, True
    if checked is None:
        return None, False
    if checked.ndim == 1 and checked.shape != (n_cases,):
        raise ValueError(f"epsilon must have one number per case: expected shape ({n_cases},), got {checked.shape}")
    return np.ascontiguousarray(np.broadcast_to(checked, (n_cases,))), False
