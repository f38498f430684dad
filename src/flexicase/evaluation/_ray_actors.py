"""A pool of Ray actors that evaluates batches, and continues when some of the actors crash."""

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

from flexicase.evaluation._pipelined import BATCHES_PER_WORKER
from flexicase.evaluation._protocol import EvaluationError, evaluate_block

Indices = NDArray[np.int64]
SECONDS_BETWEEN_CALLS = 0.05


@dataclass(eq=False, slots=True)
class Batch:
    """Some pairs to evaluate: (m,) individuals on (b,) cases of a generation; ``n_crashes`` workers crashed on it."""

    individuals: Indices
    cases: Indices
    generation: int
    population: Any
    n_crashes: int = 0

    def pack(self) -> bytes:
        """The generation, the number of individuals and the indices; bytes cost Ray half of what arrays cost."""
        head = [self.generation, len(self.individuals)]
        return np.concatenate((head, self.individuals, self.cases), dtype=np.int64).tobytes()


BatchResult: TypeAlias = tuple[Batch, NDArray[np.float64] | EvaluationError, float]  # errors or failure, and the time
ActorMessage: TypeAlias = tuple[int, Any, Batch | None, Future[Any]]  # a worker, its handle, its batch, the result


class Worker:
    """The actor. It has no state that it could not get again, so Ray may restart it anywhere."""

    def __init__(self, function: bytes) -> None:
        self._pickled = function
        self._function: Any = None
        self._generation = -1
        self._population: Any = None

    def ready(self) -> None:
        """Return as soon as the actor runs."""

    def evaluate(self, packed: bytes, population: list[Any] | None = None) -> bytes | EvaluationError | None:
        """Evaluate a packed batch: time and errors as bytes; what went wrong; or None to request the population.

        ``population`` is a list with its reference, empty if there is none; None: it is that of the last batch.
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
    """The workers, and the batches that each of them has; ``n_pending`` counts batches that have not ended.

    A worker evaluates its batches in turn, at most two. When it crashes, Ray restarts it, and its batches go to the
    others. Which batch caused the crash is unknown, so each is then evaluated alone: if that crashes its worker too,
    the batch is to blame. (Ray's own retries would count against all batches alike.)
    """

    def __init__(self, function: bytes, workers: int, attempts: int, options: dict[str, Any]) -> None:
        import ray

        settings = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": 0, **options}
        maker: Any = ray.remote(Worker)
        self._new: Callable[[], Any] = lambda: maker.options(**settings).remote(function)
        self._attempts = attempts
        self._actors: dict[int, Any] = {}
        self._sent: dict[int, list[Batch]] = {}  # to the workers that are ready
        self._sent_generation: dict[int, int] = {}  # whose population a worker was sent last
        self._by_load: list[set[int]] = [set() for _ in range(BATCHES_PER_WORKER)]  # workers with 0, 1, … batches
        self._unsent: deque[Batch] = deque()
        self._messages: queue.SimpleQueue[ActorMessage] = queue.SimpleQueue()
        self._failed_starts = 0
        self.n_pending = 0
        for number in range(workers):
            self._actors[number] = self._new()
            self._call(number)

    @property
    def n_ready(self) -> int:
        return len(self._sent)

    def pending(self) -> list[Batch]:
        """The batches that were submitted and have not ended."""
        return [*self._unsent, *(batch for batches in self._sent.values() for batch in batches)]

    def submit(self, batch: Batch) -> None:
        """Have a batch evaluated by the worker with the fewest."""
        self.n_pending += 1
        self._unsent.append(batch)
        self._send()

    def wait(self, generation: int) -> list[BatchResult]:
        """Wait until something has happened; return the batches that have ended.

        Batches of other generations are not evaluated again if their worker crashes.
        """
        done: list[BatchResult] = []
        self._handle(self._messages.get(), generation, done)
        while not self._messages.empty():
            self._handle(self._messages.get(), generation, done)
        self._send()
        return done

    def stop(self) -> None:
        """End all workers at once."""
        import ray

        for actor in self._actors.values():
            ray.kill(actor)

    def _send(self) -> None:
        """Send as many batches as the workers take."""
        held = []
        while self._unsent and any(self._by_load):
            batch = self._unsent.popleft()
            candidates = self._by_load[:1] if batch.n_crashes else self._by_load
            number = next((next(iter(numbers)) for numbers in candidates if numbers), None)
            if number is None:
                held.append(batch)
                continue
            actor = self._actors[number]
            population = None
            if self._sent_generation.get(number) != batch.generation:
                population = [] if batch.population is None else [batch.population]
                self._sent_generation[number] = batch.generation
            answer = actor.evaluate.remote(batch.pack(), population)
            self._sent[number].append(batch)
            self._update_load(number)
            answer.future().add_done_callback(partial(self._enqueue, number, actor, batch))
        self._unsent.extendleft(reversed(held))

    def _update_load(self, number: int) -> None:
        """Update which workers take more batches."""
        for numbers in self._by_load:
            numbers.discard(number)
        batches = self._sent.get(number)
        if batches is not None and len(batches) < BATCHES_PER_WORKER and not any(batch.n_crashes for batch in batches):
            self._by_load[len(batches)].add(number)

    def _enqueue(self, number: int, actor: Any, batch: Batch | None, outcome: Future[Any]) -> None:
        self._messages.put((number, actor, batch, outcome))

    def _handle(self, message: ActorMessage, generation: int, done: list[BatchResult]) -> None:
        number, actor, batch, outcome = message
        if actor is not self._actors[number]:
            return  # of a worker that was replaced
        failure = outcome.exception()
        if batch is None:
            self._on_ready(number, failure)
        elif batch not in self._sent.get(number, ()):
            return  # its worker has crashed, which another batch has shown
        elif failure is None:
            self._sent[number].remove(batch)
            self._update_load(number)
            found = outcome.result()
            if found is None:  # the worker was restarted in between
                self._sent_generation.pop(number, None)
                self._unsent.appendleft(batch)
            else:
                self.n_pending -= 1
                done.append(_unpack(batch, found))
        else:
            done += self._on_crash(number, generation, failure)

    def _call(self, number: int) -> None:
        """Ask a worker to report when it is ready."""
        actor = self._actors[number]
        actor.ready.remote().future().add_done_callback(partial(self._enqueue, number, actor, None))

    def _on_ready(self, number: int, failure: BaseException | None) -> None:
        from ray.exceptions import ActorUnavailableError

        if failure is None:
            self._failed_starts = 0
            self._sent[number] = []
            self._update_load(number)
            return
        if not isinstance(failure, ActorUnavailableError):  # that one is starting
            self._failed_starts += 1
            if self._failed_starts > self._attempts * len(self._actors) and not self._sent:
                raise EvaluationError(f"no worker can be started; {_first_line(failure)}", [], [])
            self._actors[number] = self._new()
        time.sleep(SECONDS_BETWEEN_CALLS)
        self._call(number)

    def _on_crash(self, number: int, generation: int, failure: BaseException) -> list[BatchResult]:
        """Take back the batches of a worker that has crashed; one that has crashed too many fails."""
        batches = self._sent.pop(number)
        self._sent_generation.pop(number, None)
        self._update_load(number)
        self._call(number)
        given_up: list[BatchResult] = []
        for batch in batches:
            batch.n_crashes += 1
            if len(batches) == 1 and batch.n_crashes >= self._attempts:
                problem = (
                    f"the worker process died in {batch.n_crashes} attempts to evaluate this; {_first_line(failure)}"
                )
                given_up.append((batch, EvaluationError(problem, batch.individuals, batch.cases), 0.0))
            elif batch.generation == generation:
                self._unsent.appendleft(batch)
                continue
            self.n_pending -= 1
        return given_up


def _unpack(batch: Batch, found: bytes | EvaluationError) -> BatchResult:
    """The result that `Worker.evaluate` sent."""
    if isinstance(found, EvaluationError):
        return batch, found, 0.0
    numbers = np.frombuffer(found)
    return batch, numbers[1:].reshape(len(batch.individuals), len(batch.cases)), float(numbers[0])


def _first_line(failure: BaseException) -> str:
    lines = str(failure).strip().splitlines()
    return f"Ray says: {lines[0] if lines else type(failure).__name__}"
