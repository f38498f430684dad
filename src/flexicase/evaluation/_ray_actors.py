"""Ray actors that evaluate pieces, and go on when some of them die."""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase.evaluation._pipelined import PIECES_PER_WORKER
from flexicase.evaluation._protocol import EvaluationError, evaluate_block

Indices = NDArray[np.int64]
SECONDS_BETWEEN_CALLS = 0.05


@dataclass(eq=False, slots=True)
class Batch:
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

    def packed(self) -> bytes:
        """The generation, the number of individuals and the indices; bytes cost Ray half of what arrays cost."""
        head = [self.generation, len(self.individuals)]
        return np.concatenate((head, self.individuals, self.cases), dtype=np.int64).tobytes()


@dataclass(frozen=True, slots=True)
class BatchResult:
    """What a worker found.

    Attributes:
        errors: (m, b) errors, or what went wrong.
        seconds: How long it took.
    """

    errors: NDArray[np.float64] | EvaluationError
    seconds: float


News: TypeAlias = tuple[int, Any, Batch | None, Future[Any]]  # of which worker, its handle, and what was asked


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
        """BatchResult that it is there."""

    def evaluate(self, packed: bytes, population: list[Any] | None = None) -> bytes | EvaluationError | None:
        """Evaluate a piece.

        Args:
            packed: The piece.
            population: Where the population lies, in a list, which is empty if there is none; None: it is the same as
                for the last piece.

        Returns:
            How long it took, and the (m, b) errors, as bytes; what went wrong; or None: the population is not here.
        """
        import ray

        numbers = np.frombuffer(packed, np.int64)
        generation, m = numbers[:2].tolist()
        individuals, cases = np.split(numbers[2:].copy(), [m])
        try:
            if self._function is None:
                self._function = ray.cloudpickle.loads(self._pickled)
            if generation != self._generation:
                if population is None:
                    return None
                self._population = ray.get(population)
                self._generation = generation
            start = time.perf_counter()
            errors = evaluate_block(lambda i, c: self._function(*self._population, i, c), individuals, cases)
            return np.append(time.perf_counter() - start, errors).tobytes()
        except EvaluationError as error:
            return error
        except Exception as cause:
            problem = f"a worker could not load the function or the population: {type(cause).__name__}: {cause}"
            return EvaluationError(problem, individuals, cases)


class ActorPool:
    """Some workers, and who does what.

    A worker evaluates the pieces that were sent to it in turn, at most two. When it dies, Ray starts it again; its
    pieces go to the others. It is not known which of them it was at, so each is then evaluated alone: if that kills
    its worker too, the piece is to blame. (Ray's own retries would count against all pieces alike.)

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
        maker: Any = ray.remote(Worker)
        self._new: Callable[[], Any] = lambda: maker.options(**settings).remote(function)
        self._attempts = attempts
        self._actors: dict[int, Any] = {}
        self._sent: dict[int, list[Batch]] = {}  # to the workers that are there
        self._knows: dict[int, int] = {}  # the generation whose population a worker was sent last
        self._open: list[set[int]] = [set() for _ in range(PIECES_PER_WORKER)]  # who has 0, 1, … pieces and takes more
        self._unsent: deque[Batch] = deque()
        self._news: queue.SimpleQueue[News] = queue.SimpleQueue()
        self._failed_starts = 0
        self.begun = 0
        for number in range(workers):
            self._actors[number] = self._new()
            self._call(number)

    @property
    def there(self) -> int:
        """How many workers are there and ready for work."""
        return len(self._sent)

    def pieces(self) -> list[Batch]:
        """The pieces that were begun and are not done, ``begun`` in number."""
        return [*self._unsent, *(piece for pieces in self._sent.values() for piece in pieces)]

    def begin(self, piece: Batch) -> None:
        """Have a piece evaluated by whoever has least to do."""
        self.begun += 1
        self._unsent.append(piece)
        self._send()

    def wait(self, generation: int) -> list[tuple[Batch, BatchResult]]:
        """Wait until something has happened, and hand out the pieces that are done.

        Args:
            generation: Pieces of other ones are not evaluated again if their worker dies.

        Raises:
            EvaluationError: No worker can be started.
        """
        done: list[tuple[Batch, BatchResult]] = []
        self._hear(self._news.get(), generation, done)
        while not self._news.empty():
            self._hear(self._news.get(), generation, done)
        self._send()
        return done

    def stop(self) -> None:
        """End all workers at once."""
        import ray

        for actor in self._actors.values():
            ray.kill(actor)

    def _send(self) -> None:
        """Send what there is a place for."""
        held = []
        while self._unsent and any(self._open):
            piece = self._unsent.popleft()
            candidates = self._open[:1] if piece.deaths else self._open
            number = next((next(iter(numbers)) for numbers in candidates if numbers), None)
            if number is None:
                held.append(piece)
                continue
            actor = self._actors[number]
            population = None
            if self._knows.get(number) != piece.generation:
                population = [] if piece.population is None else [piece.population]
                self._knows[number] = piece.generation
            answer = actor.evaluate.remote(piece.packed(), population)
            self._sent[number].append(piece)
            self._note_load(number)
            answer.future().add_done_callback(partial(self._tell, number, actor, piece))
        self._unsent.extendleft(reversed(held))

    def _note_load(self, number: int) -> None:
        """Keep account of who takes more pieces."""
        for numbers in self._open:
            numbers.discard(number)
        pieces = self._sent.get(number)
        if pieces is not None and len(pieces) < PIECES_PER_WORKER and not any(piece.deaths for piece in pieces):
            self._open[len(pieces)].add(number)

    def _tell(self, number: int, actor: Any, piece: Batch | None, outcome: Future[Any]) -> None:
        self._news.put((number, actor, piece, outcome))

    def _hear(self, news: News, generation: int, done: list[tuple[Batch, BatchResult]]) -> None:
        number, actor, piece, outcome = news
        if actor is not self._actors[number]:
            return  # one that has been replaced
        failure = outcome.exception()
        if piece is None:
            self._answered(number, failure)
        elif piece not in self._sent.get(number, ()):
            return  # its worker has died, and this was noticed by another piece
        elif failure is None:
            self._sent[number].remove(piece)
            self._note_load(number)
            found = outcome.result()
            if found is None:  # the worker was started again, and nobody noticed
                self._knows.pop(number, None)
                self._unsent.appendleft(piece)
            else:
                self.begun -= 1
                done.append((piece, _unpacked(piece, found)))
        else:
            done += self._died(number, generation, failure)

    def _call(self, number: int) -> None:
        """Ask a worker to answer when it is there."""
        actor = self._actors[number]
        actor.ready.remote().future().add_done_callback(partial(self._tell, number, actor, None))

    def _answered(self, number: int, failure: BaseException | None) -> None:
        from ray.exceptions import ActorUnavailableError

        if failure is None:
            self._failed_starts = 0
            self._sent[number] = []
            self._note_load(number)
            return
        if not isinstance(failure, ActorUnavailableError):  # that one is on its way
            self._failed_starts += 1
            if self._failed_starts > self._attempts * len(self._actors) and not self._sent:
                raise EvaluationError(f"no worker can be started; {_first_line(failure)}", [], [])
            self._actors[number] = self._new()
        time.sleep(SECONDS_BETWEEN_CALLS)
        self._call(number)

    def _died(self, number: int, generation: int, failure: BaseException) -> list[tuple[Batch, BatchResult]]:
        """Take back the pieces of a worker that has died; one that has killed too many is done."""
        pieces = self._sent.pop(number)
        self._knows.pop(number, None)
        self._note_load(number)
        self._call(number)
        given_up = []
        for piece in pieces:
            piece.deaths += 1
            if len(pieces) == 1 and piece.deaths >= self._attempts:
                problem = f"the worker process died in {piece.deaths} attempts to evaluate this; {_first_line(failure)}"
                given_up.append((piece, BatchResult(EvaluationError(problem, piece.individuals, piece.cases), 0.0)))
            elif piece.generation == generation:
                self._unsent.appendleft(piece)
                continue
            self.begun -= 1
        return given_up


def _unpacked(piece: Batch, found: bytes | EvaluationError) -> BatchResult:
    """What `Worker.evaluate` has sent back."""
    if isinstance(found, EvaluationError):
        return BatchResult(found, 0.0)
    numbers = np.frombuffer(found)
    return BatchResult(numbers[1:].reshape(len(piece.individuals), len(piece.cases)), float(numbers[0]))


def _first_line(failure: BaseException) -> str:
    lines = str(failure).strip().splitlines()
    return f"Ray says: {lines[0] if lines else type(failure).__name__}"
