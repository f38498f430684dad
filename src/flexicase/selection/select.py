"""`select`, `select_indices` and `Selector`: parents from an error matrix."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_flag, check_size, check_threads, shown
from flexicase.rng import Seed, key_from_seed
from flexicase.selection.lexicase import Lexicase, WithoutReplacement
from flexicase.selection.matrix import ErrorMatrix, NanPolicy
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Backend, Method, Selection, resolve_backend

MAX_EVENTS = 2**40


class Selector:
    """Selection from one error matrix: prepared once, drawn from as often as needed. Arguments are as for `select`.

    ``draw(3)`` and then ``draw(2)`` give the same five parents as ``draw(5)``. A draw that fails or is interrupted uses
    up no events, unless another one has started meanwhile. Threads may share a selector: each draw gets its own events.

    The selector may read ``errors`` at every draw. If the array changes, parents are still valid indices, but their
    distribution and the counts are undefined; make a new selector for new errors.

    Example:
        >>> import flexicase as fx
        >>> selector = fx.Selector([[0, 1], [1, 0], [1, 1]], "lexicase", seed=1)
        >>> sorted(set(selector.draw_indices(20).tolist()))
        [0, 1]
    """

    __slots__ = ("_elitism", "_kernel", "_key", "_lock", "_next_event", "_row_labels")

    def __init__(
        self,
        errors: ArrayLike,
        method: str | Method = "lexicase",
        *,
        seed: Seed = None,
        nan: NanPolicy = "raise",
        maximize: bool = False,
        solved: ArrayLike | None = None,
        replace: bool = True,
        backend: Backend | None = None,
    ) -> None:
        chosen = resolve_method(method)
        resolved = resolve_backend(backend)
        self._key = key_from_seed(seed)
        matrix = ErrorMatrix.from_array(errors, nan, maximize, solved)
        self._kernel = chosen.prepare(matrix, self._key, resolved)
        if not check_flag(replace, "replace"):
            if not isinstance(chosen, Lexicase):
                raise TypeError(f"method must be a lexicase method if replace=False, got {shown(chosen)}")
            self._kernel = WithoutReplacement(self._kernel, matrix.n_individuals)  # type: ignore[arg-type]
        self._elitism = getattr(chosen, "elitism", 0)
        self._row_labels = _row_labels(errors)
        self._next_event = 0
        self._lock = threading.Lock()

    def draw(self, n: int | tuple[int, ...] = 1, *, threads: int = 1) -> Selection:
        """Select ``n`` parents and count; the outcome does not depend on ``threads``."""
        return self._draw(n, True, threads)

    def draw_indices(self, n: int | tuple[int, ...] = 1, *, threads: int = 1) -> NDArray[np.int64]:
        """Select ``n`` parents, the same as `draw`, (n,) int64, without counting, which is faster."""
        return self._draw(n, False, threads).indices

    def _draw_all(self, size: int | tuple[int, ...], counts: bool, threads: int) -> Selection:
        """The only draw of a selector, which returns every elite; with or without counts."""
        if self._elitism:
            n = check_size(size, "n", MAX_EVENTS)
            if n < self._elitism:
                raise ValueError(f"n must be at least elitism, {self._elitism}, got {n}")
        return self._draw(size, counts, threads)

    def _draw(self, size: int | tuple[int, ...], counts: bool, threads: int) -> Selection:
        n, threads = check_size(size, "n", MAX_EVENTS), check_threads(threads)
        with self._lock:
            start = self._next_event
            self._next_event = end = start + n
        try:
            drawn = self._kernel.draw(self._key, range(start, end), counts, threads)
        except BaseException:
            with self._lock:
                if self._next_event == end:
                    self._next_event = start
            raise
        if n is not size or self._row_labels is not None:
            drawn.arrange(size, self._row_labels)
        return drawn


def _row_labels(errors: Any) -> NDArray[Any] | None:
    """The index of a data frame or a series of pandas, a copy."""
    return np.array(errors.index) if hasattr(errors, "iloc") else None


def select(
    errors: ArrayLike,
    n: int | tuple[int, ...] = 1,
    method: str | Method = "lexicase",
    *,
    seed: Seed = None,
    threads: int = 1,
    nan: NanPolicy = "raise",
    maximize: bool = False,
    solved: ArrayLike | None = None,
    replace: bool = True,
    backend: Backend | None = None,
) -> Selection:
    """Select ``n`` parents from an error matrix.

    Args:
        errors: (n_individuals, n_cases) numbers, or one number per individual; lower is better. With no cases the
            choice is uniformly random.
        n: Number of parents, or a shape, such as (children, 2).
        method: A method's name (`flexicase.methods` lists them) or object.
        seed: An int, a generator of NumPy, Python or torch, a `SeedSequence`, a `flexicase.rng.Key`, or None for fresh
            randomness.
        threads: Number of threads; the outcome does not depend on it.
        nan: ``"raise"`` refuses NaN, ``"worst"`` counts it as the worst error.
        maximize: Whether ``errors`` are scores, of which higher is better.
        solved: The error at or below which a case counts as solved, or the score at or above which it does; one number
            or one per case. Biases and samplings use it. By default an error of exactly 0; a score has no default.
        replace: Whether an individual may be selected again. If not, each event of a lexicase method selects from the
            individuals that are left; weights, MAD epsilons and samples stay those of all individuals.
        backend: ``"native"`` or ``"reference"``, which give the same draws; by default the environment variable
            ``FLEXICASE_BACKEND``, else native.

    Example:
        >>> import flexicase as fx
        >>> errors = [[0, 0, 3], [1, 0, 0], [2, 2, 2]]
        >>> s = fx.select(errors, 4, "ranked-num-nonzeros", seed=7)
        >>> len(s.indices), bool((s.evaluations >= 3).all())
        (4, True)
    """
    selector = Selector(
        errors, method, seed=seed, nan=nan, maximize=maximize, solved=solved, replace=replace, backend=backend
    )
    return selector._draw_all(n, True, threads)


def select_indices(
    errors: ArrayLike,
    n: int | tuple[int, ...] = 1,
    method: str | Method = "lexicase",
    *,
    seed: Seed = None,
    threads: int = 1,
    nan: NanPolicy = "raise",
    maximize: bool = False,
    solved: ArrayLike | None = None,
    replace: bool = True,
    backend: Backend | None = None,
) -> NDArray[np.int64]:
    """Select the same parents as `select` with the same arguments, (n,) int64, without counting, which is faster.

    Example:
        >>> import flexicase as fx
        >>> fx.select_indices([[0, 0], [1, 2]], 3, seed=1).tolist()
        [0, 0, 0]
    """
    selector = Selector(
        errors, method, seed=seed, nan=nan, maximize=maximize, solved=solved, replace=replace, backend=backend
    )
    return selector._draw_all(n, False, threads).indices
