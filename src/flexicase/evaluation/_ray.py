"""An evaluator that has its pieces evaluated by Ray actors, on this machine or many."""

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

WHO = "RayEvaluator needs"
MOST_SEND_SECONDS = 0.005


class RayEvaluator(PipelinedEvaluator):
    """Calls a function on pieces of the block, on Ray actors.

    The population travels once per generation, through Ray's object store. `FastLexicase` has pieces evaluated along
    the case order before it knows that they are needed, as many as it takes to keep the actors busy; those that
    were not needed are counted in ``pairs_unused``. Parents, weights and counts are those of any other evaluator.

    An actor that dies, alone or with its machine, is started again by Ray, and its pieces go to the others. A piece
    that kills its worker ``attempts`` times is an error. A call that is interrupted, as by Ctrl-C, ends the actors.

    Args:
        function: ``function(population, individuals, cases)`` gives the (m, b) errors of (m,) individuals on (b,)
            cases; without a population, ``function(individuals, cases)``. It must give the same errors for a pair
            whatever it is called with besides.
        population: What the function needs to know of the individuals; see `new_population`.
        workers: How many actors; None: one per processor of the cluster.
        address: Address of a Ray cluster; None: the one that the program is connected to, or that RAY_ADDRESS names,
            or else one that is started on this machine, and ended by `close`.
        attempts: How many workers may die of the same piece.
        options: Options of the actors, as for Ray: ``{"num_gpus": 1}``. Each takes one processor by default.

    Raises:
        ImportError: Ray is not installed: pip install 'flexicase[cluster]'.

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
        """Check; Ray and the actors start when they are first needed."""
        require_package(WHO, "ray", extra="cluster")
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
        self._population, self._shipped = population, None
        self._session: RaySession | None = None
        self._crew: ActorPool | None = None
        self._size = BatchSizer()
        self._last_begun = time.process_time()

    def new_population(self, population: Any) -> None:
        """Evaluate the individuals of another population from now on; it travels when it is first needed.

        Pieces of the old one that are still at work come to their end and are forgotten. A `FastLexicase` notices that
        its memo is of another population.

        Args:
            population: Anything that can be pickled; NumPy arrays are shared by the actors of a machine.
        """
        self._population, self._shipped = population, None
        self.generation += 1

    def room(self, *, ahead: bool = False) -> int:
        """How many more pieces should be begun now; ``ahead``: those that may turn out not to be needed."""
        crew = self._started()
        return self._room(crew.there, crew.begun, self._size, ahead)

    def piece(self, certain: int = 0) -> int:
        """How many pairs a piece should have at least, ``certain`` ones being needed whatever happens."""
        return self._size.of(certain, self._started().there)

    def begin(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> None:
        """Begin a piece: (m,) individuals on (b,) cases."""
        crew = self._started()
        crew.begin(Batch(individuals, cases, self.generation, self._shipped))
        now = time.process_time()
        self._size.sent(min(now - self._last_begun, MOST_SEND_SECONDS))  # and not what came between two calls
        self._last_begun = now

    def at_work(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The pieces of this generation that were begun and not handed out yet."""
        pieces = [] if self._crew is None else self._crew.pieces()
        return [(piece.individuals, piece.cases) for piece in pieces if piece.generation == self.generation]

    def finished(self) -> list[CompletedBatch]:
        """Wait until something has happened, and hand out the pieces that are done, if any.

        A piece has no errors if the function raised or returned anything but numbers of the right shape, or if
        evaluating it has killed a worker ``attempts`` times.
        """
        done = []
        try:
            for piece, answer in self._started().wait(self.generation):
                if not isinstance(answer.errors, EvaluationError):
                    self._size.observe(answer.errors.size, answer.seconds)
                if piece.generation == self.generation:
                    done.append(CompletedBatch(piece.individuals, piece.cases, answer.errors))
        except BaseException as reason:
            if not isinstance(reason, Exception):
                self.stop()
            raise
        return done

    def _started(self) -> ActorPool:
        import ray

        if self._crew is None:
            if self._session is None or not ray.is_initialized():
                self._session = RaySession(WHO, self._address)
            workers = self.workers or self._session.workers()
            self._crew = ActorPool(self._pickled, workers, self.attempts, self._options)
        if self._shipped is None and self._population is not None:
            self._shipped = ray.put(self._population)
        return self._crew

    def stop(self) -> None:
        """End the actors at once, whatever they are doing; the next call starts new ones."""
        crew, self._crew = self._crew, None
        if crew is not None:
            crew.stop()

    def close(self) -> None:
        """End the actors, and Ray if it was started here; the next call starts new ones."""
        self.stop()
        session, self._session = self._session, None
        self._shipped = None
        if session is not None:
            session.close()
