"""What selection with partial evaluation gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase.selection.api import Selection


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
class MemoReport:
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
