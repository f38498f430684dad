"""Export of a study to a few files, for reports and archives; import, to continue it on another machine."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
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
    is_timing,
    locate,
    n_rows,
    read_tables,
    rows_digest,
    write_rows,
    write_tables,
)
from flexicase.experiments.jobs import Progress
from flexicase.experiments.ledger import TIME_FIELDS, Ledger, LedgerEntry, RunResult
from flexicase.experiments.results import (
    ADDED_COLUMNS,
    PROVENANCE_COLUMNS,
    PROVENANCE_FIELDS,
    RUN_COLUMNS,
    SPEC,
    read_runs,
)
from flexicase.experiments.spec import load_spec, plan, read_spec
from flexicase.experiments.study import Study


@dataclass(frozen=True)
class ExportSummary:
    """The files of an export, and their contents: finished and planned runs, rows of the finished ones."""

    folder: Path
    files: list[Path]
    done: int
    planned: int
    rows: int

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.files)


def export_study(study: Study, out: Path, format: Format = "parquet") -> ExportSummary:  # noqa: A002
    """Write the results of a study to a few files; the study may be running.

    ``runs`` and ``rows`` depend on the study alone: interruptions and retries do not change a byte. ``timings`` has the
    times of each row, ``provenance`` the version, machine, command and cost of each run.

    Args:
        study: The study.
        out: Folder for the files; made if it does not exist. An earlier export of the same study is replaced, all files
            at once: an interruption leaves the old one or the new one.
        format: ``"parquet"`` or ``"csv"`` (compressed).

    Raises:
        ValueError: The folder holds the export of another study, or a file that would be replaced and is not part of an
            export.
        DamagedTableError: The rows of a finished run are damaged; ``flexicase run`` repeats it.
    """
    check_choice(format, "format", FORMATS)
    with Ledger(study.ledger, read_only=True) as ledger:
        entries, text = ledger.entries(), ledger.text
    _refuse_another_study(out, read_spec(text).name, [entry.task.id for entry in entries])
    done = [entry for entry in entries if entry.result is not None]
    rows = {entry.task.id: study.read_rows(entry) for entry in done}
    tables = {"runs": _runs_table(entries), "provenance": _provenance_table(done)}
    if rows:
        tables["rows"] = _stack(rows, timings=False)
        tables["timings"] = _stack(rows, timings=True)
    files = write_tables(out, tables, format, {SPEC: text.encode()})
    return ExportSummary(out, files, len(done), len(entries), sum(map(n_rows, rows.values())))


def _refuse_another_study(folder: Path, name: str, ids: list[str]) -> None:
    """Raise ValueError if a folder holds the export of a study with another name or other runs."""
    if not locate(folder, MANIFEST).exists():
        return  # not an export, and `write_tables` replaces nothing else
    found_name, found_ids = name, ids  # a damaged export is judged by the readable part
    with suppress(OSError, ValueError):
        found_name = read_spec(locate(folder, SPEC).read_text(encoding="utf-8")).name
    with suppress(OSError, ValueError, KeyError):
        found_ids = read_tables(folder, "runs")["runs"]["id"].to_pylist()
    if (found_name, found_ids) != (name, ids):
        raise ValueError(f"{folder} holds another study (name {found_name!r}): choose another folder")


def _runs_table(entries: list[LedgerEntry]) -> Any:
    """One line per run. Only "done" and "planned" are told apart, because other states depend on circumstances."""
    import pyarrow as pa

    lines = [
        {
            **{name: getattr(entry.task, name) for name in ("id", "problem", "method", "variant", "seed")},
            "state": "done" if entry.result else "planned",
            "digest": entry.result.digest if entry.result else None,
        }
        for entry in entries
    ]
    table = _table(lines, RUN_COLUMNS)
    for key in dict.fromkeys(key for entry in entries if entry.result for key in entry.result.summary):
        values = pa.array([entry.result.summary.get(key) if entry.result else None for entry in entries])
        table = table.append_column(key, values.cast(pa.string()) if pa.types.is_null(values.type) else values)
    return table


def _provenance_table(done: list[LedgerEntry]) -> Any:
    lines = [
        {
            "id": entry.task.id,
            **{name: getattr(entry, name) for name in TIME_FIELDS},
            **{name: getattr(entry.provenance, name, None) for name in PROVENANCE_FIELDS},
        }
        for entry in done
    ]
    missing = [name for name in ADDED_COLUMNS if all(line[name] is None for line in lines)]
    return _table(lines, PROVENANCE_COLUMNS).drop_columns(missing)


def _table(lines: list[dict[str, Any]], columns: dict[str, str]) -> Any:
    import pyarrow as pa

    return pa.Table.from_pylist(lines, pa.schema({name: getattr(pa, kind)() for name, kind in columns.items()}))


def _stack(rows: dict[str, Rows], *, timings: bool) -> Any:
    """Stack the rows of all runs, after a column of run ids."""
    import pyarrow as pa

    names = [name for name in next(iter(rows.values())) if is_timing(name) == timings]
    for run_id, columns in rows.items():
        found = [name for name in columns if is_timing(name) == timings]
        if found != names:
            raise ValueError(
                f"run {run_id}: expected columns {', '.join(names)} as in the others, got {', '.join(found)}"
            )
    ids = np.repeat(list(rows), list(map(n_rows, rows.values())))
    stack: Any = np.ma.concatenate
    return pa.table({"id": ids, **{name: stack([columns[name] for columns in rows.values()]) for name in names}})


def import_study(folder: Path, studies: Path, *, allow_code: bool = False) -> tuple[Study, int]:
    """Add the finished runs of an export to a study with the same contents, or to a new one.

    Args:
        folder: An export.
        studies: The folder of all studies.
        allow_code: Import the class that the study's ``kind`` names, which runs its code.

    Returns:
        The study, and the number of runs that were added.

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
    study = Study(studies / spec.name)
    study.make_folders()
    new = 0
    with study.lock(), Ledger.open_or_create(study.ledger, spec) as ledger:
        for run_id, rows in exported.rows.items():
            new += _import_run(study, ledger, runs[run_id], exported.provenance[run_id], rows)
    return study, new


def _import_run(study: Study, ledger: Ledger, run: dict[str, Any], provenance: dict[str, Any], rows: Rows) -> bool:
    """Record a run, unless it is already done here."""
    found = rows_digest(rows)
    if found != run["digest"]:
        raise ValueError(f"run {run['id']}: the exported rows are damaged: their digest is not the one in runs")
    here = ledger.entry(run["id"])
    if here.result is not None:
        if here.result.digest != found:
            raise ValueError(f"run {run['id']} is done here with other rows than in the export")
        return False
    summary = {key: value for key, value in run.items() if key not in RUN_COLUMNS}
    entry = replace(
        here,
        progress=Progress(n_rows(rows), n_rows(rows)),
        provenance=Provenance(*(provenance[name] or "" for name in PROVENANCE_FIELDS)),
        result=RunResult(write_rows(study.rows(run["id"]), rows), found, summary),
        **{name: provenance[name] for name in TIME_FIELDS},
    )
    ledger.import_run(entry)
    return True
