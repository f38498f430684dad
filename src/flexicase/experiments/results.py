"""Reading an exported study: its runs, and the rows of the finished ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase._provenance import Provenance
from flexicase.experiments._tables import Rows, check_rows, locate, n_rows, read_tables, to_rows, types_of
from flexicase.experiments.jobs import RESERVED_KEYS
from flexicase.experiments.ledger import TIME_FIELDS
from flexicase.experiments.spec import StudySpec, read_spec, split_variant

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
