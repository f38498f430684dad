"""The runs of an exported study: a line for each, and the rows of those that are finished."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments._tables import locate, read_tables, types_of

SPEC = "study.toml"
#: Columns with their types; all others hold what is known of a whole run.
RUN_COLUMNS = dict.fromkeys(("id", "problem", "method", "variant", "seed", "state", "digest"), "string") | {
    "seed": "int64"
}
MADE_BY = ("version", "machine", "command")
PROVENANCE_COLUMNS = {
    "id": "string",
    "attempts": "int64",
    **dict.fromkeys(("started", "finished", "seconds"), "float64"),
    **dict.fromkeys(MADE_BY, "string"),
}
#: Columns of the above that may be empty.
OPTIONAL = ("digest", "started", "finished", *MADE_BY)
#: What stands in the rows of programs for a whole number that the method does not count.
NOT_COUNTED = -1


def parse_toml(text: str) -> dict[str, Any]:
    """The content of a TOML text.

    Raises:
        ValueError: It is not valid TOML, or nested too deeply.

    Example:
        >>> from flexicase.experiments.results import parse_toml
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


@dataclass(frozen=True)
class ExportedRuns:
    """What an export has on the runs of a study.

    Attributes:
        lines: One for each run of the plan: `RUN_COLUMNS`, and what is known of the whole run.
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
        >>> from flexicase.experiments.results import read_runs
        >>> read_runs(Path("no-such-folder"))
        Traceback (most recent call last):
        ...
        FileNotFoundError: [Errno 2] No such file or directory: 'no-such-folder/manifest.json'
    """
    tables = read_tables(folder, "runs", "provenance")
    lines = _lines(folder, tables, "runs", RUN_COLUMNS)
    circumstances = {line["id"]: line for line in _lines(folder, tables, "provenance", PROVENANCE_COLUMNS)}
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


@dataclass(frozen=True)
class FinishedRun:
    """A finished run.

    Attributes:
        id: Its id.
        problem: The problem.
        method: The selection method.
        variant: Which variant of the study it belongs to; empty if there is one only.
        seed: Its seed.
        facts: What is known of the whole run, such as ``success``.
        columns: Its rows: one (generations,) array for each column, times included; without what it did not count.
        made_by: Version, machine and command that made it.
    """

    id: str
    problem: str
    method: str
    variant: str
    seed: int
    facts: dict[str, Any]
    columns: dict[str, NDArray[Any]]
    made_by: dict[str, Any]

    @property
    def success(self) -> bool:
        """Whether the run reached its goal."""
        return bool(self.facts["success"])

    @property
    def generations(self) -> int:
        """Its rows: generations that were evaluated."""
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class StudyResults:
    """The finished runs of a study.

    Attributes:
        name: The study's name.
        spec: Its TOML text.
        settings: The settings that it gives.
        planned: How many runs it has, finished or not.
        runs: The finished ones, in the order of the plan.
    """

    name: str
    spec: str
    settings: dict[str, Any]
    planned: int
    runs: tuple[FinishedRun, ...]

    @property
    def kind(self) -> str:
        """What its runs are: ``"gp"``, ``"image"``, or the place of a class of one's own."""
        return str(parse_toml(self.spec).get("kind", "gp"))

    @property
    def problems(self) -> tuple[str, ...]:
        """The problems, in the order of the plan."""
        return tuple(dict.fromkeys(run.problem for run in self.runs))

    @property
    def variants(self) -> tuple[str, ...]:
        """The variants, in the order of the plan."""
        return tuple(dict.fromkeys(run.variant for run in self.runs))

    def settings_of(self, variant: str) -> dict[str, Any]:
        """The settings of a variant's runs, as far as the study gives them."""
        return {**self.settings, **parse_toml(self.spec).get("variants", {}).get(variant, {})}

    def methods(self, problem: str) -> tuple[str, ...]:
        """The methods used on a problem, in the order of the plan."""
        return tuple(dict.fromkeys(run.method for run in self.runs if run.problem == problem))

    def origin(self) -> dict[str, str]:
        """What made the runs: all versions, machines and commands."""

        def distinct(key: str) -> str:
            return ", ".join(sorted({str(run.made_by.get(key) or "unknown") for run in self.runs}))

        return {"versions": distinct("version"), "machines": distinct("machine"), "commands": distinct("command")}

    def of(self, problem: str, method: str) -> list[FinishedRun]:
        """The runs of a method on a problem."""
        return [run for run in self.runs if run.problem == problem and run.method == method]


def read_results(folder: Path) -> StudyResults:
    """Read what ``flexicase export`` wrote.

    Args:
        folder: The export.

    Raises:
        FileNotFoundError: There is none.
        ValueError: A file is damaged, or it holds no finished run.
    """
    exported = read_runs(folder)
    if not exported.rows:
        raise ValueError(f"{folder}: no run of this study is finished yet")
    try:
        spec = locate(folder, SPEC).read_text(encoding="utf-8")
        content = parse_toml(spec)
    except ValueError as error:
        raise ValueError(f"{folder / SPEC} cannot be read: {error}") from error
    name, settings, variants = (
        content.get("name", folder.name),
        content.get("settings", {}),
        content.get("variants", {}),
    )
    if not isinstance(name, str):
        raise ValueError(f"{folder / SPEC}: name must be a string, got {name!r:.80}")
    for key, value in (("settings", settings), ("variants", variants), *_items(variants)):
        if not isinstance(value, dict):
            raise ValueError(f"{folder / SPEC}: {key} must be a table, got {value!r:.80}")
    runs = tuple(
        _run(line, exported.rows[line["id"]], exported.circumstances[line["id"]])
        for line in exported.lines
        if line["id"] in exported.rows
    )
    results = StudyResults(name, spec, settings, len(exported.lines), runs)
    return _variants_apart(_only_counted(results) if results.kind == "gp" else results)


def _items(variants: Any) -> list[tuple[str, Any]]:
    items = variants.items() if isinstance(variants, dict) else ()
    return [(f"variants.{name}", value) for name, value in items]


def _only_counted(results: StudyResults) -> StudyResults:
    """The study, each run without the columns of what its method does not count."""

    def counted(values: NDArray[Any]) -> bool:
        return values.dtype.kind != "i" or not bool((values == NOT_COUNTED).any())

    runs = (
        replace(run, columns={name: values for name, values in run.columns.items() if counted(values)})
        for run in results.runs
    )
    return replace(results, runs=tuple(runs))


def _variants_apart(results: StudyResults) -> StudyResults:
    """Methods are compared under the same settings: each variant is a problem of its own.

    Only where variants evaluate partially they are what is compared.
    """
    variants = parse_toml(results.spec).get("variants", {})
    if not variants or any(results.settings_of(name).get("partial") for name in variants):
        return results
    runs = (replace(run, problem=f"{run.problem}-{run.variant}", variant="") for run in results.runs)
    return replace(results, runs=tuple(runs))


def _run(line: dict[str, Any], columns: dict[str, NDArray[Any]], made_by: dict[str, Any]) -> FinishedRun:
    keys = ("id", "problem", "method", "variant", "seed")
    facts = {key: value for key, value in line.items() if key not in RUN_COLUMNS}
    identity: dict[str, Any] = {key: line[key] for key in keys}
    return FinishedRun(**identity, facts=facts, columns=columns, made_by=made_by)
