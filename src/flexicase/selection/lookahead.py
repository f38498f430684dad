"""Look-ahead: how many of the next cases to ask the evaluator for at once.

One call per case wastes the fixed cost of every call; whole orders waste evaluations that are
never needed. The number of cases starts at 1 and doubles while cases filter nobody. When the pool
shrinks it restarts from the number of cases that had filtered nobody before, as the best guess of
how long the smaller pool will last.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from flexicase.checks import check_choice, check_count

LookAhead: TypeAlias = Literal["auto"] | int
BYTES_PER_PAIR = 8


def check_lookahead(lookahead: Any) -> LookAhead:
    """``"auto"`` or a positive number of cases."""
    if isinstance(lookahead, str):
        return check_choice(lookahead, "lookahead", ("auto",))  # type: ignore[return-value]
    return check_count(lookahead, "lookahead", 1)


class BlockSize:
    """The number of cases to ask for next, within one selection event.

    Args:
        lookahead: ``"auto"``, or a fixed number of cases.
        most_bytes: A block of pool × cases errors is kept within this, down to a single case.

    Example:
        >>> from flexicase.selection.lookahead import BlockSize
        >>> size = BlockSize("auto", most_bytes=8000)
        >>> asked = []
        >>> for _ in range(4):
        ...     asked.append(size.cases(pool=10))
        ...     size.observe(visited=asked[-1], last_filter=None)
        >>> asked
        [1, 2, 4, 8]
        >>> size.cases(pool=100)
        10
    """

    __slots__ = ("_fixed", "_most_pairs", "_quiet", "_wanted")

    def __init__(self, lookahead: LookAhead, most_bytes: int) -> None:
        """Start an event."""
        self._fixed = lookahead != "auto"
        self._wanted = 1 if lookahead == "auto" else int(lookahead)
        self._most_pairs = most_bytes // BYTES_PER_PAIR
        self._quiet = 0

    def cases(self, pool: int) -> int:
        """How many cases to ask for with ``pool`` candidates left."""
        return max(1, min(self._wanted, self._most_pairs // pool))

    def observe(self, visited: int, last_filter: int | None) -> None:
        """Learn from a block.

        Args:
            visited: How many of its cases were looked at.
            last_filter: Position in the block of the last case that removed anybody, if one did.
        """
        if last_filter is None:
            self._quiet += visited
            if not self._fixed:
                self._wanted *= 2
            return
        before, self._quiet = self._quiet + last_filter, visited - last_filter - 1
        if not self._fixed:
            self._wanted = max(1, before, self._quiet)
