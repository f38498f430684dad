"""A run made again from its id, and compared with what is stored."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flexicase.experiments._tables import Rows, column_bytes, is_timing, read_rows
from flexicase.experiments.executors import Failed, Finished, LocalExecutor, Progressed
from flexicase.experiments.jobs import Progress, Scalar, check_kind
from flexicase.experiments.ledger import Ledger, LedgerEntry, RunResult
from flexicase.experiments.study import Study, studies_in

POLL_SECONDS = 1.0


@dataclass(frozen=True)
class RerunComparison:
    """How a repeated run compares with the stored one.

    Attributes:
        run_id: The run.
        rows: How many rows are stored.
        columns: The columns that were compared: all but times.
        differences: What is not the same to the last bit, one line per column; empty if nothing.

    Example:
        >>> from flexicase.experiments.rerun import RerunComparison
        >>> RerunComparison("0123456789abcdef", rows=2, columns=["generation"], differences=[]).identical
        True
    """

    run_id: str
    rows: int
    columns: list[str]
    differences: list[str]

    @property
    def identical(self) -> bool:
        """Whether everything is the same to the last bit."""
        return not self.differences


def find_run(root: Path, prefix: str) -> tuple[Study, LedgerEntry]:
    """The run of any study below ``root`` whose id starts with ``prefix``.

    Raises:
        ValueError: There is none, more than one, or one that is not done, so that nothing can be compared.

    Example:
        >>> from pathlib import Path
        >>> from flexicase.experiments.rerun import find_run
        >>> find_run(Path("no-such-folder"), "0123")
        Traceback (most recent call last):
        ...
        ValueError: there are no studies in no-such-folder
    """
    found, unreadable = [], []
    studies = studies_in(root)
    if not studies:
        raise ValueError(f"there are no studies in {root}")
    for study in studies:
        try:
            with Ledger(study.ledger, read_only=True) as ledger:
                found += [(study, entry) for entry in ledger.entries() if entry.task.id.startswith(prefix)]
        except (OSError, ValueError, sqlite3.Error):
            unreadable.append(study.folder.name)
    if not found:
        hint = f" (could not be read: {', '.join(unreadable)})" if unreadable else ""
        raise ValueError(f"no run's id starts with {prefix!r} in the studies of {root}{hint}")
    if len({entry.task.id for _, entry in found}) > 1:
        raise ValueError(f"{len(found)} runs' ids start with {prefix!r} in the studies of {root}: give more digits")
    study, entry = next((pair for pair in found if pair[1].result is not None), found[0])
    _stored(entry)
    return study, entry


def rerun(
    study: Study, entry: LedgerEntry, report: Callable[[Progress], None] | None = None, *, allow_code: bool = False
) -> RerunComparison:
    """Make a finished run again, in a process and a folder of its own, and compare.

    Args:
        study: The study that has it.
        entry: The run.
        report: Is told how far it is.
        allow_code: Run code of a kind that is not one of flexicase's own.

    Raises:
        ValueError: The run is not done, so that there is nothing to compare with; or its kind was not allowed.
        RuntimeError: The repeated run failed.
        DamagedTableError: The stored rows are not what was recorded.
    """
    result = _stored(entry)
    check_kind(entry.task.kind, allow_code=allow_code)
    stored = read_rows(study.rows(entry.task.id), result.checksum)
    with tempfile.TemporaryDirectory() as folder:
        elsewhere = Study(Path(folder))
        elsewhere.make_folders()
        outcome = _make(LocalExecutor(elsewhere, workers=1), entry, report)
        again = read_rows(elsewhere.rows(entry.task.id), outcome.result.checksum)
    differences = differences_of(stored, again)
    before, after = result.summary, outcome.result.summary
    differences += [
        f"summary {key!r}: {before.get(key)!r:.80} is stored, {after.get(key)!r:.80} found"
        for key in before
        if not _same(before[key], after.get(key))
    ]
    columns = [name for name in stored if not is_timing(name)]
    return RerunComparison(entry.task.id, len(next(iter(stored.values()))), columns, differences)


def _stored(entry: LedgerEntry) -> RunResult:
    if entry.result is None:
        raise ValueError(f"run {entry.task.id} is {entry.state}, not done: there is nothing to compare with")
    return entry.result


def _make(executor: LocalExecutor, entry: LedgerEntry, report: Callable[[Progress], None] | None) -> Finished:
    executor.start(entry.task)
    try:
        while True:
            for event in executor.events(POLL_SECONDS):
                if isinstance(event, Finished):
                    return event
                if isinstance(event, Failed):
                    raise RuntimeError(f"run {entry.task.id} failed: {event.reason}")
                if isinstance(event, Progressed) and report is not None:
                    report(event.progress)
    finally:
        executor.stop()


def _same(one: Scalar, other: Scalar) -> bool:
    return one == other or (one != one and other != other)  # noqa: PLR0124 - NaN is the same as NaN here


def differences_of(stored: Rows, again: Rows) -> list[str]:
    """Where two runs' rows differ, times aside, to the last bit.

    Args:
        stored: Columns by name, each (n_steps,).
        again: The same of the other run; a later version may have added columns.

    Example:
        >>> import numpy as np
        >>> from flexicase.experiments.rerun import differences_of
        >>> differences_of({"error": np.array([2.0, 1.0])}, {"error": np.array([2.0, 0.5])})
        ["column 'error', row 1: 1.0 is stored, 0.5 found"]
    """
    found = []
    for name in filter(lambda name: not is_timing(name), stored):
        if name not in again:
            found.append(f"column {name!r} is only in the stored rows")
            continue
        one, other = stored[name], again[name]
        if one.dtype != other.dtype or len(one) != len(other):
            found.append(f"column {name!r}: {len(one)} × {one.dtype} are stored, {len(other)} × {other.dtype} found")
        elif column_bytes(one) != column_bytes(other):
            row = next(i for i in range(len(one)) if column_bytes(one[i : i + 1]) != column_bytes(other[i : i + 1]))
            found.append(f"column {name!r}, row {row}: {one[row]} is stored, {other[row]} found")
    return found
