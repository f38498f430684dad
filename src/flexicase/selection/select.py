"""`select` and `Selector`: parents from an error matrix."""

from __future__ import annotations

import threading

from numpy.typing import ArrayLike

from flexicase._checks import check_count, check_flag, check_threads
from flexicase.rng import Seed, key_from_seed
from flexicase.selection.matrix import NanPolicy, as_error_matrix
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Backend, Kernel, Method, Selection, resolve_backend

MAX_EVENTS = 2**40


class Selector:
    """Selection from one error matrix: prepared once, then drawn from as often as needed.

    ``draw(3)`` and then ``draw(2)`` gives the same five parents as ``draw(5)``. A draw that fails, also by Ctrl-C,
    uses up no events, unless another one has started meanwhile. Threads may share a selector: each
    draw gets events of its own.

    The selector may read ``errors`` at every draw. If the array changes while the selector is in use, parents are
    still valid indices, but their distribution and the counts mean nothing; make a new selector for new errors.

    Args:
        errors: (n_individuals, n_cases) numbers, lower is better.
        method: A method's name (`flexicase.methods` lists them) or object.
        seed: An int, a `numpy.random.Generator`, a `SeedSequence`, or None for fresh randomness.
        nan: ``"raise"`` refuses NaN, ``"worst"`` counts it as the worst error.
        backend: ``"native"`` or ``"reference"``; by default the environment variable
            ``FLEXICASE_BACKEND``, else native. Both give the same draws.

    Example:
        >>> import flexicase as fx
        >>> selector = fx.Selector([[0, 1], [1, 0], [1, 1]], "lexicase", seed=1)
        >>> sorted(set(selector.draw(20).indices.tolist()))
        [0, 1]
    """

    __slots__ = ("_kernel", "_key", "_lock", "_next_event")

    def __init__(
        self,
        errors: ArrayLike,
        method: str | Method = "lexicase",
        *,
        seed: Seed = None,
        nan: NanPolicy = "raise",
        backend: Backend | None = None,
    ) -> None:
        """Check everything and prepare."""
        chosen = resolve_method(method)
        resolved = resolve_backend(backend)
        self._key = key_from_seed(seed)
        self._kernel: Kernel = chosen.prepare(as_error_matrix(errors, nan), self._key, resolved)
        self._next_event = 0
        self._lock = threading.Lock()

    def draw(self, n: int = 1, *, counts: bool = True, threads: int = 1) -> Selection:
        """Select ``n`` parents, with replacement.

        Args:
            n: How many.
            counts: Whether to keep the counts; the parents are the same either way.
            threads: Threads to use; the outcome does not depend on it.
        """
        n = check_count(n, "n", 0, MAX_EVENTS)
        counts, threads = check_flag(counts, "counts"), check_threads(threads)
        with self._lock:
            start = self._next_event
            self._next_event = start + n
        try:
            out = self._kernel.draw(self._key, range(start, start + n), counts, threads)
        except BaseException:
            with self._lock:
                if self._next_event == start + n:
                    self._next_event = start
            raise
        if not out.counted:
            return Selection(out.indices)
        return Selection(out.indices, out.evaluations, out.evaluations_distinct, out.cases_used, out.ended)


def select(
    errors: ArrayLike,
    n: int = 1,
    method: str | Method = "lexicase",
    *,
    seed: Seed = None,
    counts: bool = True,
    threads: int = 1,
    nan: NanPolicy = "raise",
    backend: Backend | None = None,
) -> Selection:
    """Select ``n`` parents from an error matrix, with replacement.

    Args:
        errors: (n_individuals, n_cases) numbers, lower is better. With no cases (0 columns) the
            choice is uniformly random.
        n: How many parents.
        method: A method's name (`flexicase.methods` lists them) or object.
        seed: An int, a `numpy.random.Generator`, a `SeedSequence`, or None for fresh randomness.
        counts: Whether to keep the counts; the parents are the same either way.
        threads: Threads to use; the outcome does not depend on it.
        nan: ``"raise"`` refuses NaN, ``"worst"`` counts it as the worst error.
        backend: ``"native"`` or ``"reference"``; see `Selector`.

    Raises:
        TypeError: An argument is of the wrong type.
        ValueError: An argument has a value that makes no sense; nothing has happened.

    Example:
        >>> import flexicase as fx
        >>> errors = [[0, 0, 3], [1, 0, 0], [2, 2, 2]]
        >>> s = fx.select(errors, 4, "ranked-num-nonzeros", seed=7)
        >>> len(s.indices), bool((s.evaluations >= 3).all())
        (4, True)
    """
    return Selector(errors, method, seed=seed, nan=nan, backend=backend).draw(n, counts=counts, threads=threads)
