"""Exported results of a study: written to a few files, read for reports, and imported on another machine."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    n_rows,
    read_tables,
    rows_digest,
    to_rows,
    types_of,
    write_rows,
    write_tables,
)
from flexicase.experiments.jobs import RESERVED_KEYS, Progress
from flexicase.experiments.ledger import TIME_FIELDS, Ledger, LedgerEntry, RunResult
from flexicase.experiments.spec import StudySpec, load_spec, plan, read_spec, split_variant
from flexicase.experiments.study import Study

SPEC = "study.toml"
#: Columns with their types; all other columns of the runs are the keys of their summaries.
RUN_COLUMNS = dict.fromkeys(RESERVED_KEYS, "string") | {"seed": "int64"}
PROVENANCE_FIELDS = tuple(field.name for field in fields(Provenance))
PROVENANCE_COLUMNS = {
    "id": "string",
    **dict.fromkeys(TIME_FIELDS, "float64"),
    "attempts": "int64",
    **dict.fromkeys(PROVENANCE_FIELDS, "string"),
}
#: Columns that earlier exports do not have; their values are then None.
ADDED_COLUMNS = ("processor_seconds",)
OPTIONAL_COLUMNS = ("digest", "started", "finished", *ADDED_COLUMNS, *PROVENANCE_FIELDS)


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


@dataclass(frozen=True)
class ExportedRuns:
    """The tables of an export.

    Attributes:
        runs: For each run of the plan: `RUN_COLUMNS` and its summary.
        provenance: By id, for each finished run: `PROVENANCE_COLUMNS`.
        rows: By id, for each finished run: its columns, each (n_steps,), including times.
    """

    runs: list[dict[str, Any]]
    provenance: dict[str, dict[str, Any]]
    rows: dict[str, Rows]


def read_runs(folder: Path) -> ExportedRuns:
    """Read the tables of an export; raise ValueError if they are damaged or do not belong together."""
    tables = read_tables(folder, "runs", "provenance")
    runs = _lines(folder, tables, "runs", RUN_COLUMNS)
    provenance = {line["id"]: line for line in _lines(folder, tables, "provenance", PROVENANCE_COLUMNS)}
    rows = _split_by_run(folder, tables.get("rows"), tables.get("timings"))
    orphan_ids = set(rows) - ({run["id"] for run in runs if run["state"] == "done"} & set(provenance))
    if orphan_ids:
        raise ValueError(f"{folder}: run {min(orphan_ids)!r} has rows but no finished run in runs and provenance")
    return ExportedRuns(runs, provenance, rows)


def _lines(folder: Path, tables: dict[str, Any], name: str, columns: dict[str, str]) -> list[dict[str, Any]]:
    """The lines of a table, one for each run."""
    table, types = tables[name], types_of(tables[name])
    for column, kind in columns.items():
        if column not in types and column in ADDED_COLUMNS:
            continue
        if column not in types:
            raise ValueError(f"{folder}: table {name!r} has no column {column!r}")
        if types[column] != kind:
            raise ValueError(f"{folder}: table {name!r}: column {column!r} must be {kind}, got {types[column]}")
        if table[column].null_count and column not in OPTIONAL_COLUMNS:
            raise ValueError(f"{folder}: table {name!r}: column {column!r} must have a value in every line")
    lines = [{**dict.fromkeys(columns), **line} for line in table.to_pylist()]
    for run_id, times in Counter(line["id"] for line in lines).items():
        if times > 1:
            raise ValueError(f"{folder}: table {name!r}: duplicate id {run_id!r}")
    return lines


def _split_by_run(folder: Path, rows: Any, timings: Any) -> dict[str, Rows]:
    """The columns of two tables with the same ids, split where the id changes."""
    if rows is None and timings is None:
        return {}
    found, others = (
        table["id"].to_pylist() if table is not None and types_of(table).get("id") == "string" else None
        for table in (rows, timings)
    )
    if found is None or found != others or None in found:
        raise ValueError(f"{folder}: rows and timings do not belong together: their ids differ")
    for table in (rows, timings):
        for name, kind in types_of(table).items():
            if name != "id" and kind == "string":
                raise ValueError(f"{folder}: column {name!r} of rows or timings must hold numbers")
    columns = to_rows(rows.drop_columns("id")) | to_rows(timings.drop_columns("id"))
    if not columns:
        raise ValueError(f"{folder}: rows and timings have no columns besides the id")
    split: dict[str, Rows] = {}
    stop = 0
    for run_id, group in groupby(found):
        if run_id in split:
            raise ValueError(f"{folder}: the rows of run {run_id!r} must lie together")
        start, stop = stop, stop + len(list(group))
        split[run_id] = check_rows({name: values[start:stop] for name, values in columns.items()})
    return split


@dataclass(frozen=True)
class FinishedRun:
    """A finished run.

    Attributes:
        method: The selection method, with its own settings: ``"weighted-split default_weight=max"``.
        summary: Values for the whole run, such as ``success``.
        columns: Its rows: one (generations,) array for each column, including times. A column of integers that has a
            missing value is left out; a missing float is NaN.
        provenance: Version, machine and command that made it; its attempts, times and ``processor_seconds``.
    """

    id: str
    problem: str
    method: str
    variant: str
    seed: int
    summary: dict[str, Any]
    columns: dict[str, NDArray[Any]]
    provenance: dict[str, Any]

    @property
    def success(self) -> bool:
        return bool(self.summary["success"])

    @property
    def generations(self) -> int:
        return n_rows(self.columns)


@dataclass(frozen=True)
class StudyResults:
    """The finished ``runs`` of a study, in the order of the plan; ``planned`` is the number of all."""

    spec: StudySpec
    planned: int
    runs: tuple[FinishedRun, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.problem for run in self.runs))

    @property
    def variants(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.variant for run in self.runs))

    def methods(self, problem: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(run.method for run in self.runs if run.problem == problem))

    def origin(self) -> dict[str, str]:
        """All versions, machines and commands that made the runs."""

        def distinct(key: str) -> str:
            return ", ".join(sorted({str(run.provenance.get(key) or "unknown") for run in self.runs}))

        return {"versions": distinct("version"), "machines": distinct("machine"), "commands": distinct("command")}

    def runs_of(self, problem: str, method: str) -> list[FinishedRun]:
        return [run for run in self.runs if run.problem == problem and run.method == method]


def read_results(folder: Path) -> StudyResults:
    """Read an export.

    Raises:
        FileNotFoundError: There is none.
        ValueError: A file is damaged, or no run is finished.
    """
    exported = read_runs(folder)
    if not exported.rows:
        raise ValueError(f"{folder}: no run of this study is finished yet")
    try:
        spec = read_spec(locate(folder, SPEC).read_text(encoding="utf-8"), str(folder / SPEC))
    except UnicodeDecodeError as error:
        raise ValueError(f"{folder / SPEC} cannot be read: {error}") from error
    runs = tuple(
        _finished(run, exported.rows[run["id"]], exported.provenance[run["id"]])
        for run in exported.runs
        if run["id"] in exported.rows
    )
    if spec.variants and not any(spec.settings_of(name).get("partial") for name in spec.variants):
        # each variant counts as a problem, so that methods are compared under the same settings
        runs = tuple(replace(run, problem=f"{run.problem}-{run.variant}", variant="") for run in runs)
    return StudyResults(spec, len(exported.runs), runs)


def _finished(run: dict[str, Any], rows: Rows, provenance: dict[str, Any]) -> FinishedRun:
    variant, own_settings = split_variant(run["variant"])
    columns = {
        name: np.ma.filled(values, np.nan) if values.dtype.kind == "f" else values for name, values in rows.items()
    }
    return FinishedRun(
        id=run["id"],
        problem=run["problem"],
        method=f"{run['method']} {own_settings}".strip(),
        variant=variant,
        seed=run["seed"],
        summary={key: value for key, value in run.items() if key not in RUN_COLUMNS},
        columns={name: values for name, values in columns.items() if not np.ma.is_masked(values)},
        provenance=provenance,
    )
