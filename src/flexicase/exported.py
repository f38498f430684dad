"""The runs of an exported study: a line for each, and the rows of those that are finished."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.tables import read_tables

SPEC = "study.toml"
IDENTITY = ("id", "problem", "method", "variant", "seed", "state", "digest")
MADE_BY = ("version", "machine", "command")
CIRCUMSTANCES = ("id", "attempts", "started", "finished", "seconds", *MADE_BY)
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
    rows = dict(_cut(folder, tables.get("rows"), tables.get("timings")))
    strangers = set(rows) - ({line["id"] for line in lines} & set(circumstances))
    if strangers:
        raise ValueError(f"{folder}: run {min(strangers)} has rows, but runs or provenance do not know it")
    return ExportedRuns(lines, circumstances, rows)


def _lines(folder: Path, tables: dict[str, Any], name: str, columns: tuple[str, ...]) -> list[dict[str, Any]]:
    missing = [column for column in columns if column not in tables[name].column_names]
    if missing:
        raise ValueError(f"{folder}: table {name!r} has no column {missing[0]!r}")
    lines: list[dict[str, Any]] = tables[name].to_pylist()
    return lines


def _cut(folder: Path, rows: Any, timings: Any) -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
    """The columns of two tables that belong side by side, cut where the id changes; nothing if there are none."""
    if rows is None and timings is None:
        return
    found, others = (
        table["id"].to_pylist() if table is not None and "id" in table.column_names else None
        for table in (rows, timings)
    )
    if found is None or found != others:
        raise ValueError(f"{folder}: rows and timings do not belong together: their ids differ")
    ids = np.asarray(found, dtype=str)
    columns = {name: table[name].to_numpy() for table in (rows, timings) for name in table.column_names if name != "id"}
    starts = [0, *(np.flatnonzero(ids[1:] != ids[:-1]) + 1).tolist(), len(ids)]
    for start, stop in pairwise(starts):
        yield str(ids[start]), {name: np.ascontiguousarray(values[start:stop]) for name, values in columns.items()}
