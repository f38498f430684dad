"""What a selection method implements, and what it returns: `Method`, `Kernel`, `Selection`, `Ended`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flexicase._checks import check_choice, room_for
from flexicase.rng import Key

if TYPE_CHECKING:
    from flexicase.selection.matrix import ErrorMatrix


Backend: TypeAlias = Literal["native", "reference"]
Counts: TypeAlias = NDArray[np.int64]
Taken: TypeAlias = NDArray[np.uint8]
#: What a `Selection` counts, if it does.
COUNTS = ("_evaluations", "_evaluations_distinct", "_cases_used", "_ended")


def resolve_backend(backend: Backend | None) -> Backend:
    """The backend to use: the argument, else the environment variable, else native."""
    if backend is None:
        backend = os.environ.get("FLEXICASE_BACKEND", "native")  # type: ignore[assignment]
        if backend == "native":
            return "native"
    return check_choice(backend, "backend", ("native", "reference"))  # type: ignore[return-value]


class Ended(IntEnum):
    """Why a selection event ended.

    Attributes:
        ONE_LEFT: One candidate was left.
        CASES_EXHAUSTED: All cases were used; the parent is a random member of the pool.
        TRUNCATED: ``max_cases`` or slippage ended the event; the parent is a random member of the pool.
        ELITE: The event returned an elite and used no case.
        ALL_FAILED: No candidate solved a case, under ``stop_on_all_fail``; the parent is any individual.
        OUT_OF_BUDGET: The budget did not pay for the next case; the parent is a random member of the pool.

    Example:
        >>> import flexicase as fx
        >>> s = fx.select([[0, 1], [0, 1]], seed=1)
        >>> fx.Ended(s.ended[0]).label
        'cases exhausted'
    """

    ONE_LEFT = 0
    CASES_EXHAUSTED = 1
    TRUNCATED = 2
    ELITE = 3
    ALL_FAILED = 4
    OUT_OF_BUDGET = 5

    @property
    def label(self) -> str:
        """The reason in words."""
        return self.name.lower().replace("_", " ")


class Selection:
    """The result of ``n`` selection events.

    Methods that do not use one case after another, such as a tournament, have no counts: ``counted`` is False, and the
    properties that count raise ValueError.

    A selection is a sequence of its indices, and an index: ``population[s]`` are the selected rows of an array.

    Attributes:
        indices: (n,) int64, the selected parents; if ``n`` was a shape, of that shape, and so are all counts.

    Example:
        >>> import flexicase as fx
        >>> s = fx.select([[0, 1], [0, 0], [1, 1]], 1, fx.Lexicase(order=fx.Weighted([1, 0])), seed=1)
        >>> s.indices.tolist(), s.evaluations.tolist(), s.cases_used.tolist()
        ([1], [5], [2])
    """

    __slots__ = (*COUNTS, "_row_labels", "indices")

    def __init__(
        self,
        indices: NDArray[np.int64],
        evaluations: Counts | None = None,
        evaluations_distinct: Counts | None = None,
        cases_used: Counts | None = None,
        ended: NDArray[np.uint8] | None = None,
    ) -> None:
        self.indices = indices
        self._evaluations = evaluations
        self._evaluations_distinct = evaluations_distinct
        self._cases_used = cases_used
        self._ended = ended

    @classmethod
    def empty(cls, n: int, counts: bool) -> Selection:
        """Room for ``n`` events, for a kernel to fill."""
        if not counts:
            return cls(room_for(n, np.int64, "n"))
        block = room_for((4, n), np.int64, "n")
        return cls(block[0], block[1], block[2], block[3], np.empty(n, np.uint8))

    @property
    def counted(self) -> bool:
        """Whether the events were counted."""
        return self._evaluations is not None

    @property
    def evaluations(self) -> Counts:
        """(n,) int64, the paper's measure: the pool sizes before each case used, summed. Pools of 10, 3, 1 make 13."""
        return self._evaluations if self._evaluations is not None else self._not_counted("evaluations")

    @property
    def evaluations_distinct(self) -> Counts:
        """(n,) int64, the same with one individual per distinct error vector."""
        found = self._evaluations_distinct
        return found if found is not None else self._not_counted("evaluations_distinct")

    @property
    def cases_used(self) -> Counts:
        """(n,) int64, the number of cases used."""
        return self._cases_used if self._cases_used is not None else self._not_counted("cases_used")

    @property
    def ended(self) -> NDArray[np.uint8]:
        """(n,) uint8, why each event ended: the value of an `Ended`."""
        return self._ended if self._ended is not None else self._not_counted("ended")

    def _not_counted(self, name: str) -> NoReturn:
        raise ValueError(
            f"{name} was not counted: only methods that use one case after another have counts; "
            'select by a lexicase method, such as "lexicase"'
        )

    @property
    def labels(self) -> NDArray[Any]:
        """(n,) labels of the selected rows, if the errors were a data frame or series of pandas."""
        row_labels: NDArray[Any] | None = getattr(self, "_row_labels", None)
        if row_labels is None:
            raise ValueError("labels exist only if errors are a data frame or a series with an index; use indices")
        return row_labels[self.indices]

    def put(self, rows: slice, events: Selection) -> None:
        """Copy other events into some of these."""
        self.indices[rows] = events.indices
        for name in COUNTS if self.counted else ():
            getattr(self, name)[rows] = getattr(events, name)

    def arrange(self, shape: int | tuple[int, ...], row_labels: NDArray[Any] | None) -> None:
        """Give the events a shape, and the rows of the matrix labels."""
        self._row_labels = row_labels
        for name in ("indices", *COUNTS):
            array = getattr(self, name)
            setattr(self, name, None if array is None else array.reshape(shape))

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.indices)

    def __getitem__(self, event: Any) -> Any:
        return self.indices[event]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self.indices.astype(self.indices.dtype if dtype is None else dtype, copy=bool(copy))

    def __repr__(self) -> str:
        n = len(self) if self.indices.ndim == 1 else self.indices.shape
        return f"{type(self).__name__}(n={n}, counted={self.counted})"


class FastSelection(Selection):
    """The result of ``n`` selection events with partial evaluation.

    ``evaluations_distinct`` raises ValueError: whole error vectors are not known.

    Attributes:
        indices: (n,) int64, the selected parents.
        pairs: (n,) int64, (individual, case) pairs computed for each event.
        pairs_unused: (n,) int64, pairs among them that the event did not use.
        candidates_left: (n,) int64, candidates among which the parent was chosen at random at the end.

    Example:
        >>> import numpy as np
        >>> import flexicase as fx
        >>> errors = np.array([[0, 1], [1, 0], [1, 1]])
        >>> s = fx.FastLexicase(2, seed=1).select(lambda i, c: errors[np.ix_(i, c)], 3)
        >>> s.evaluations.tolist(), s.pairs.tolist(), s.pairs_unused.tolist()
        ([3], [3], [0])
    """

    __slots__ = ("candidates_left", "pairs", "pairs_unused")

    def __init__(self, counts: Counts, ended: NDArray[np.uint8]) -> None:
        """From (6, n) parents, evaluations, cases used, pairs, unused pairs, candidates left; (n,) why each ended."""
        self.indices, self._evaluations, self._cases_used = counts[0], counts[1], counts[2]
        self._evaluations_distinct, self._ended = None, ended
        self.pairs: Counts = counts[3]
        self.pairs_unused: Counts = counts[4]
        self.candidates_left: Counts = counts[5]

    def _not_counted(self, name: str) -> NoReturn:
        raise ValueError(f"{name} is unknown under partial evaluation, which knows no whole error vectors; use select")


class Kernel(Protocol):
    """Draws selection events from one error matrix."""

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Selection:
        """Run the events with these numbers; ``counts`` says whether to count."""
        ...


class DistinctKernel(Kernel, Protocol):
    """A kernel that can also draw without replacement."""

    def draw(self, key: Key, events: range, counts: bool, threads: int, taken: Taken | None = None) -> Selection:
        """With ``taken``, 1 for each individual not to select, events run in turn, and each adds its parent to it."""
        ...


class UncountedKernel:
    """A kernel of independent events without counts: ``native`` fills the indices, or ``run_event`` gives one each."""

    def __init__(self, backend: Backend, native: Callable[..., None], run_event: Callable[[Key, int], int]) -> None:
        self.backend, self.native, self.run_event = backend, native, run_event

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Selection:
        indices = room_for(len(events), np.int64, "n")
        if self.backend == "native":
            self.native(key.k0, key.k1, events.start, events.step, threads, indices)
        else:
            for i, event in enumerate(events):
                indices[i] = self.run_event(key, event)
        return Selection(indices)


@runtime_checkable
class Method(Protocol):
    """A selection method: prepares a kernel for one error matrix.

    Example:
        >>> import flexicase as fx
        >>> isinstance(fx.Lexicase(), fx.Method)
        True
    """

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        """A kernel that draws events from ``matrix``."""
        ...

    def describe(self) -> str:
        """The method in words, in one line."""
        ...
