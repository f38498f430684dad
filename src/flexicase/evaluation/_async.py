"""An evaluator that awaits coroutines, such as requests to a language model."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import check_count, check_function, room_for
from flexicase.evaluation._local import MAX_WORKERS, check_error
from flexicase.evaluation._protocol import ClosingEvaluator, EvaluationError

Rollout = Callable[[int, int], Awaitable[float]]
Loop = tuple[threading.Thread, asyncio.AbstractEventLoop, asyncio.Event]


class AsyncEvaluator(ClosingEvaluator):
    """Awaits a coroutine function for every (individual, case) pair, several at the same time.

    The coroutines run on an event loop in a thread of its own, from the first call until `close`, so that clients bound
    to a loop can be used again, and calls work where another loop is running. If a rollout fails, no further one is
    started, those under way are awaited, and the call raises. Ctrl-C cancels those under way. In both cases the
    results that were paid for are in ``finished``; pass `known_errors` to the next call of `FastLexicase.select`.

    Args:
        function: ``async def rollout(individual, case)`` gives the error of one pair of indices.
        concurrency: Rollouts at the same time, at most.

    Attributes:
        finished: The error of every (individual, case) that was rolled out. Clear it when the population changes.

    Example:
        >>> import asyncio
        >>> import flexicase as fx
        >>> from flexicase.evaluation import AsyncEvaluator
        >>> async def rollout(individual, case):
        ...     await asyncio.sleep(0.001)
        ...     return abs(individual - case)
        >>> with AsyncEvaluator(rollout, concurrency=4) as evaluate:
        ...     s = fx.FastLexicase(5, seed=1).select(evaluate, 3)
        >>> len(evaluate.finished) == int(s.pairs.sum())
        True
    """

    def __init__(self, function: Rollout, concurrency: int = 8) -> None:
        self.function = check_function(function, "function", 2)
        self.concurrency = check_count(concurrency, "concurrency", 1, MAX_WORKERS)
        self.finished: dict[tuple[int, int], float] = {}
        self._running: Loop | None = None
        self._lock = threading.Lock()

    def _fill(self, errors: NDArray[np.float64], individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> None:
        if not errors.size:
            return
        thread, loop, _ = self._start()
        if thread is threading.current_thread():
            raise RuntimeError("an AsyncEvaluator must not be called by its own coroutines")
        pairs = itertools.product(enumerate(individuals.tolist()), enumerate(cases.tolist()))
        under_way = asyncio.run_coroutine_threadsafe(self._roll_out_all(errors, pairs), loop)
        try:
            failures = under_way.result()
        finally:
            under_way.cancel()  # which does nothing if it is done
        if failures:
            raise failures[0]

    def known_errors(self, n_individuals: int, n_cases: int) -> NDArray[np.float64]:
        """(n_individuals, n_cases) errors in ``finished``, NaN where unknown."""
        shape = (check_count(n_individuals, "n_individuals"), check_count(n_cases, "n_cases"))
        errors = room_for(shape, np.float64, "n_individuals")
        errors.fill(np.nan)
        for (individual, case), error in self.finished.items():
            if individual < n_individuals and case < n_cases:
                errors[individual, case] = error
        return errors

    async def _roll_out_all(
        self, errors: NDArray[np.float64], pairs: Iterator[tuple[tuple[int, int], tuple[int, int]]]
    ) -> list[BaseException]:
        """Roll out all pairs; returns failures, since an event loop ends if a task raises SystemExit."""
        failures: list[BaseException] = []

        async def work() -> None:
            for (i, individual), (j, case) in pairs:
                if failures:
                    return
                try:
                    errors[i, j] = await self._roll_out(individual, case)
                except BaseException as failure:
                    failures.append(failure)

        await asyncio.gather(*(work() for _ in range(min(self.concurrency, errors.size))))
        return failures

    async def _roll_out(self, individual: int, case: int) -> float:
        try:
            found = await self.function(individual, case)
        except (Exception, asyncio.CancelledError) as cause:
            problem = f"the evaluator raised {type(cause).__name__}: {cause}"
            raise EvaluationError(problem, [individual], [case]) from cause
        error = self.finished[individual, case] = check_error(found, individual, case)
        return error

    def _start(self) -> Loop:
        with self._lock:
            if self._running is None or not self._running[0].is_alive():  # a fork has no thread
                started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
                thread = threading.Thread(target=_run_loop, args=(started,), name="flexicase", daemon=True)
                thread.start()
                self._running = (thread, *started.result())
            return self._running

    def close(self) -> None:
        """Cancel rollouts under way and end the event loop; the next call starts another."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            thread, loop, stop = running
            loop.call_soon_threadsafe(stop.set)
            thread.join()


def _run_loop(started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    """Run an event loop until its event is set; ``started`` receives both, or why there is no loop."""

    async def serve() -> None:
        stop = asyncio.Event()
        started.set_result((asyncio.get_running_loop(), stop))
        await stop.wait()

    serving = serve()
    try:
        asyncio.run(serving)
    except BaseException as failure:
        serving.close()
        if started.done():
            raise
        started.set_exception(failure)
