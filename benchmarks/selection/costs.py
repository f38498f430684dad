"""What selection costs besides time per selection: small calls, memory, use of a second core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import key_from_seed
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.methods import resolve_method
from flexicase.selection.select import Selector, select
from selection.runners import Bench
from selection.workloads import Workload

STATM = Path("/proc/self/statm")
BENCHMARKS = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Cost:
    """One measured figure.

    Attributes:
        what: What was measured.
        value: The figure.
        unit: Its unit.
        goal: The bound aimed at, or None.
        at_most: Whether the goal is an upper bound.
    """

    what: str
    value: float
    unit: str
    goal: float | None = None
    at_most: bool = True

    @property
    def holds(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        if self.goal is None:
            return None
        return self.value <= self.goal if self.at_most else self.value >= self.goal

    def as_dict(self) -> dict[str, Any]:
        """All of it as JSON-ready values."""
        return {**asdict(self), "holds": self.holds}


def small_calls(*, repeat: int = 5, calls: int = 1000) -> list[Cost]:
    """Processor time of one selection from a 20 × 20 matrix: prepared, and from scratch.

    Args:
        repeat: Best of so many.
        calls: Calls per measurement.
    """
    errors = np.random.default_rng(15).integers(0, 3, (20, 20)).astype(np.float64)
    selector = Selector(errors, seed=1)
    prepared = _seconds_per_call(lambda seed: selector.draw(1), calls, repeat)
    fresh = _seconds_per_call(lambda seed: select(errors, 1, seed=seed), calls, repeat)
    return [
        Cost("20 × 20, n = 1, prepared Selector", 1e6 * prepared, "µs a call", 5.0),
        Cost("20 × 20, n = 1, select", 1e6 * fresh, "µs a call", 30.0),
    ]


def _seconds_per_call(call: Callable[[int], Any], calls: int, repeat: int) -> float:
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        for seed in range(calls):
            call(seed)
        best = min(best, (time.process_time() - start) / calls)
    return float(best)


def memory(workload: Workload, errors: NDArray[np.float64]) -> Cost | None:
    """Bytes per entry held beyond the input after a draw with counts.

    For exact lexicase that is what the prepared matrix says it holds. For epsilon lexicase, where
    the kernel keeps columns as well, it is how much a fresh process grows; None where the system does not tell.

    Args:
        workload: Whose matrix it is.
        errors: (n_individuals, n_cases) the matrix.
    """
    held = _resident_growth(workload, errors) if workload.epsilon else _held_by_matrix(workload, errors)
    if held is None:
        return None
    goal = 1.0 if workload.key in ("a", "c") else None
    return Cost(f"{workload.key}: memory beyond the input", held / errors.size, "bytes an entry", goal)


def _held_by_matrix(workload: Workload, errors: NDArray[np.float64]) -> int:
    matrix, key = ErrorMatrix.from_array(errors), key_from_seed(1)
    resolve_method("lexicase").prepare(matrix, key, "native").draw(key, range(workload.n), True, 1)
    return matrix.native.memory()


def _resident_growth(workload: Workload, errors: NDArray[np.float64]) -> int | None:
    if not STATM.exists():
        return None
    with tempfile.TemporaryDirectory(prefix="flexicase-bench-") as folder:
        path = Path(folder) / "errors.npy"
        np.save(path, errors)
        code = "import sys; from selection.costs import print_growth; print_growth(*sys.argv[1:])"
        command = [sys.executable, "-c", code, str(path), str(workload.n)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=BENCHMARKS)
        return int(done.stdout)


def print_growth(path: str, n: str) -> None:
    """Print by how many bytes this process grows when it draws ``n`` parents by epsilon lexicase.

    Args:
        path: An ``.npy`` file with the (n_individuals, n_cases) errors.
        n: How many, as text.
    """
    select(np.eye(50), 5, "epsilon-lexicase", seed=1)  # loads what every selection needs
    errors = np.load(path)
    before = _resident_bytes()
    selector = Selector(errors, "epsilon-lexicase", seed=1)
    selector.draw(int(n))
    print(_resident_bytes() - before)


def _resident_bytes() -> int:
    return int(STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def second_thread(workload: Workload, errors: NDArray[np.float64], *, repeat: int = 5, seconds: float = 0.2) -> Cost:
    """How many times faster two threads are than one, preparation included, by the clock on the wall.

    Args:
        workload: Whose matrix it is.
        errors: (n_individuals, n_cases) the matrix.
        repeat: Rounds in which both take turns.
        seconds: Least processor seconds of a turn.
    """
    bench = Bench("flexicase", errors, epsilon=workload.epsilon)
    alone = together = np.inf
    for round_ in range(repeat):
        one, two = (
            bench.time(workload.n, seed=1_000_000 * round_, seconds=seconds, limit=60.0, threads=threads)
            for threads in (1, 2)
        )
        alone, together = min(alone, one.wall_seconds), min(together, two.wall_seconds)
    return Cost(f"{workload.key}: two threads against one, wall", alone / together, "times faster")


def costs_of(workload: Workload, errors: NDArray[np.float64], *, repeat: int = 5, seconds: float = 0.2) -> list[Cost]:
    """The figures that go with one workload: memory, and on the largest the gain of a second thread.

    Args:
        workload: Whose matrix it is.
        errors: (n_individuals, n_cases) the matrix.
        repeat: As for `second_thread`.
        seconds: As for `second_thread`.
    """
    held = memory(workload, errors)
    found = [] if held is None else [held]
    if workload.key == "c":
        found.append(second_thread(workload, errors, repeat=repeat, seconds=seconds))
    return found
