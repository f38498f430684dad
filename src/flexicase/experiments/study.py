"""The folder of a study, and a summary of its runs."""

from __future__ import annotations

import errno
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flexicase._files import FileLock
from flexicase.experiments._tables import Rows, read_rows
from flexicase.experiments.ledger import ROWS, STATES, Ledger, LedgerEntry, State

LEDGER = "ledger.sqlite"


@dataclass(frozen=True)
class Study:
    """A study's folder.

    Attributes:
        folder: The folder: ``ledger.sqlite``, ``rows/`` with a Parquet file per finished run, and, for unfinished runs,
            ``saves/`` and ``logs/``.

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

    def rows(self, run_id: str) -> Path:
        """The Parquet file of a run."""
        return self.folder / ROWS / f"{run_id}.parquet"

    def save(self, run_id: str) -> Path:
        """The folder with the checkpoints of a run."""
        return self.folder / "saves" / run_id

    def log(self, run_id: str) -> Path:
        """The output of a run."""
        return self.folder / "logs" / f"{run_id}.log"

    def make_folders(self) -> None:
        """Make the folders that are missing."""
        for name in (ROWS, "saves", "logs"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def lock(self) -> FileLock:
        """The lock that a process must hold to write to the ledger."""
        return FileLock(self.folder / "lock", f"study {self.folder.name!r}")

    def entries(self) -> list[LedgerEntry]:
        """The ledger's entries, in the order of the plan; the study may be running."""
        with Ledger(self.ledger, read_only=True) as ledger:
            return ledger.entries()

    def read_rows(self, entry: LedgerEntry) -> Rows:
        """The rows of a finished run; raises `DamagedTableError` if they are missing or damaged."""
        if entry.result is None:
            raise ValueError(f"run {entry.task.id} is {entry.state}, not done: it has no rows")
        return read_rows(self.rows(entry.task.id), entry.result.checksum)


def studies_in(folder: Path) -> list[Study]:
    """The studies in a folder, by name; none if the folder does not exist."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    return [Study(path.parent) for path in sorted(folder.glob(f"*/{LEDGER}"))]


@dataclass(frozen=True)
class CellStatus:
    """Runs of one problem, method and variant: how many succeeded, are done, and are planned in all."""

    problem: str
    method: str
    variant: str
    successes: int
    done: int
    planned: int


@dataclass(frozen=True)
class StudyStatus:
    """The status of a study; ``seconds_left`` is estimated from the finished runs, None before the first."""

    counts: dict[State, int]
    cells: list[CellStatus]
    seconds_left: float | None

    @property
    def total(self) -> int:
        """Number of runs."""
        return sum(self.counts.values())


def study_status(entries: Sequence[LedgerEntry], workers: int = 1) -> StudyStatus:
    """Summarize the entries of a ledger; ``workers`` run at a time."""
    counts: dict[State, int] = dict.fromkeys(STATES, 0)
    groups: dict[tuple[str, str, str], list[LedgerEntry]] = {}
    for entry in entries:
        counts[entry.state] += 1
        groups.setdefault((entry.task.problem, entry.task.method, entry.task.variant), []).append(entry)
    cells = []
    for cell, group in groups.items():
        results = [entry.result for entry in group if entry.result is not None]
        successes = sum(bool(result.summary.get("success")) for result in results)
        cells.append(CellStatus(*cell, successes, len(results), len(group)))
    return StudyStatus(counts, cells, _seconds_left(entries, workers))


def _seconds_left(entries: Sequence[LedgerEntry], workers: int) -> float | None:
    """Assume that a run takes the mean time of its problem's finished runs."""
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
