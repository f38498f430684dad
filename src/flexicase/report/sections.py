"""The parts of a page: charts as data, tables, and the words around them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase.experiments.results import FinishedRun, StudyResults
from flexicase.plot._style import style
from flexicase.report import paper
from flexicase.report.curves import Curve, mean_curve

Line: TypeAlias = dict[str, Any]
LONGEST_NAME = 100


@dataclass(frozen=True)
class Chart:
    """A chart as data, which the page and `flexicase.report.figures` draw.

    Attributes:
        id: Its id on the page.
        place: What charts of its kind are called.
        problem: The problem that it is of.
        title: What it shows.
        x: Label of the horizontal axis.
        y: Label of the vertical axis.
        views: What can be chosen between; each has a label and lines.
        log: Whether a logarithmic scale is offered.
        log_x: Whether the horizontal axis is logarithmic.
        steps: Whether values hold until the next one.
    """

    id: str
    place: str
    problem: str
    title: str
    x: str
    y: str
    views: dict[str, dict[str, Any]]
    log: bool = True
    log_x: bool = False
    steps: bool = False


@dataclass(frozen=True)
class Table:
    """A table of the page; rows with the same first cell belong together.

    Attributes:
        header: Names of the columns.
        rows: Their cells.
        names: How many columns come first that hold names, not numbers.
    """

    header: list[str]
    rows: list[list[str]]
    names: int = 2

    def groups(self) -> list[list[list[str]]]:
        """The rows, by their first cell."""
        return [list(rows) for _, rows in groupby(self.rows, key=lambda row: row[0])]


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, a paragraph, charts, perhaps a table.

    Attributes:
        id: Its id on the page.
        title: The heading.
        text: The paragraph.
        charts: The charts.
        table: The table.
        scales: Scales with which its charts are drawn as pictures too, ``"linear"`` or ``"log"``.
    """

    id: str
    title: str
    text: str
    charts: list[Chart] = field(default_factory=list)
    table: Table | None = None
    scales: tuple[str, ...] = ()


class View(NamedTuple):
    """What a chart shows.

    Attributes:
        label: Its name in the list of views.
        lines: The lines for a problem.
    """

    label: str
    lines: Callable[[str], list[Line]]


def charts_of(
    results: StudyResults,
    place: str,
    title: str,
    y: str,
    views: dict[str, View] | Callable[[str], list[Line]],
    *,
    x: str = "generation",
    **options: bool,
) -> list[Chart]:
    """A chart for each problem of a study that has anything to show.

    Args:
        results: The study.
        place: Start of the charts' ids.
        title: What they show.
        y: Label of the vertical axis.
        views: What can be chosen between; or the lines for a problem, if nothing can.
        x: Label of the horizontal axis.
        **options: ``log``, ``log_x`` and ``steps`` of the charts.
    """
    chosen = {"all": View("all", views)} if callable(views) else views
    charts = []
    for problem in results.problems:
        drawn = {key: {"label": view.label, "lines": view.lines(problem)} for key, view in chosen.items()}
        full = _without_empty(drawn)
        if full:
            charts.append(
                Chart(f"{place}-{problem}", place, problem, f"{paper.title(problem)}: {title}.", x, y, full, **options)
            )
    return charts


def _without_empty(views: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The views without lines that have no point in any of them, and without those that then have none."""
    filled = {line["name"] for view in views.values() for line in view["lines"] if line["x"]}
    return {
        key: {**view, "lines": [line for line in view["lines"] if line["name"] in filled]}
        for key, view in views.items()
        if any(line["x"] for line in view["lines"])
    }


def table_of(
    results: StudyResults,
    header: Sequence[str],
    cells: Callable[[str, str, list[FinishedRun]], list[str]],
    what: str = "problem",
) -> Table:
    """A table with a row for each problem and method.

    Args:
        results: The study.
        header: Names of the further columns.
        cells: What stands in them, from the problem, the method and its runs.
        what: What a problem is called.
    """
    rows = [
        [paper.title(problem), paper.title(method), *cells(problem, method, runs)]
        for problem, method, runs in each(results)
    ]
    return Table([what, "method", *header], rows)


def each(results: StudyResults) -> list[tuple[str, str, list[FinishedRun]]]:
    """All problems and methods of a study, the paper's order first, with their runs."""
    return [
        (problem, method, results.runs_of(problem, method))
        for problem in results.problems
        for method in paper.paper_order(results.methods(problem))
    ]


def lines_of(results: StudyResults, problem: str, values: Callable[[list[FinishedRun]], Line]) -> list[Line]:
    """A line for each method.

    Args:
        results: The study.
        problem: The problem.
        values: The points of a line, from a method's runs.
    """
    lines = []
    for place, method in enumerate(paper.paper_order(results.methods(problem))):
        drawn = style(method, place)._asdict()
        points = values(results.runs_of(problem, method))
        lines.append({"name": method, "title": paper.title(method), **drawn, **points})
    return lines


def curve_lines(
    results: StudyResults,
    problem: str,
    column: str,
    curve_of: Callable[[list[FinishedRun], str], Curve] = mean_curve,
    scale: float = 1.0,
) -> list[Line]:
    """A line for each method: a column's curve over the generations.

    Args:
        results: The study.
        problem: The problem.
        column: The column.
        curve_of: What makes a curve of a method's runs.
        scale: What the values are multiplied by.
    """

    def values(runs: list[FinishedRun]) -> Line:
        curve = curve_of(runs, column)
        drawn = {"y": curve.mean, "low": curve.low, "high": curve.high}
        rounded = {key: [float(f"{scale * value:.6g}") for value in points] for key, points in drawn.items()}
        return {"x": curve.generation.tolist(), **rounded, "active": curve.active.tolist()}

    return lines_of(results, problem, values)


def unique_name(text: str, taken: set[str]) -> str:
    """A name for a file or an element of the page: lower-case letters, digits and hyphens, and none that is taken.

    Names of problems come from data: as they are, they could be paths.

    Args:
        text: What the name should say.
        taken: Names in use; the new one is added.

    >>> taken = set()
    >>> unique_name("time-mirror-image", taken), unique_name("../Ä/x", taken), unique_name("x", taken)
    ('time-mirror-image', 'x', 'x-2')
    """
    stem = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST_NAME] or "unnamed"
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def quartiles(values: NDArray[np.float64]) -> str:
    """A median with its quartiles, as tables print it.

    Args:
        values: (runs,) numbers.

    >>> import numpy as np
    >>> quartiles(np.array([1e6, 2e6, 3e6])), quartiles(np.array([]))
    ('2 M [1.5 M–2.5 M]', '–')
    """
    if not values.size:
        return "–"
    low, middle, high = map(format_si, np.quantile(values, (0.25, 0.5, 0.75)).tolist())
    return f"{middle} [{low}–{high}]"


def format_si(value: float) -> str:
    """A number with three digits, as tables print it.

    >>> format_si(0.01234), format_si(52_345), format_si(3_069_123_456), format_si(float("nan"))
    ('0.0123', '52.3 k', '3,069 M', '–')
    """
    if math.isnan(value):
        return "–"
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}" if value < 1000 * size else f"{value / size:,.0f}{unit}"
    return f"{value:.3g}"
