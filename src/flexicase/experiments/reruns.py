"""Repeat a finished run from its id, and compare it with the stored rows."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flexicase.experiments._tables import Rows, column_bytes, is_timing, n_rows, read_rows
from flexicase.experiments.executors import Failed, run_to_end
from flexicase.experiments.jobs import Progress, Scalar, check_kind
from flexicase.experiments.ledger import LedgerEntry
from flexicase.experiments.study import Study, studies_in


@dataclass(frozen=True)
class RerunComparison:
    """A repeated run compared with the stored one.

    Attributes:
        rows: Number of stored rows.
        columns: The columns that were compared: all but times.
        differences: One line for each column or value that is not identical.
    """

    run_id: str
    rows: int
    columns: list[str]
    differences: list[str]

    @property
    def identical(self) -> bool:
        """Whether everything is identical to the last bit."""
        return not self.differences


def find_run(studies: Path, run_id: str) -> tuple[Study, LedgerEntry]:
    """Find a finished run in any study of a folder, by its id or the first digits of it.

    Raises:
        ValueError: There is none, more than one, or one that is not done.
    """
    found, unreadable = [], []
    known = studies_in(studies)
    if not known:
        raise ValueError(f'there are no studies in {studies}; "flexicase import FOLDER" brings in those of an export')
    for study in known:
        try:
            found += [(study, entry) for entry in study.entries() if entry.task.id.startswith(run_id)]
        except (OSError, ValueError, sqlite3.Error):
            unreadable.append(study.folder.name)
    if not found:
        hint = f" (could not be read: {', '.join(unreadable)})" if unreadable else ""
        raise ValueError(f"no run's id starts with {run_id!r} in the studies of {studies}{hint}")
    if len({entry.task.id for _, entry in found}) > 1:
        raise ValueError(f"{len(found)} runs' ids start with {run_id!r} in the studies of {studies}: give more digits")
    study, entry = next((pair for pair in found if pair[1].result is not None), found[0])
    if entry.result is None:
        raise ValueError(f"run {entry.task.id} is {entry.state}, not done: there is nothing to compare with")
    return study, entry


def rerun(
    study: Study, entry: LedgerEntry, report: Callable[[Progress], None] | None = None, *, allow_code: bool = False
) -> RerunComparison:
    """Repeat a finished run in a new process and a temporary folder, and compare.

    Args:
        study: The study of the run.
        entry: The run.
        report: Called with its progress.
        allow_code: Import the class that the run's ``kind`` names, which runs its code.

    Raises:
        ValueError: The run is not done, or its kind needs ``allow_code``.
        RuntimeError: The repeated run failed.
        DamagedTableError: The stored rows are damaged.
    """
    check_kind(entry.task.kind, allow_code=allow_code)
    stored = study.read_rows(entry)
    with tempfile.TemporaryDirectory() as folder:
        temporary = Study(Path(folder))
        temporary.make_folders()
        event = run_to_end(temporary, entry.task, report=report)
        if isinstance(event, Failed):
            raise RuntimeError(f"run {entry.task.id} failed: {event.reason}")
        repeated = read_rows(temporary.rows(entry.task.id), event.result.checksum)
    differences = differences_of(stored, repeated)
    assert entry.result is not None
    for key, before in entry.result.summary.items():
        after = event.result.summary.get(key)
        if not _same(before, after):
            differences.append(f"summary {key!r}: {before!r:.80} is stored, {after!r:.80} found")
    columns = [name for name in stored if not is_timing(name)]
    return RerunComparison(entry.task.id, n_rows(stored), columns, differences)


def _same(one: Scalar, other: Scalar) -> bool:
    return one == other or (one != one and other != other)  # noqa: PLR0124 - NaN equals NaN here


def differences_of(stored: Rows, repeated: Rows) -> list[str]:
    """Differences between the rows of two runs, to the last bit, except in times; one line per column.

    A later version may have added columns, which are not compared.
    """
    found = []
    for name, one in stored.items():
        other = repeated.get(name)
        if is_timing(name):
            continue
        if other is None:
            found.append(f"column {name!r} is only in the stored rows")
        elif one.dtype != other.dtype or len(one) != len(other):
            found.append(f"column {name!r}: {len(one)} × {one.dtype} are stored, {len(other)} × {other.dtype} found")
        elif column_bytes(one) != column_bytes(other):
            row = next(i for i in range(len(one)) if column_bytes(one[i : i + 1]) != column_bytes(other[i : i + 1]))
            found.append(f"column {name!r}, row {row}: {one[row]} is stored, {other[row]} found")
    return found
