"""Ray actors that evaluate pieces, and go on when some of them die."""

from __future__ import annotations

import queue
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase.evaluation.pipelined import PIECES_PER_WORKER
from flexicase.evaluation.protocol import EvaluationError, evaluate_block

Indices = NDArray[np.int64]
SECONDS_BETWEEN_CALLS = 0.05


@dataclass(eq=False, slots=True)
class Piece:
    """Some pairs to evaluate.

    Attributes:
        individuals: (m,) indices.
        cases: (b,) indices.
        generation: Of which population.
        population: Where that lies in Ray's object store; None if there is none.
        deaths: How many workers have died evaluating it.
    """

    individuals: Indices
    cases: Indices
    generation: int
    population: Any
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker found.

    Attributes:
        errors: (m, b) errors, or what went wrong.
        seconds: How long it took.
    """

    errors: NDArray[np.float64] | EvaluationError
    seconds: float


News: TypeAlias = tuple[int, Any, Piece | None, Future[Any]]  # of which worker, its handle, and what was asked


class Worker:
    """The actor: has nothing that it could not get again, so that Ray may start it anew anywhere.

    Args:
        function: The pickled function.
    """

    def __init__(self, function: bytes) -> None:
        """Wait for the first piece."""
        self._pickled = function
        self._function: Any = None
        self._generation = -1
        self._population: Any = None

    def ready(self) -> None:
        """Answer that it is there."""

    def evaluate(self, individuals: Indices, cases: Indices, generation: int, population: list[Any]) -> Answer:
        """Evaluate (m,) individuals on (b,) cases.

        Args:
            individuals: (m,) indices.
            cases: (b,) indices.
            generation: Of which population.
            population: Where it lies, in a list, so that it is fetched only if it is a new one; empty if there is none.
        """
        import ray

        try:
            if self._function is None:
                self._function = ray.cloudpickle.loads(self._pickled)
            if generation != self._generation:
                self._population = ray.get(population) if population else []
                self._generation = generation
            # The arrays lie in Ray's object store, where they cannot be overwritten.
            individuals, cases = np.array(individuals), np.array(cases)
            start = time.perf_counter()
            errors = evaluate_block(lambda i, c: self._function(*self._population, i, c), individuals, cases)
            return Answer(errors, time.perf_counter() - start)
        except EvaluationError as error:
            return Answer(error, 0.0)
        except Exception as cause:
            problem = f"a worker could not load the function or the population: {type(cause).__name__}: {cause}"
            return Answer(EvaluationError(problem, individuals, cases), 0.0)


class Crew:
    """Some workers, and who does what.

    A worker evaluates the pieces in its queue in turn. When it dies, Ray starts it again; meanwhile its pieces go to
    the others. Its death is charged to the piece that it was at, the first of its queue: Ray's own retries would
    charge all of them.

    Args:
        function: The pickled function.
        workers: How many actors.
        attempts: How many workers may die of the same piece.
        options: Options of the actors, as for Ray.
    """

    def __init__(self, function: bytes, workers: int, attempts: int, options: dict[str, Any]) -> None:
        """Start the actors; `wait` tells when they are there."""
        import ray

        settings = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": 0, **options}
        self._new = lambda: ray.remote(Worker).options(**settings).remote(function)
        self._attempts = attempts
        self._actors: dict[int, Any] = {}
        self._queues: dict[int, deque[Piece]] = {}  # of the workers that are there
        self._unsent: deque[Piece] = deque()
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._failed_starts = 0
        for number in range(workers):
            self._actors[number] = self._new()
            self._call(number)

    @property
    def there(self) -> int:
        """How many workers are there and ready for work."""
        return len(self._queues)

    def pieces(self) -> list[Piece]:
        """The pieces that were begun and are not done."""
        return [*self._unsent, *(piece for pieces in self._queues.values() for piece in pieces)]

    def begin(self, piece: Piece) -> None:
        """Have a piece evaluated by whoever has least to do."""
        if not self._queues:
            self._unsent.append(piece)
            return
        number = min(self._queues, key=lambda n: len(self._queues[n]))
        shipped = [] if piece.population is None else [piece.population]
        actor = self._actors[number]
        answer = actor.evaluate.remote(piece.individuals, piece.cases, piece.generation, shipped)
        self._queues[number].append(piece)
        answer.future().add_done_callback(lambda done: self._news.put((number, actor, piece, done)))

    def wait(self, generation: int) -> list[tuple[Piece, Answer]]:
        """Wait until something has happened, and hand out the pieces that are done.

        Args:
            generation: Pieces of other ones are not evaluated again if their worker dies.

        Raises:
            EvaluationError: No worker can be started.
        """
        done: list[tuple[Piece, Answer]] = []
        self._hear(self._news.get(), generation, done)
        while not self._news.empty():
            self._hear(self._news.get(), generation, done)
        return done

    def _hear(self, news: News, generation: int, done: list[tuple[Piece, Answer]]) -> None:
        number, actor, piece, outcome = news
        if actor is not self._actors[number]:
            return  # one that has been replaced
        failure = outcome.exception()
        if piece is None:
            self._answered(number, failure)
        elif piece not in self._queues.get(number, ()):
            return  # its worker has died, and this was noticed by another piece
        elif failure is None:
            self._queues[number].remove(piece)
            done.append((piece, outcome.result()))
        else:
            done += self._died(number, generation, failure)

    def stop(self) -> None:
        """End all workers at once."""
        import ray

        for actor in self._actors.values():
            ray.kill(actor)
        self._queues.clear()
        self._unsent.clear()

    def _call(self, number: int) -> None:
        """Ask a worker to answer when it is there."""
        actor = self._actors[number]
        actor.ready.remote().future().add_done_callback(lambda done: self._news.put((number, actor, None, done)))

    def _answered(self, number: int, failure: BaseException | None) -> None:
        from ray.exceptions import ActorUnavailableError

        if failure is None:
            self._failed_starts = 0
            self._queues[number] = deque()
            for _ in range(min(PIECES_PER_WORKER, len(self._unsent))):
                self.begin(self._unsent.popleft())
            return
        if not isinstance(failure, ActorUnavailableError):  # that one is on its way
            self._failed_starts += 1
            if self._failed_starts > self._attempts * len(self._actors) and not self._queues:
                waiting = self._unsent[0] if self._unsent else None
                individuals, cases = ([], []) if waiting is None else (waiting.individuals, waiting.cases)
                raise EvaluationError(f"Ray cannot start a worker: {failure}", individuals, cases)
            self._actors[number] = self._new()
        time.sleep(SECONDS_BETWEEN_CALLS)
        self._call(number)

    def _died(self, number: int, generation: int, failure: BaseException) -> list[tuple[Piece, Answer]]:
        """Give the pieces of a worker that has died to others; those that have killed too many are done."""
        pieces = self._queues.pop(number)
        self._call(number)
        pieces[0].deaths += 1
        given_up = []
        for piece in pieces:
            if piece.deaths >= self._attempts:
                how = "its only attempt" if self._attempts == 1 else f"each of {self._attempts} attempts"
                problem = f"the worker process died in {how} to evaluate this; {_first_line(failure)}"
                given_up.append((piece, Answer(EvaluationError(problem, piece.individuals, piece.cases), 0.0)))
            elif piece.generation == generation:
                self.begin(piece)
        return given_up


def _first_line(failure: BaseException) -> str:
    lines = str(failure).strip().splitlines()
    return f"Ray says: {lines[0] if lines else type(failure).__name__}"
