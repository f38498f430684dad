"""Look-ahead: how many of the next cases to ask the evaluator for at once.

One call per case wastes the fixed cost of every call; whole orders waste evaluations that are
never needed. The number of cases starts at 1 and doubles while cases filter nobody. When the pool
shrinks it restarts from the number of cases that had filtered nobody before, as the best guess of
how long the smaller pool will last. A delayed look-ahead does all this only once 8 cases in a row
have filtered out no candidate: until then computing in advance costs more than it saves, if the evaluator
takes twice as long for twice as many cases.
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
        delayed: Whether blocks grow only once 8 cases in a row have filtered out no candidate.

    Example:
        >>> import numpy as np
        >>> import flexicase as fx
        >>> from flexicase.evaluation._lookahead import Growing
        >>> asked = []
        >>> def evaluate(individuals, cases):
        ...     asked.append(len(cases))
        ...     return np.zeros((len(individuals), len(cases)))
        >>> fast = fx.FastLexicase(100, seed=1)
        >>> fast.lookahead = Growing(10)
        >>> s = fast.select(evaluate, 4)
        >>> asked
        [1, 10, 20, 40, 29]
    """

    min_cases: int = 1
    delayed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "min_cases", min(check_count(self.min_cases, "min_cases", 1), MAX_CASES))


LookAhead: TypeAlias = Literal["auto"] | int | Growing


def check_lookahead(lookahead: Any) -> LookAhead:
    """``"auto"`` or a positive number of cases; a `Growing` too, which no user gives."""
    if isinstance(lookahead, Growing):
        return lookahead
    if isinstance(lookahead, str):
        return check_choice(lookahead, "lookahead", ("auto",))  # type: ignore[return-value]
    return check_count(lookahead, "lookahead", 1)


class BlockSizer:
    """The number of cases to ask for next, within one selection event.

    Args:
        lookahead: ``"auto"``, a `Growing`, or a fixed number of cases.
        most_bytes: A block of pool × cases errors is kept within this, down to a single case.

    Attributes:
        most_pairs: How many errors that is.

    Example:
        >>> from flexicase.evaluation._lookahead import BlockSizer
        >>> size = BlockSizer("auto", most_bytes=8000)
        >>> asked = []
        >>> for _ in range(4):
        ...     asked.append(size.cases(pool=10))
        ...     size.observe(visited=asked[-1], last_filter=None)
        >>> asked
        [1, 2, 4, 8]
        >>> size.cases(pool=100)
        10
    """

    __slots__ = ("_delay", "_fixed", "_min_cases", "_quiet", "_wanted", "most_pairs")

    def __init__(self, lookahead: LookAhead, most_bytes: int) -> None:
        """Start an event."""
        self._fixed = isinstance(lookahead, int)
        self._wanted = lookahead if isinstance(lookahead, int) else 1
        growing = lookahead if isinstance(lookahead, Growing) else Growing()
        self._min_cases = growing.min_cases
        self._delay = GROWTH_DELAY if growing.delayed else 0
        self.most_pairs = most_bytes // BYTES_PER_PAIR
        self._quiet = 0

    def cases(self, pool: int) -> int:
        """How many cases to ask for with ``pool`` candidates left."""
        return max(1, min(self._wanted, self.most_pairs // pool))

    def observe(self, visited: int, last_filter: int | None) -> None:
        """Learn from a block.

        Args:
            visited: How many of its cases were looked at.
            last_filter: Position in the block of the last case that removed anybody, if one did.
        """
        if self._fixed:
            return
        if last_filter is None:
            self._quiet += visited
            if self._quiet >= self._delay:
                self._wanted *= 2
        else:
            before, self._quiet = self._quiet + last_filter, visited - last_filter - 1
            lasted = max(before, self._quiet)
            self._wanted = 1 if lasted < self._delay else lasted
        self._wanted = max(self._wanted, self._min_cases)


def take(cases: Iterator[int], count: int) -> Indices:
    """The next cases: (count,) of them, or as many as are left."""
    return np.array(list(itertools.islice(cases, count)), dtype=np.int64)


class Block(NamedTuple):
    """The errors of the pool on the next cases.

    Attributes:
        cases: (b,) the cases.
        errors: (pool, b) the errors.
        fresh: (pool, b) which of them were computed for this event.
    """

    cases: Indices
    errors: NDArray[np.float64]
    fresh: NDArray[np.bool_]


class SequentialBlocks:
    """Blocks of one event that the evaluator is asked for, one after another.

    Attributes:
        computed: Pairs computed so far.
    """

    def __init__(self, order: Iterator[int], size: BlockSizer, memo: ErrorCache, evaluate: CaseEvaluator) -> None:
        """Start at the first case."""
        self._order, self._size, self._memo, self._evaluate = order, size, memo, evaluate
        self.computed = 0

    def next(self, pool: Indices) -> Block | None:
        """The next block for the (pool,) candidates left; None if no case is left."""
        cases = take(self._order, self._size.cases(len(pool)))
        if not len(cases):
            return None
        errors, fresh = self._memo.fetch(self._evaluate, pool, cases)
        self.computed += int(np.count_nonzero(fresh))
        return Block(cases, errors, fresh)

    def observe(self, visited: int, last_filter: int | None) -> None:
        """Learn what a block did to the pool, as `BlockSizer.observe`."""
        self._size.observe(visited, last_filter)
