"""The runs of an exported study: a line for each, and the rows of those that are finished."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.tables import read_tables, types_of

SPEC = "study.toml"
#: Columns with their types; all others hold what is known of a whole run.
IDENTITY = dict.fromkeys(("id", "problem", "method", "variant", "seed", "state", "digest"), "string") | {
    "seed": "int64"
}
MADE_BY = ("version", "machine", "command")
CIRCUMSTANCES = {
    "id": "string",
    "attempts": "int64",
    **dict.fromkeys(("started", "finished", "seconds"), "float64"),
    **dict.fromkeys(MADE_BY, "string"),
}
#: Columns of the above that may be empty.
OPTIONAL = ("digest", "started", "finished", *MADE_BY)
TIMING = "seconds"
#: What stands in the rows of programs for a whole number that the method does not count.
NOT_COUNTED = -1


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a TOML text.

    Raises:
        ValueError: It is not valid TOML, or nested too deeply.

    Example:
        >>> from flexicase.exported import parse_toml
        >>> parse_toml('name = "tiny"')
        {'name': 'tiny'}
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def is_timing(column: str) -> bool:
    """Whether a column holds times, which differ from run to run; all others must not.

    Example:
        >>> from flexicase.exported import is_timing
        >>> is_timing("seconds_selection"), is_timing("evaluations")
        (True, False)
    """
    return column.startswith(TIMING)


@dataclass(frozen=True)
class ExportedRuns:
    """What an export has on the runs of a study.

    Attributes:
        lines: One for each run of the plan: `IDENTITY`, and what is known of the whole run.
        circumstances: By id, for each finished run: when and by what it was made.
        rows: By id, for each finished run: its columns, each (n_steps,), times included.
    """

    lines: list[dict[str, Any]]
    circumstances: dict[str, dict[str, Any]]
    rows: dict[str, dict[str, NDArray[Any]]]


def read_runs(folder: Path) -> ExportedRuns:
    """Read what ``flexicase export`` wrote.

    Args:
        folder: The export.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A file is damaged, or the files do not belong together; the message names it.

    Example:
        >>> from pathlib import Path
        >>> from flexicase.exported import read_runs
        >>> read_runs(Path("no-such-folder"))
        Traceback (most recent call last):
        ...
        FileNotFoundError: [Errno 2] No such file or directory: 'no-such-folder/manifest.json'
    """
    tables = read_tables(folder, "runs", "provenance")
    lines = _lines(folder, tables, "runs", IDENTITY)
    circumstances = {line["id"]: line for line in _lines(folder, tables, "provenance", CIRCUMSTANCES)}
    rows = _cut(folder, tables.get("rows"), tables.get("timings"))
    unknown = set(rows) - ({line["id"] for line in lines if line["state"] == "done"} & set(circumstances))
    if unknown:
        raise ValueError(f"{folder}: run {min(unknown)!r} has rows but no finished run in runs and provenance")
    return ExportedRuns(lines, circumstances, rows)


def _lines(folder: Path, tables: dict[str, Any], name: str, columns: dict[str, str]) -> list[dict[str, Any]]:
    """The lines of a table with ids, one for each run."""
    table, types = tables[name], types_of(tables[name])
    for column, kind in columns.items():
        if column not in types:
            raise ValueError(f"{folder}: table {name!r} has no column {column!r}")
        if types[column] != kind:
            raise ValueError(f"{folder}: table {name!r}: column {column!r} must be {kind}, got {types[column]}")
        if table[column].null_count and column not in OPTIONAL:
            raise ValueError(f"{folder}: table {name!r}: column {column!r} must have a value in every line")
    lines: list[dict[str, Any]] = table.to_pylist()
    for run_id, times in Counter(line["id"] for line in lines).items():
        if times > 1:
            raise ValueError(f"{folder}: table {name!r}: duplicate id {run_id!r}")
    return lines


def _cut(folder: Path, rows: Any, timings: Any) -> dict[str, dict[str, NDArray[Any]]]:
    """The columns of two tables that belong side by side, cut where the id changes; nothing if there are none."""
    if rows is None and timings is None:
        return {}
    found, others = (
        table["id"].to_pylist() if table is not None and types_of(table).get("id") == "string" else None
        for table in (rows, timings)
    )
    if found is None or found != others or None in found:
        raise ValueError(f"{folder}: rows and timings do not belong together: their ids differ")
    columns = {name: table[name] for table in (rows, timings) for name in table.column_names if name != "id"}
    for name, column in columns.items():
        if column.null_count or str(column.type) == "string":
            raise ValueError(f"{folder}: column {name!r} of rows or timings must hold a number in every line")
    if not columns:
        raise ValueError(f"{folder}: rows and timings have no columns besides the id")
    arrays = {name: column.to_numpy() for name, column in columns.items()}
    starts = [place for place, run_id in enumerate(found) if place == 0 or run_id != found[place - 1]]
    cut: dict[str, dict[str, NDArray[Any]]] = {}
    for start, stop in pairwise([*starts, len(found)]):
        if found[start] in cut:
            raise ValueError(f"{folder}: the rows of run {found[start]!r} must lie together")
        cut[found[start]] = {name: np.ascontiguousarray(values[start:stop]) for name, values in arrays.items()}
    return cut
