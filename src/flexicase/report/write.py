"""Everything a report consists of, written to one folder."""

from __future__ import annotations

import csv
import errno
import io
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import require
from flexicase._files import write_atomically
from flexicase.report import paper
from flexicase.report.curves import mean_curve
from flexicase.report.figures import COUNTS
from flexicase.report.layouts import layout_of
from flexicase.report.results import Results, read_results
from flexicase.report.successes import success_table
from flexicase.report.webpage import render

PACKAGES = ("jinja2", "matplotlib", "pyarrow", "pydantic", "scipy")
PAGE = "report.html"
#: Subfolder of a report's folder, for files that are not complete yet.
PARTIAL = ".flexicase-report.partial"


@dataclass(frozen=True)
class Report:
    """What was written.

    Attributes:
        page: The page.
        files: Tables and pictures beside it.
    """

    page: Path
    files: list[Path]


def write_report(export: Path, folder: Path) -> Report:
    """Write the page of a study, and its tables and figures as files.

    Files of an earlier report in the folder are replaced when all new ones are complete.

    Args:
        export: What ``flexicase export`` wrote.
        folder: Where the report goes; made if need be.

    Raises:
        FileNotFoundError: There is no such export.
        ValueError: It is damaged, or holds no finished run; or the folder has a file that would be replaced, and no
            report.
        OSError: The folder cannot be written to.
    """
    require("reports need", *PACKAGES)
    partial = folder / PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        results = read_results(export)
        with np.errstate(all="ignore"):  # infinite values are gaps in charts
            files = [*write_tables(results, partial), *layout_of(results).draw(results, partial)]
            write_atomically(partial / PAGE, render(results).encode())
        names = [path.name for path in files]
        _refuse_foreign(folder, names)
        for name in (*names, PAGE):
            os.replace(partial / name, folder / name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Report(folder / PAGE, [folder / name for name in names])


def check_folder(folder: Path) -> None:
    """Check that a report can be written to a folder, before the work that it takes; writes nothing.

    Raises:
        ImportError: A package that reports need is missing.
        OSError: The folder cannot be made or written to.
    """
    require("reports need", *PACKAGES)
    existing = next(path for path in (folder, *folder.absolute().parents) if os.path.lexists(path))
    if not existing.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(existing))
    if not os.access(existing, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(existing))


def _refuse_foreign(folder: Path, names: list[str]) -> None:
    """Raise ValueError if a folder without a report has files of the names of its tables and figures."""
    found = [] if (folder / PAGE).exists() else [name for name in names if os.path.lexists(folder / name)]
    if found:
        raise ValueError(f"{folder / found[0]} is no part of a report and would be replaced: choose another folder")


def write_tables(results: Results, folder: Path) -> list[Path]:
    """Write the tables of a study as CSV: those of the page, and the numbers behind its table and figures of programs.

    Args:
        results: The study.
        folder: Where they go; made if need be.

    Returns:
        The files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    layout = layout_of(results)
    tables = {part.id: [part.table.header, *part.table.rows] for part in layout.sections(results) if part.table}
    if layout.success:
        tables["successes"] = _success_lines(results)
        tables["runs"] = _run_lines(results)
        tables["evaluations"] = _evaluation_lines(results)
    return [_write_csv(folder / f"{name}.csv", lines) for name, lines in tables.items() if len(lines) > 1]


def _write_csv(path: Path, lines: list[list[Any]]) -> Path:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    write_atomically(path, text.getvalue().encode())
    return path


def _success_lines(results: Results) -> list[list[Any]]:
    header = ["problem", "method", "successes", "runs", "low", "high", "p", "p_holm", "paper_successes", "paper_runs"]
    lines: list[list[Any]] = [header]
    for c in success_table(results):
        published = [c.published, paper.RUNS] if c.published is not None else [None, None]
        lines.append([c.problem, c.method, c.successes, c.runs, *c.interval, c.p_value, c.adjusted, *published])
    return lines


def _evaluation_lines(results: Results) -> list[list[Any]]:
    lines: list[list[Any]] = [["problem", "method", "count", "generation", "mean", "low", "high", "active"]]
    for problem in results.problems:
        for method in paper.in_order(results.methods(problem)):
            for count in COUNTS:
                curve = mean_curve(results.of(problem, method), count)
                columns = (curve.generation, curve.mean, curve.low, curve.high, curve.active)
                points = zip(*(column.tolist() for column in columns), strict=True)
                lines += [[problem, method, count, *point] for point in points]
    return lines


def _run_lines(results: Results) -> list[list[Any]]:
    summed = [name for name in (*COUNTS, "seconds_select") if any(name in run.columns for run in results.runs)]
    lines: list[list[Any]] = [["id", "problem", "method", "seed", "success", "generations", *summed]]
    for run in results.runs:
        sums = (_exact_sum(run.columns[name]) if name in run.columns else None for name in summed)
        lines.append([run.id, run.problem, run.method, run.seed, run.success, run.generations, *sums])
    return lines


def _exact_sum(values: NDArray[Any]) -> Any:
    """The sum, of whole numbers without overflow."""
    return values.sum().item() if values.dtype.kind == "f" else values.sum(dtype=object)
