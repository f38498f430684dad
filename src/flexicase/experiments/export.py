"""A study in a few files: what the report reads, what is kept, and what another machine goes on from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from flexicase._checks import check_choice
from flexicase._provenance import Provenance
from flexicase.experiments._tables import (
    FORMATS,
    MANIFEST,
    Format,
    Rows,
    check_rows,
    is_timing,
    locate,
    read_rows,
    read_tables,
    rows_digest,
    write_rows,
    write_tables,
)
from flexicase.experiments.jobs import Progress
from flexicase.experiments.ledger import Ledger, LedgerEntry, RunResult
from flexicase.experiments.results import ORIGIN, RUN_COLUMNS, SPEC, read_runs
from flexicase.experiments.spec import load_spec, plan, read_spec
from flexicase.experiments.study import Study


@dataclass(frozen=True)
class ExportSummary:
    """What an export has written.

    Attributes:
        folder: Where.
        files: The files.
        done: How many finished runs it holds.
        planned: How many runs the study has.
        rows: How many rows the finished runs have.
    """

    folder: Path
    files: list[Path]
    done: int
    planned: int
    rows: int

    @property
    def bytes(self) -> int:
        """The size of all files together."""
        return sum(path.stat().st_size for path in self.files)


def export_study(study: Study, folder: Path, format: Format = "parquet") -> ExportSummary:  # noqa: A002
    r"""Write what a study has found so far to a few files; it may be running.

    ``runs`` and ``rows`` depend on the study alone: whatever happened on the way, they are the same to the last byte.
    Times are in ``timings``; versions, machines and commands in ``provenance``.

    Args:
        study: The study.
        folder: Where the files go; made if need be. An earlier export of the study that is there is replaced, all
            files at once: an interruption leaves the old one or the new one.
        format: ``"parquet"`` or ``"csv"`` (compressed).

    Raises:
        ValueError: The folder holds the export of another study, or a file that would be replaced and is no part of
            an export.
        DamagedTableError: The rows of a finished run are not what was recorded; ``flexicase run`` makes it again.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from flexicase.experiments import Study, export_study, parse_spec
        >>> from flexicase.experiments.ledger import Ledger
        >>> spec = parse_spec('name = "t"\nproblems = ["mirror-image"]\nmethods = ["lexicase"]\nseeds = 3')
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     study = Study(Path(folder))
        ...     Ledger.create(study.ledger, spec).close()
        ...     exported = export_study(study, study.folder / "results")
        >>> exported.done, exported.planned
        (0, 3)
    """
    check_choice(format, "format", FORMATS)
    with Ledger(study.ledger, read_only=True) as ledger:
        entries, text = ledger.entries(), ledger.text
    _refuse_another_study(folder, read_spec(text).name, [entry.task.id for entry in entries])
    done = [entry for entry in entries if entry.result is not None]
    rows = [(entry.task.id, _stored_rows(study, entry)) for entry in done]
    tables = {"runs": _runs_table(entries), "provenance": _provenance_table(done)}
    if rows:
        tables["rows"] = _stacked(rows, timings=False)
        tables["timings"] = _stacked(rows, timings=True)
    files = write_tables(folder, tables, format, {SPEC: text.encode()})
    return ExportSummary(folder, files, len(done), len(entries), sum(len(next(iter(r.values()))) for _, r in rows))


def import_study(folder: Path, root: Path, *, allow_code: bool = False) -> tuple[Study, int]:
    """Take over the finished runs of an export, into a new study or one of the same contents.

    Args:
        folder: An export.
        root: The folder of all studies.
        allow_code: Import the kind that its study names if it is not one of flexicase's own, which runs its code.

    Returns:
        The study, and how many runs were new to it.

    Raises:
        ValueError: The export does not fit its own study, or a run has other results here.
        ChangedSpecError: There is another study of this name.
        LockedError: The study is running.
    """
    spec = load_spec(locate(folder, SPEC), allow_code=allow_code)
    exported = read_runs(folder)
    runs = {run["id"]: run for run in exported.runs}
    if list(runs) != [task.id for task in plan(spec)]:
        raise ValueError(f"{folder}: the runs are not those that {SPEC} plans: made by another version, or edited")
    study = Study(root / spec.name)
    study.make_folders()
    new = 0
    with study.lock(), Ledger.open_or_create(study.ledger, spec) as ledger:
        for run_id, rows in exported.rows.items():
            new += _import_run(study, ledger, runs[run_id], exported.provenance[run_id], check_rows(rows))
    return study, new


def _import_run(study: Study, ledger: Ledger, run: dict[str, Any], made_by: dict[str, Any], rows: Rows) -> bool:
    """Record a run that is not done here; whether it was so."""
    found = rows_digest(rows)
    if found != run["digest"]:
        raise ValueError(
            f"run {run['id']}: the exported rows are damaged: their digest is not the one in the run table"
        )
    here = ledger.entry(run["id"])
    if here.result is not None:
        if here.result.digest != found:
            raise ValueError(f"run {run['id']} is done here with other rows than in the export")
        return False
    summary = {key: value for key, value in run.items() if key not in RUN_COLUMNS}
    steps = len(next(iter(rows.values())))
    entry = LedgerEntry(
        task=here.task,
        state="done",
        attempts=made_by["attempts"],
        started=made_by["started"],
        heartbeat=None,
        finished=made_by["finished"],
        seconds=made_by["seconds"],
        progress=Progress(steps, steps),
        provenance=Provenance(*(made_by[name] or "" for name in ORIGIN)),
        failure=None,
        result=RunResult(write_rows(study.rows(run["id"]), rows), found, summary),
    )
    ledger.import_run(entry)
    return True


def _refuse_another_study(folder: Path, name: str, ids: list[str]) -> None:
    """Raise ValueError if a folder holds the export of a study with another name or other runs."""
    if not locate(folder, MANIFEST).exists():
        return  # what is there is no export, and `write_tables` does not replace it
    found_name = found_ids = None
    with suppress(OSError, ValueError):
        found_name = read_spec(locate(folder, SPEC).read_text(encoding="utf-8")).name
    with suppress(OSError, ValueError, KeyError):
        found_ids = read_tables(folder, "runs")["runs"]["id"].to_pylist()
    # of a damaged export, what can be read has to do
    if (found_name or name) != name or (found_ids or ids) != ids:
        raise ValueError(f"{folder} holds another study (name {found_name!r}): choose another folder")


def _stored_rows(study: Study, entry: LedgerEntry) -> Rows:
    assert entry.result is not None
    return read_rows(study.rows(entry.task.id), entry.result.checksum)


def _runs_table(entries: list[LedgerEntry]) -> Any:
    """One line per run of the study; only done and not done are told apart, since the rest is circumstance."""
    import pyarrow as pa

    keys = list(dict.fromkeys(key for entry in entries if entry.result for key in entry.result.summary))
    columns: dict[str, Any] = {
        "id": [entry.task.id for entry in entries],
        "problem": [entry.task.problem for entry in entries],
        "method": [entry.task.method for entry in entries],
        "variant": [entry.task.variant for entry in entries],
        "seed": pa.array([entry.task.seed for entry in entries], pa.int64()),
        "state": ["done" if entry.result else "planned" for entry in entries],
        "digest": pa.array([entry.result.digest if entry.result else None for entry in entries], pa.string()),
    }
    for key in keys:
        values = pa.array([entry.result.summary.get(key) if entry.result else None for entry in entries])
        columns[key] = values.cast(pa.string()) if pa.types.is_null(values.type) else values
    return pa.table(columns)


def _provenance_table(done: list[LedgerEntry]) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = {
        "id": pa.array([entry.task.id for entry in done], pa.string()),
        "attempts": pa.array([entry.attempts for entry in done], pa.int64()),
        "started": pa.array([entry.started for entry in done], pa.float64()),
        "finished": pa.array([entry.finished for entry in done], pa.float64()),
        "seconds": pa.array([entry.seconds for entry in done], pa.float64()),
    }
    for name in ORIGIN:
        columns[name] = pa.array([getattr(entry.provenance, name, None) for entry in done], pa.string())
    return pa.table(columns)


def _stacked(rows: list[tuple[str, Rows]], *, timings: bool) -> Any:
    """The rows of all runs below one another, with the run's id in front."""
    import pyarrow as pa

    names = [name for name in rows[0][1] if is_timing(name) == timings]
    for run_id, columns in rows:
        found = [name for name in columns if is_timing(name) == timings]
        if found != names:
            raise ValueError(
                f"run {run_id}: expected columns {', '.join(names)} as in the others, got {', '.join(found)}"
            )
    lengths = [len(next(iter(columns.values()))) for _, columns in rows]
    ids = np.repeat([run_id for run_id, _ in rows], lengths)
    stack: Any = np.ma.concatenate
    return pa.table({"id": ids, **{name: stack([columns[name] for _, columns in rows]) for name in names}})
