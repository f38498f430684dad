"""An evaluator whose batches are evaluated by Ray actors, on one machine or many."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_function, check_text, require_package, shown
from flexicase._ray import RaySession
from flexicase.evaluation._pipelined import BatchSizer, CompletedBatch, PipelinedEvaluator
from flexicase.evaluation._protocol import EvaluationError
from flexicase.evaluation._ray_actors import ActorPool, Batch

PURPOSE = "RayEvaluator needs"
MAX_SEND_SECONDS = 0.005


class RayEvaluator(PipelinedEvaluator):
    """Calls a function on batches of a block, on Ray actors.

    The population is sent once per generation, through Ray's object store. `FastLexicase` submits batches along the
    case order before it knows that they are needed; pairs that were not needed are counted in ``pairs_unused``.
    Parents, weights and counts are those of any other evaluator.

    An actor that exits, alone or with its machine, is restarted by Ray, and its batches go to the others. A batch that
    crashes its worker ``attempts`` times is an error. An interrupted call ends the actors.

    Args:
        function: ``function(population, individuals, cases)`` gives the (m, b) errors of (m,) individuals on (b,)
            cases; without a population, ``function(individuals, cases)``. The errors of a pair must not depend on the
            rest of the batch.
        population: What the function needs to know of the individuals; see `new_population`.
        workers: Number of actors; by default one per processor of the cluster.
        address: Address of a Ray cluster; by default the one that the program is connected to, or that RAY_ADDRESS
            names, or else one that is started on this machine, and ended by `close`.
        attempts: Number of workers that one batch may crash.
        options: Options of the actors, as for Ray: ``{"num_gpus": 1}``. Each takes one processor by default.

    Example:
        >>> import numpy as np
        >>> import flexicase as fx
        >>> from flexicase.evaluation import RayEvaluator
        >>> def errors(population, individuals, cases):
        ...     return np.abs(population[individuals][:, None] - cases)
        >>> with RayEvaluator(errors, np.arange(100) / 7, workers=1) as evaluate:
        ...     s = fx.FastLexicase(50, seed=1).select(evaluate, 100, n=5)
        >>> s.indices.shape
        (5,)
    """

    def __init__(
        self,
        function: Callable[..., ArrayLike],
        population: Any = None,
        workers: int | None = None,
        *,
        address: str | None = None,
        attempts: int = 3,
        options: dict[str, Any] | None = None,
    ) -> None:
        require_package(PURPOSE, "ray", extra="cluster")
        from ray import cloudpickle

        self.function = check_function(function, "function", 2 if population is None else 3)
        self.workers = None if workers is None else check_count(workers, "workers", 1)
        self.attempts = check_count(attempts, "attempts", 1)
        try:
            self._pickled = cloudpickle.dumps(function)
        except Exception as cause:
            raise TypeError(f"function must be picklable to reach other processes: {cause}") from cause
        self._address = None if address is None else check_text(address, "address")
        if not (options is None or isinstance(options, dict)):
            raise TypeError(f"options must be a dict or None, got {shown(options)}")
        self._options = dict(options or {})
        self._population, self._population_ref = population, None
        self._session: RaySession | None = None
        self._actors: ActorPool | None = None
        self._sizer = BatchSizer()
        self._last_submitted = time.process_time()

    def new_population(self, population: Any) -> None:
        """Evaluate another population from now on: anything picklable, sent when first needed.

        Pending batches of the old one are dropped when they end. `FastLexicase` then starts a new cache.
        """
        self._population, self._population_ref = population, None
        self.generation += 1

    def free_slots(self, *, speculative: bool = False) -> int:
        actors = self._started()
        return self._free_slots(actors.n_ready, actors.n_pending, self._sizer, speculative)

    def batch_size(self, n_needed: int = 0) -> int:
        return self._sizer.size_for(n_needed, self._started().n_ready)

    def submit(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> None:
        self._started().submit(Batch(individuals, cases, self.generation, self._population_ref))
        now = time.process_time()
        self._sizer.sent(min(now - self._last_submitted, MAX_SEND_SECONDS))  # and not what came between two calls
        self._last_submitted = now

    def pending(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        batches = [] if self._actors is None else self._actors.pending()
        return [(batch.individuals, batch.cases) for batch in batches if batch.generation == self.generation]

    def collect(self) -> list[CompletedBatch]:
        done = []
        try:
            for batch, errors, seconds in self._started().wait(self.generation):
                if not isinstance(errors, EvaluationError):
                    self._sizer.observe(errors.size, seconds)
                if batch.generation == self.generation:
                    done.append(CompletedBatch(batch.individuals, batch.cases, errors))
        except BaseException as reason:
            if not isinstance(reason, Exception):
                self.stop()
            raise
        return done

    def _started(self) -> ActorPool:
        import ray

        if self._actors is None:
            if self._session is None or not ray.is_initialized():
                self._session = RaySession(PURPOSE, self._address)
            workers = self.workers or self._session.workers()
            self._actors = ActorPool(self._pickled, workers, self.attempts, self._options)
        if self._population_ref is None and self._population is not None:
            self._population_ref = ray.put(self._population)
        return self._actors

    def stop(self) -> None:
        """End the actors at once, whatever they are doing; the next call starts new ones."""
        actors, self._actors = self._actors, None
        if actors is not None:
            actors.stop()

    def close(self) -> None:
        """End the actors, and Ray if it was started here; the next call starts new ones."""
        self.stop()
        session, self._session = self._session, None
        self._population_ref = None
        if session is not None:
            session.close()
