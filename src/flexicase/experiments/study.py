"""The folder of a study: where everything lies."""

from __future__ import annotations

import errno
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flexicase._files import FileLock
from flexicase.experiments.ledger import ROWS, STATES, LedgerEntry, State

LEDGER = "ledger.sqlite"


@dataclass(frozen=True)
class Study:
    """A study's folder.

    Attributes:
        folder: The folder: ``ledger.sqlite``, ``rows/`` with a Parquet file per finished run, and while runs are
            going on ``saves/`` and ``logs/``.

    Example:
        >>> from pathlib import Path
        >>> from flexicase.experiments import Study
        >>> Study(Path("studies/tiny")).rows("0123456789abcdef").as_posix()
        'studies/tiny/rows/0123456789abcdef.parquet'
    """

    folder: Path

    @property
    def ledger(self) -> Path:
        """The SQLite file."""
        return self.folder / LEDGER

    @property
    def exists(self) -> bool:
        """Whether there is a ledger."""
        return self.ledger.exists()

    def rows(self, run_id: str) -> Path:
        """The Parquet file of a run."""
        return self.folder / ROWS / f"{run_id}.parquet"

    def save(self, run_id: str) -> Path:
        """The folder from which an interrupted run goes on."""
        return self.folder / "saves" / run_id

    def log(self, run_id: str) -> Path:
        """What a run has printed."""
        return self.folder / "logs" / f"{run_id}.log"

    def make_folders(self) -> None:
        """Make the folders that are not there yet."""
        for name in (ROWS, "saves", "logs"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def lock(self) -> FileLock:
        """The lock of the one process that may write to the ledger."""
        return FileLock(self.folder / "lock", f"study {self.folder.name!r}")


def studies_in(root: Path) -> list[Study]:
    """The studies below a folder, by name; none if there is no such folder.

    Raises:
        NotADirectoryError: It is a file.

    Example:
        >>> from pathlib import Path
        >>> from flexicase.experiments.study import studies_in
        >>> studies_in(Path("no-such-folder"))
        []
    """
    if root.exists() and not root.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(root))
    return [Study(path.parent) for path in sorted(root.glob(f"*/{LEDGER}"))]


@dataclass(frozen=True)
class CellStatus:
    """How the finished runs of one problem, method and variant have gone.

    Attributes:
        problem: The problem.
        method: The method.
        variant: The variant.
        successes: How many runs reached their goal.
        done: How many are done.
        planned: How many there are in all.
    """

    problem: str
    method: str
    variant: str
    successes: int
    done: int
    planned: int


@dataclass(frozen=True)
class StudyStatus:
    """How a study stands.

    Attributes:
        counts: How many runs are in each state.
        scores: Successes so far.
        seconds_left: An estimate from the runs that are done, or None before the first.
    """

    counts: dict[State, int]
    scores: list[CellStatus]
    seconds_left: float | None

    @property
    def total(self) -> int:
        """All runs."""
        return sum(self.counts.values())


def study_status(entries: Sequence[LedgerEntry], workers: int = 1) -> StudyStatus:
    """Sum up the entries of a ledger.

    Args:
        entries: All runs.
        workers: How many are made at a time, for the estimate of the time left.

    Example:
        >>> from flexicase.experiments.study import study_status
        >>> study_status([]).total
        0
    """
    counts: dict[State, int] = dict.fromkeys(STATES, 0)
    groups: dict[tuple[str, str, str], list[LedgerEntry]] = {}
    for entry in entries:
        counts[entry.state] += 1
        groups.setdefault((entry.task.problem, entry.task.method, entry.task.variant), []).append(entry)
    return StudyStatus(counts, [_score(*key, group) for key, group in groups.items()], _seconds_left(entries, workers))


def _score(problem: str, method: str, variant: str, group: list[LedgerEntry]) -> CellStatus:
    results = [entry.result for entry in group if entry.result is not None]
    successes = sum(bool(result.summary.get("success")) for result in results)
    return CellStatus(problem, method, variant, successes, len(results), len(group))


def _seconds_left(entries: Sequence[LedgerEntry], workers: int) -> float | None:
    """Every run takes as long as the mean of its problem's finished runs."""
    done: dict[str, list[float]] = {}
    for entry in entries:
        if entry.result is not None:
            done.setdefault(entry.task.problem, []).append(entry.seconds)
    if not done:
        return None
    means = {problem: statistics.fmean(seconds) for problem, seconds in done.items()}
    overall = statistics.fmean(means.values())
    left = 0.0
    for entry in entries:
        if entry.state in ("planned", "running", "failed"):
            spent = time.time() - entry.started if entry.state == "running" and entry.started else 0.0
            left += max(0.0, means.get(entry.task.problem, overall) - spent)
    return left / workers
