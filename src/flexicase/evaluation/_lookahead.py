"""Look-ahead: how many of the next cases to compute at once, and the errors of an event's pool, case after case.

One call per case wastes the fixed cost of every call; whole orders waste evaluations. The number of cases starts at 1
and doubles while cases filter out no candidate. When the pool shrinks, it restarts from the number of cases that had
filtered out none before. A delayed look-ahead does this only after 8 cases in a row have filtered out no candidate: for
an evaluator whose time is proportional to the cases, computing ahead costs more than it saves before.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import check_choice, check_count
from flexicase.evaluation._cache import ErrorCache
from flexicase.evaluation._protocol import CaseEvaluator

Indices: TypeAlias = NDArray[np.int64]

GROWTH_DELAY = 8
BYTES_PER_PAIR = 8
MAX_CASES = 2**40


@dataclass(frozen=True, slots=True)
class Growing:
    """Look-ahead whose blocks grow. ``"auto"`` is ``Growing()``; the others are private to `flexicase.torch`.

    Attributes:
        min_cases: Cases of a block after the first case of an event, at least.
        delayed: Whether blocks grow only after 8 cases in a row have filtered out no candidate.
        max_pairs: Pairs of a block, at most.
    """

    min_cases: int = 1
    delayed: bool = False
    max_pairs: int = MAX_CASES

    def __post_init__(self) -> None:
        object.__setattr__(self, "min_cases", min(check_count(self.min_cases, "min_cases", 1), MAX_CASES))


LookAhead: TypeAlias = Literal["auto"] | int | Growing


def check_lookahead(lookahead: Any) -> LookAhead:
    """``"auto"`` or a positive number of cases; or a `Growing`, which is internal."""
    if isinstance(lookahead, Growing):
        return lookahead
    if isinstance(lookahead, str):
        return check_choice(lookahead, "lookahead", ("auto",))  # type: ignore[return-value]
    return check_count(lookahead, "lookahead", 1)


class BlockSizer:
    """The number of cases to compute next, within one selection event; a block has at least one case."""

    __slots__ = ("_cases_without_filter", "_delay", "_fixed", "_min_cases", "_wanted", "max_pairs")

    def __init__(self, lookahead: LookAhead, max_bytes: int) -> None:
        growing = lookahead if isinstance(lookahead, Growing) else Growing()
        self._fixed = isinstance(lookahead, int)
        self._wanted = lookahead if isinstance(lookahead, int) else 1
        self._min_cases = growing.min_cases
        self._delay = GROWTH_DELAY if growing.delayed else 0
        self.max_pairs = min(max_bytes // BYTES_PER_PAIR, growing.max_pairs)
        self._cases_without_filter = 0

    def n_cases(self, pool: int) -> int:
        """The number of cases to compute with ``pool`` candidates left."""
        return max(1, min(self._wanted, self.max_pairs // pool))

    def observe(self, cases_used: int, last_filtering: int | None) -> None:
        """Learn from a block: the cases used, and the position of the last that filtered out a candidate, or None."""
        if self._fixed:
            return
        if last_filtering is None:
            self._cases_without_filter += cases_used
            if self._cases_without_filter >= self._delay:
                self._wanted *= 2
        else:
            before = self._cases_without_filter + last_filtering
            self._cases_without_filter = cases_used - last_filtering - 1
            lasted = max(before, self._cases_without_filter)
            self._wanted = 1 if lasted < self._delay else lasted
        self._wanted = max(self._wanted, self._min_cases)


def take(cases: Iterator[int], count: int) -> Indices:
    """The next (count,) cases, or as many as are left."""
    return np.array(list(itertools.islice(cases, count)), dtype=np.int64)


class Block(NamedTuple):
    """The (pool, b) errors of the pool on the next (b,) cases, and (pool, b) which of them this event computed."""

    cases: Indices
    errors: NDArray[np.float64]
    computed_now: NDArray[np.bool_]


class CaseErrors(NamedTuple):
    """The (pool,) errors on the next case, and (pool,) which of them this event computed."""

    case: int
    errors: NDArray[np.float64]
    computed_now: NDArray[np.bool_]


class PairBudget:
    """The pairs that may still be computed, shared by the events of a call."""

    __slots__ = ("left",)

    def __init__(self, pairs: int) -> None:
        self.left = pairs

    def n_affordable(self, missing: NDArray[np.bool_]) -> int:
        """The number of cases, from the first one on, whose (pool, b) missing pairs can all be computed."""
        return int(np.searchsorted(np.cumsum(np.count_nonzero(missing, axis=0)), self.left, side="right"))


class Blocks:
    """The errors of one event along its order, fetched in blocks.

    ``computed`` counts the pairs computed so far; ``is_over_budget`` tells whether the next case costs too much.
    """

    def __init__(self, sizer: BlockSizer) -> None:
        self._sizer = sizer
        self._block: Block | None = None
        self._pool: Indices = np.empty(0, np.int64)  # the candidates of the block
        self._rows = self._pool  # the rows of those that are left
        self._position = 0
        self._last_filtering: int | None = None
        self.computed = 0
        self.is_over_budget = False

    def next_case(self, pool: Indices) -> CaseErrors | None:
        """The next case, and the errors of the (pool,) candidates left on it; None after the last case."""
        block = self._block
        if block is not None and len(pool) < len(self._rows):
            self._last_filtering = self._position - 1
            self._rows = np.searchsorted(self._pool, pool)
        if block is None or self._position == len(block.cases):
            if block is not None:
                self._sizer.observe(self._position, self._last_filtering)
            block = self._block = self._fetch(pool)
            if block is None:
                return None
            self._pool, self._rows = pool, np.arange(len(pool))
            self._position, self._last_filtering = 0, None
        j, rows = self._position, self._rows
        self._position += 1
        return CaseErrors(int(block.cases[j]), block.errors[rows, j], block.computed_now[rows, j])

    def _fetch(self, pool: Indices) -> Block | None:
        """The next block for the (pool,) candidates left; None after the last case."""
        raise NotImplementedError


class SequentialBlocks(Blocks):
    """Blocks that the evaluator computes one after another, while the event waits, within a budget if there is one."""

    def __init__(
        self,
        order: Iterator[int],
        sizer: BlockSizer,
        cache: ErrorCache,
        evaluate: CaseEvaluator,
        budget: PairBudget | None = None,
    ) -> None:
        super().__init__(sizer)
        self._order, self._cache, self._evaluate, self._budget = order, cache, evaluate, budget

    def _fetch(self, pool: Indices) -> Block | None:
        cases = take(self._order, self._sizer.n_cases(len(pool)))
        if not len(cases):
            return None
        if self._budget is not None:
            count = self._budget.n_affordable(self._cache.missing(pool, cases))
            if not count:
                self.is_over_budget = True
                return None
            self._order = itertools.chain(cases[count:].tolist(), self._order)
            cases = cases[:count]
        errors, computed_now = self._cache.fetch(self._evaluate, pool, cases)
        computed = int(np.count_nonzero(computed_now))
        self.computed += computed
        if self._budget is not None:
            self._budget.left -= computed
        return Block(cases, errors, computed_now)
